// Several copies of a CUDA library in one environment, and what each case comes to. What is loaded
// is decided by the soname: within a process the first libcudart.so.12 is everybody's.
//
//   two wheels that claim one path with other contents     warning  one has overwritten the other,
//     (-cu11 and -cu12 in nvidia/cuda_runtime; cuDNN and              and taking one away takes the
//     NCCL of two CUDAs in nvidia/cudnn, nvidia/nccl)                  other's files along
//   cuDNN of both managers, one soname, two versions       warning  its parts are opened by name at
//                                                                   run time: two copies mix
//   cuDNN or NCCL of both managers, one version            note
//   NCCL of both managers, two versions                    note     one of them is loaded, and they
//                                                                   keep to one interface
//   CUDA runtime of both managers, one major               note     but silent where conda's is
//                                                                   there for its nvcc
//   several majors that share no path                      note     each is loaded by its own name
//   one copy; one manager's split packages; a library      silent
//     in a wheel under a name of its own (a hash)
#include "base/text.hpp"
#include "solver/plan/check/cuda_libraries.hpp"
#include "solver/plan/check/cudnn_parts.hpp"
#include "solver/plan/check/evidence.hpp"
#include "solver/plan/check/finding_text.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/overwrites.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace cudaenv::plan {

namespace {

struct Subject {
    CudaLibrary library;
    const char* code;
    const char* names; // of several
};
constexpr std::array k_subjects = {
    Subject{CudaLibrary::Runtime, "CE130", "CUDA runtimes"},
    Subject{CudaLibrary::Cudnn, "CE131", "cuDNNs"},
    Subject{CudaLibrary::Nccl, "CE132", "NCCLs"},
};

// In the order of what is worse, as Severity has it.
struct Case {
    Severity severity = Severity::Note;
    std::string cause;
    std::vector<std::string> files; // concerned
    std::vector<Loss> losses{};     // where one is seen to have written over the other
};

bool has_conda_nvcc(const CheckScene& scene) {
    return std::ranges::any_of(scene.inventory.conda, [](const facts::CondaPackage& package) {
        return package.name.starts_with("cuda-nvcc") || package.name == "cuda-compiler" ||
               package.name == "cudatoolkit-dev" || package.name == "cuda-toolkit" ||
               package.name == "cuda";
    });
}

// "9.10.2" of 9.10.2.21: the build number behind it is of the packager.
std::string release_of(std::string_view version) {
    const auto pieces = split(version, '.');
    std::string release;
    for (std::size_t i = 0; i < pieces.size() && i < 3; ++i) {
        release += (i == 0 ? "" : ".") + std::string(pieces[i]);
    }
    return release;
}

// Paths that both claim and that the records have with other contents.
std::vector<std::string> contested(const CheckScene& scene, const LibraryCopy& left,
                                   const LibraryCopy& right) {
    std::vector<std::string> paths;
    const auto& files = scene.inventory.distributions[*left.distribution].files;
    for (const auto& ours : files) {
        if (ours.hash != facts::ClaimHash::Sha256) {
            continue;
        }
        for (const auto& claim : scene.claims.of(files.path(ours))) {
            if (claim.by != facts::Claim::By::Distribution ||
                claim.package != *right.distribution) {
                continue;
            }
            const auto& theirs = scene.claims.file(claim);
            if (theirs.hash == facts::ClaimHash::Sha256 && theirs.sha256 != ours.sha256) {
                paths.emplace_back(files.path(ours));
            }
        }
    }
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
}

// In either direction; of the same paths some may be left to the one and some to the other.
std::vector<Loss> losses_between(const CheckScene& scene, const LibraryCopy& left,
                                 const LibraryCopy& right) {
    auto losses = find_losses(scene);
    std::erase_if(losses, [&](const Loss& loss) {
        const std::set<std::uint32_t> both{loss.victim.package,
                                           loss.writer ? loss.writer->package : 0};
        return loss.kind != LossKind::WheelOverWheel ||
               both != std::set{*left.distribution, *right.distribution};
    });
    return losses;
}

// Nothing: these two are no case for anybody.
std::optional<Case> case_of(const CheckScene& scene, CudaLibrary library, const LibraryCopy& left,
                            const LibraryCopy& right) {
    const bool both_managers = (left.from == CopyFrom::Conda) != (right.from == CopyFrom::Conda);
    if (left.from == CopyFrom::Pip && right.from == CopyFrom::Pip) {
        auto losses = losses_between(scene, left, right);
        auto paths = contested(scene, left, right);
        if (paths.empty() && !losses.empty()) {
            paths = losses.front().replaced;
        }
        if (!paths.empty()) {
            return Case{
                Severity::Warning,
                fmt::format("{} and {} write {} of the same paths with other contents: the "
                            "one installed last has overwritten the other, and uninstalling "
                            "one takes the other's files along",
                            left.name, right.name, paths.size()),
                std::move(paths), std::move(losses)};
        }
    }
    if (left.major != right.major) {
        return Case{Severity::Note,
                    "each program loads the one that it was linked to; what compiles or searches "
                    "by path may meet the other",
                    {}};
    }
    if (!both_managers) {
        if (left.from == CopyFrom::Bundled || right.from == CopyFrom::Bundled) {
            return Case{
                Severity::Note, "in one process the copy that is loaded first is used by all", {}};
        }
        return std::nullopt; // one soname of one manager, and no path contested
    }
    if (library == CudaLibrary::Runtime) {
        if (has_conda_nvcc(scene)) {
            return std::nullopt;
        }
        return Case{
            Severity::Note, "in one process the copy that is loaded first is used by all", {}};
    }
    const bool known = !left.version.empty() && !right.version.empty();
    if (library == CudaLibrary::Cudnn && known &&
        release_of(left.version) != release_of(right.version)) {
        return Case{Severity::Warning,
                    fmt::format("both are libcudnn.so.{}, which opens its parts by name at run "
                                "time: a search path that names one mixes the two "
                                "(CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH)",
                                left.major),
                    {}};
    }
    return Case{Severity::Note, "in one process the copy that is loaded first is used by all", {}};
}

std::string text_of(const LibraryCopy& copy) {
    switch (copy.from) {
    case CopyFrom::Conda:
        return fmt::format("{} {} of conda", copy.name, copy.version);
    case CopyFrom::Pip:
        return fmt::format("{} {}", copy.name, copy.version);
    case CopyFrom::Bundled:
        break;
    }
    return fmt::format("the one inside {}", copy.name);
}

bool is_required(const CheckScene& scene, std::string_view name) {
    for (const auto& distribution : scene.inventory.distributions) {
        for (const auto& text : distribution.requires_dist) {
            const auto requirement = specs::Requirement::parse(text);
            if (requirement && requirement->normalized_name() == name) {
                return true;
            }
        }
    }
    return false;
}

// Of two wheels that overwrite each other, the one that nothing here requires is to go, and the
// other is laid down anew.
Fix overwriting_fix(const CheckScene& scene, const std::vector<LibraryCopy>& copies) {
    std::vector<const LibraryCopy*> needed;
    std::vector<const LibraryCopy*> spare;
    for (const auto& copy : copies) {
        if (copy.from == CopyFrom::Pip) {
            (is_required(scene, copy.name) ? needed : spare).push_back(&copy);
        }
    }
    Fix fix{"the one that is not needed away, the other installed anew", {}};
    if (needed.size() == 1 && spare.size() == 1) {
        fix.text = fmt::format("{} away, which nothing here requires, and {} installed anew",
                               spare.front()->name, needed.front()->name);
        const auto& distributions = scene.inventory.distributions;
        fix.command =
            both_commands(pip_uninstall(scene, distributions[*spare.front()->distribution]),
                          pip_reinstall(scene, distributions[*needed.front()->distribution]));
    }
    return fix;
}

Fix fix_of(const CheckScene& scene, const std::vector<LibraryCopy>& copies, Severity severity) {
    const bool by_pip = std::ranges::count(copies, CopyFrom::Pip, &LibraryCopy::from) > 1;
    if (severity == Severity::Warning && by_pip) {
        return overwriting_fix(scene, copies);
    }
    return {severity == Severity::Note
                ? "nothing, as long as what uses them works; else one environment for each"
                : "keep the framework's own, and its directory out of LD_LIBRARY_PATH for others",
            {}};
}

// What `check --fix` does for each, none of it twice; nothing where one of them is not for it to
// do.
std::vector<Repair> repairs_of(const std::vector<CheckFinding>& overwritten) {
    std::vector<Repair> repairs;
    for (const auto& one : overwritten) {
        if (one.repairs.empty()) {
            return {};
        }
        for (const auto& repair : one.repairs) {
            if (std::ranges::none_of(repairs, [&](const Repair& known) {
                    return known.kind == repair.kind && known.path == repair.path;
                })) {
                repairs.push_back(repair);
            }
        }
    }
    return repairs;
}

// The finding takes over what is known of who wrote over whom, which nobody else tells.
void add_losses(const CheckScene& scene, const std::vector<Loss>& losses, CheckFinding& told) {
    std::vector<CheckFinding> overwritten;
    overwritten.reserve(losses.size());
    for (const auto& loss : losses) {
        overwritten.push_back(wheel_over_wheel(scene, loss, told.finding.code.c_str()));
    }
    for (const auto& one : overwritten) {
        told.files.insert(told.files.end(), one.files.begin(), one.files.end());
        for (const auto& evidence : one.finding.evidence) {
            if (std::ranges::none_of(told.finding.evidence, [&](const Evidence& known) {
                    return known.path == evidence.path && known.text == evidence.text;
                })) {
                told.finding.evidence.push_back(evidence);
            }
        }
    }
    told.line = overwritten.front().line;
    told.repairs = repairs_of(overwritten);
    if (overwritten.size() == 1 || !told.repairs.empty()) {
        told.finding.fix = overwritten.front().finding.fix;
    }
    if (overwritten.size() > 1 && !told.repairs.empty()) {
        told.finding.fix->text = "takes away what nothing here requires, and makes the rest whole";
    }
}

// A wheel of two majors is two copies, of which each meets the other wheel.
void add_new(const std::vector<Loss>& met, std::vector<Loss>& losses) {
    for (const auto& loss : met) {
        if (std::ranges::none_of(losses, [&](const Loss& known) {
                return known.victim == loss.victim && known.writer == loss.writer;
            })) {
            losses.push_back(loss);
        }
    }
}

void find_copies(const CheckScene& scene, const Subject& subject,
                 std::vector<CheckFinding>& found) {
    const auto copies = copies_of(scene, subject.library);
    std::optional<Case> worst;
    std::set<std::size_t> concerned;
    std::vector<Loss> losses;
    std::set<std::size_t> overwritten;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        for (std::size_t j = i + 1; j < copies.size(); ++j) {
            auto met = case_of(scene, subject.library, copies[i], copies[j]);
            if (!met) {
                continue;
            }
            concerned.insert({i, j});
            if (!met->losses.empty()) {
                overwritten.insert({i, j});
                add_new(met->losses, losses);
            }
            if (!worst || met->severity < worst->severity) {
                worst = std::move(met);
            }
        }
    }
    if (!worst) {
        return;
    }
    CheckFinding told;
    std::vector<std::string> texts;
    std::vector<LibraryCopy> meant;
    for (const auto i : concerned) {
        texts.push_back(text_of(copies[i]));
        meant.push_back(copies[i]);
        if (!overwritten.contains(i)) {
            told.finding.evidence.push_back(
                {absolute_path(scene,
                               copies[i].files.empty() ? copies[i].record : copies[i].files[0]),
                 0, texts.back()});
            told.files.insert(told.files.end(), copies[i].files.begin(), copies[i].files.end());
        }
    }
    told.subject = subject.names;
    told.finding.code = subject.code;
    told.finding.severity = worst->severity;
    constexpr std::size_t k_named = 2; // a title is one line
    const auto more = texts.size() - std::min(texts.size(), k_named);
    told.finding.title = fmt::format("{} {} are here: {}{}", texts.size(), subject.names,
                                     join(std::span(texts).first(texts.size() - more), ", "),
                                     more == 0 ? "" : fmt::format(" and {} more", more));
    told.finding.cause = worst->cause;
    told.finding.fix = fix_of(scene, meant, worst->severity);
    told.told_at_prompt = worst->severity == Severity::Warning;
    told.line = told.finding.title;
    if (losses.empty()) {
        told.files.insert(told.files.end(), worst->files.begin(), worst->files.end());
    } else {
        add_losses(scene, losses, told);
    }
    std::ranges::sort(told.files);
    told.files.erase(std::unique(told.files.begin(), told.files.end()), told.files.end());
    found.push_back(std::move(told));
}

} // namespace

void find_cuda_copies(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto first = found.size();
    for (const Subject& subject : k_subjects) {
        find_copies(scene, subject, found);
    }
    find_cudnn_parts(scene, found);
    make_printable(found, first);
}

} // namespace cudaenv::plan
