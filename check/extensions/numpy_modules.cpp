#include "check/extensions/numpy_modules.hpp"

#include "base/dotted_version.hpp"
#include "base/fd.hpp"
#include "base/whole_io.hpp"
#include "check/rules/foreign_modules.hpp"
#include "host/file_system.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

namespace cudaenv::extensions {

namespace {

using facts::Distribution;
using facts::NumpyModule;

constexpr std::size_t k_most_bytes = std::size_t{32} << 20U; // of one module
constexpr std::size_t k_most_read = 64;                      // of one distribution
constexpr std::size_t k_most_reported = 4;

const Distribution* numpy_of(const facts::Inventory& inventory) {
    const Distribution* found = nullptr;
    for (const auto& one : inventory.distributions) {
        if (one.name == "numpy" && one.has_metadata) {
            if (found != nullptr && found->version != one.version) {
                return nullptr; // CE105
            }
            found = &one;
        }
    }
    return found;
}

bool requires_numpy(const Distribution& distribution) {
    return std::ranges::any_of(distribution.requires_dist, [](const std::string& text) {
        const auto requirement = specs::Requirement::parse(text);
        return requirement && requirement->normalized_name() == "numpy";
    });
}

std::string content_of(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<std::size_t>(status.st_size) > k_most_bytes) {
        return {};
    }
    return read_rest(file.get(), k_most_bytes).value_or(std::string());
}

// Its modules, those of Python's own name first: a bundled library seldom calls NumPy.
std::vector<std::string> modules_of(const Distribution& distribution) {
    std::vector<std::string> paths;
    for (const auto& file : distribution.files) {
        const auto path = distribution.files.path(file);
        if (path.ends_with(".so") && path.find(".libs/") == std::string_view::npos) {
            paths.emplace_back(path);
        }
    }
    std::ranges::sort(paths);
    std::ranges::stable_partition(paths, [](const std::string& path) {
        return !rules::python_tag_of(host::base_name(path)).empty();
    });
    return paths;
}

} // namespace

NumpyModule numpy_of_module(std::string_view bytes) {
    NumpyModule module;
    // numpy/__multiarray_api.h of 2.0 and newer: "... C-API version 0x%x (NumPy 1.20) but ...".
    constexpr std::string_view k_new = "NumPy C-API version 0x%x (NumPy ";
    if (const auto at = bytes.find(k_new); at != std::string_view::npos) {
        const auto rest = bytes.substr(at + k_new.size(), 16);
        module.least = rest.substr(0, rest.find_first_not_of("0123456789."));
        return module;
    }
    // Of 1.x; _import_array() refuses a NumPy of another ABI (0x1000009, 0x2000000).
    module.is_for_numpy_1 =
        bytes.find("module compiled against ABI version 0x%x") != std::string_view::npos;
    return module;
}

std::vector<NumpyModule> read_numpy_modules(const facts::Inventory& inventory,
                                            const GoesOn& wanted) {
    std::vector<NumpyModule> found;
    const auto* numpy = numpy_of(inventory);
    if (numpy == nullptr) {
        return found;
    }
    const auto here = DottedVersion::parse(
        numpy->version.substr(0, numpy->version.find_first_not_of("0123456789.")));
    if (!here) {
        return found;
    }
    for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
        const auto& one = inventory.distributions[i];
        if (one.name == "torch" || one.name == "numpy" || !requires_numpy(one)) {
            continue;
        }
        std::size_t reported = 0;
        std::size_t read = 0;
        for (const auto& path : modules_of(one)) {
            if (!goes_on(wanted) || ++read > k_most_read || reported == k_most_reported) {
                break;
            }
            auto module = numpy_of_module(
                content_of(path.starts_with('/') ? path : inventory.prefix + '/' + path));
            const auto least = DottedVersion::parse(module.least);
            if (!module.is_for_numpy_1 && !least) {
                continue;
            }
            if (least ? *here >= *least : here->major() < 2) {
                break; // and so are the others of one build
            }
            module.distribution = i;
            module.path = path;
            found.push_back(std::move(module));
            ++reported;
        }
    }
    return found;
}

} // namespace cudaenv::extensions
