#include "check/rules/cuda_libraries.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace cudaenv::rules {

namespace {

struct LibraryRow {
    std::string_view stem;      // of its files
    std::string_view component; // in the table of PyPI's distributions
    // conda's packages that are the library where their records name no file of it.
    std::array<std::string_view, 2> conda_names;
};
constexpr auto k_libraries = std::to_array<LibraryRow>({
    // in the order of CudaLibrary
    {"libcudart", "cuda-runtime", {"cudatoolkit", "cuda-cudart"}},
    {"libcudnn", "cudnn", {"cudnn", "libcudnn"}},
    {"libnccl", "nccl", {"nccl", "nccl"}}, // it has one name there
});

const LibraryRow& row_of(CudaLibrary library) {
    return k_libraries.at(static_cast<std::size_t>(library));
}

// The versions of libcudart.so.11.0 and libcudart.so.11.8.89, of libcudnn_cnn.so.9; none for the
// plain .so, for libcudart_static.a and for libcudart-d0da41ae.so.11.0.
bool parse_name(std::string_view name, CudaLibrary library, ClaimedLibrary& into) {
    const auto at = name.find(".so.");
    if (at == std::string_view::npos || !name.starts_with(row_of(library).stem)) {
        return false;
    }
    const auto stem = name.substr(0, at);
    const auto rest = stem.substr(row_of(library).stem.size());
    if (!rest.empty() && !(library == CudaLibrary::Cudnn && rest.front() == '_' &&
                           rest.find_first_of("-.") == std::string_view::npos)) {
        return false;
    }
    const auto version = DottedVersion::parse(name.substr(at + 4));
    if (!version) {
        return false;
    }
    into.stem = stem;
    into.version = version->str();
    into.major = version->major();
    return true;
}

const knowledge::PipDistribution* wheel_of(std::string_view name) {
    return find_pointer(knowledge::pip_distributions(), name, &knowledge::PipDistribution::name);
}

// Of the library itself, not of the CUDA it is for: cuDNN 9 of nvidia-cudnn-cu12 9.10.2.21.
unsigned major_of(std::string_view version) {
    const auto digits =
        version.substr(0, std::min(version.find_first_not_of("0123456789"), version.size()));
    const auto parsed = DottedVersion::parse(digits);
    return parsed ? parsed->major() : 0;
}

struct Copies {
    const CheckContext& context;
    CudaLibrary library;
    std::vector<LibraryCopy> copies{};

    std::vector<LibraryCopy> collect() {
        for (const auto& file : claimed_libraries(context, library)) {
            add(file);
        }
        add_by_name();
        for (auto& copy : copies) {
            std::ranges::sort(copy.files);
        }
        std::ranges::sort(copies, {}, [](const LibraryCopy& copy) {
            return std::tie(copy.from, copy.name, copy.major);
        });
        return std::move(copies);
    }

    void add(const ClaimedLibrary& file) {
        LibraryCopy copy;
        copy.major = file.major;
        if (file.claim.by == facts::Claim::By::Conda) {
            const auto& package = context.inventory.conda[file.claim.package];
            if (file.path.find("site-packages/") != std::string::npos) {
                return; // in a Python package of its own
            }
            copy.from = CopyFrom::Conda;
            copy.name = package.name;
            copy.version = package.version;
            copy.record = package.record;
        } else {
            // Reported from conda's own record.
            if (context.ownership.of(file.claim.package).owner == Owner::Conda) {
                return;
            }
            const auto& distribution = context.inventory.distributions[file.claim.package];
            const bool is_wheel = wheel_of(distribution.name) != nullptr;
            if (!is_wheel && distribution.name != "torch") {
                return; // private to that package: nothing else loads it from there
            }
            copy.from = is_wheel ? CopyFrom::Pip : CopyFrom::Bundled;
            copy.name = distribution.name;
            copy.version = is_wheel ? distribution.version : "";
            copy.record = distribution.metadata;
            copy.distribution = file.claim.package;
        }
        merge(std::move(copy), file.path);
    }

    void merge(LibraryCopy copy, const std::string& path) {
        for (auto& known : copies) {
            // One manager's split packages: cuda-cudart and cuda-cudart_linux-64, libcudnn and
            // libcudnn-jit.
            const bool same = known.from == copy.from && known.major == copy.major &&
                              (known.name == copy.name ||
                               (copy.from == CopyFrom::Conda && known.version == copy.version));
            if (same) {
                if (copy.name.size() < known.name.size()) {
                    known.name = copy.name;
                    known.record = copy.record;
                }
                known.files.push_back(path);
                return;
            }
        }
        copy.files.push_back(path);
        copies.push_back(std::move(copy));
    }

    // A record that claims no file of it, as one that cannot be read.
    void add_by_name() {
        const auto has = [&](CopyFrom from) {
            return std::ranges::any_of(copies,
                                       [&](const LibraryCopy& copy) { return copy.from == from; });
        };
        const bool conda_has_files = has(CopyFrom::Conda);
        for (const auto& package : context.inventory.conda) {
            if (!conda_has_files && is_one_of(package.name, row_of(library).conda_names) &&
                !has(CopyFrom::Conda)) {
                copies.push_back({CopyFrom::Conda,
                                  package.name,
                                  package.version,
                                  package.record,
                                  major_of(package.version),
                                  {},
                                  {}});
            }
        }
        const auto& distributions = context.inventory.distributions;
        for (std::uint32_t i = 0; i < distributions.size(); ++i) {
            const auto& distribution = distributions[i];
            const auto* row = wheel_of(distribution.name);
            if (row == nullptr || row->component != row_of(library).component ||
                !distribution.has_metadata || !distribution.files.empty() ||
                context.ownership.of(i).owner == Owner::Conda) {
                continue;
            }
            copies.push_back({CopyFrom::Pip,
                              distribution.name,
                              distribution.version,
                              distribution.metadata,
                              major_of(distribution.version),
                              {},
                              i});
        }
    }
};

} // namespace

std::string packaged_release(std::string_view version) {
    const auto pieces = split(version, '.');
    std::string release;
    for (std::size_t i = 0; i < pieces.size() && i < 3; ++i) {
        release += (i == 0 ? "" : ".") + std::string(pieces[i]);
    }
    return release;
}

std::vector<ClaimedLibrary> claimed_libraries(const CheckContext& context, CudaLibrary library) {
    std::vector<ClaimedLibrary> found;
    const auto look = [&](const auto& packages, facts::Claim::By by) {
        for (std::uint32_t package = 0; package < packages.size(); ++package) {
            const auto& files = packages[package].files;
            for (std::uint32_t file = 0; file < files.size(); ++file) {
                const auto path = files.path(file);
                const auto slash = path.rfind('/');
                const auto name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
                ClaimedLibrary claimed;
                if (!parse_name(name, library, claimed)) {
                    continue;
                }
                claimed.path = path;
                claimed.directory = path.substr(0, slash == std::string_view::npos ? 0 : slash);
                claimed.claim = {by, package, file};
                found.push_back(std::move(claimed));
            }
        }
    };
    look(context.inventory.conda, facts::Claim::By::Conda);
    look(context.inventory.distributions, facts::Claim::By::Distribution);
    return found;
}

std::vector<LibraryCopy> copies_of(const CheckContext& context, CudaLibrary library) {
    return Copies{context, library}.collect();
}

bool are_rival_copies(const CheckContext& context, std::uint32_t one, std::uint32_t other) {
    return std::ranges::any_of(
        std::to_array({CudaLibrary::Runtime, CudaLibrary::Cudnn, CudaLibrary::Nccl}),
        [&](CudaLibrary library) {
            const auto copies = copies_of(context, library);
            const auto has = [&](std::uint32_t distribution) {
                return std::ranges::any_of(copies, [&](const LibraryCopy& copy) {
                    return copy.from == CopyFrom::Pip && copy.distribution == distribution;
                });
            };
            return has(one) && has(other);
        });
}

} // namespace cudaenv::rules
