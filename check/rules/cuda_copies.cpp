// Several copies of a CUDA library in one environment, and the severity of each case. The soname
// decides what is loaded: within a process all use the first libcudart.so.12.
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
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "check/rules/cuda_libraries.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/rules.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace cudaenv::rules {

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
    facts::Severity severity = facts::Severity::Note;
    const char* situation = "shared";
    facts::Arguments arguments{};
    std::vector<std::string> files{}; // concerned
    std::vector<Loss> losses{};       // where one is seen to have overwritten the other
};

bool has_conda_nvcc(const CheckContext& context) {
    return std::ranges::any_of(context.inventory.conda, [](const facts::CondaPackage& package) {
        return package.name.starts_with("cuda-nvcc") || package.name == "cuda-compiler" ||
               package.name == "cudatoolkit-dev" || package.name == "cuda-toolkit" ||
               package.name == "cuda";
    });
}

// Paths that both claim and that the records have with other contents.
std::vector<std::string> contested(const CheckContext& context, const LibraryCopy& left,
                                   const LibraryCopy& right) {
    std::vector<std::string> paths;
    const auto& files = context.inventory.distributions[*left.distribution].files;
    for (const auto& ours : files) {
        if (ours.hash != facts::ClaimHash::Sha256) {
            continue;
        }
        for (const auto& claim : context.claims.of(files.path(ours))) {
            if (claim.by != facts::Claim::By::Distribution ||
                claim.package != *right.distribution) {
                continue;
            }
            const auto& theirs = context.claims.file(claim);
            if (theirs.hash == facts::ClaimHash::Sha256 && theirs.sha256 != ours.sha256) {
                paths.emplace_back(files.path(ours));
            }
        }
    }
    sort_unique(paths);
    return paths;
}

// In either direction; of the same paths some may be left to the one and some to the other.
std::vector<Loss> losses_between(const CheckContext& context, const LibraryCopy& left,
                                 const LibraryCopy& right) {
    auto losses = find_losses(context);
    std::erase_if(losses, [&](const Loss& loss) {
        const std::set<std::uint32_t> both{loss.victim.package,
                                           loss.writer ? loss.writer->package : 0};
        return loss.kind != LossKind::WheelOverWheel ||
               both != std::set{*left.distribution, *right.distribution};
    });
    return losses;
}

// Empty: these two need no finding.
std::optional<Case> case_of(const CheckContext& context, CudaLibrary library,
                            const LibraryCopy& left, const LibraryCopy& right) {
    const bool both_managers = (left.from == CopyFrom::Conda) != (right.from == CopyFrom::Conda);
    if (left.from == CopyFrom::Pip && right.from == CopyFrom::Pip) {
        auto losses = losses_between(context, left, right);
        auto paths = contested(context, left, right);
        if (paths.empty() && !losses.empty()) {
            paths = losses.front().replaced;
        }
        if (!paths.empty()) {
            return Case{facts::Severity::Warning,
                        "overwritten",
                        {{"left", left.name},
                         {"right", right.name},
                         {"paths", std::to_string(paths.size())}},
                        std::move(paths),
                        std::move(losses)};
        }
    }
    if (left.major != right.major) {
        return Case{facts::Severity::Note, "majors"};
    }
    if (!both_managers) {
        // One soname of one manager, and no path contested, is no case.
        return left.from == CopyFrom::Bundled || right.from == CopyFrom::Bundled
                   ? std::optional(Case{})
                   : std::nullopt;
    }
    if (library == CudaLibrary::Runtime) {
        return has_conda_nvcc(context) ? std::nullopt : std::optional(Case{});
    }
    const bool known = !left.version.empty() && !right.version.empty();
    if (library == CudaLibrary::Cudnn && known &&
        packaged_release(left.version) != packaged_release(right.version)) {
        return Case{facts::Severity::Warning, "versions", {{"major", std::to_string(left.major)}}};
    }
    return Case{};
}

std::string text_of(const LibraryCopy& copy) {
    switch (copy.from) {
    case CopyFrom::Conda:
        return fmt::format("conda's {} {}", copy.name, copy.version);
    case CopyFrom::Pip:
        return fmt::format("{} {}", copy.name, copy.version);
    case CopyFrom::Bundled:
        break;
    }
    return fmt::format("the one in {}", copy.name);
}

bool is_required(const CheckContext& context, std::string_view name) {
    for (const auto& distribution : context.inventory.distributions) {
        for (const auto& text : distribution.requires_dist) {
            const auto requirement = specs::Requirement::parse(text);
            if (requirement && requirement->normalized_name() == name) {
                return true;
            }
        }
    }
    return false;
}

// Of two wheels that overwrite each other, uninstall the one that nothing here requires and
// reinstall the other.
facts::Arguments overwriting_fix(const CheckContext& context,
                                 const std::vector<LibraryCopy>& copies) {
    std::vector<const LibraryCopy*> needed;
    std::vector<const LibraryCopy*> spare;
    for (const auto& copy : copies) {
        if (copy.from == CopyFrom::Pip) {
            (is_required(context, copy.name) ? needed : spare).push_back(&copy);
        }
    }
    if (needed.size() != 1 || spare.size() != 1) {
        return {{"unclear", "yes"}, {"command", ""}};
    }
    const auto& distributions = context.inventory.distributions;
    return {{"spare", spare.front()->name},
            {"needed", needed.front()->name},
            {"command",
             both_commands(pip_uninstall(context, distributions[*spare.front()->distribution]),
                           pip_reinstall(context, distributions[*needed.front()->distribution]))}};
}

// What `check --fix` does for all of them, each repair once; empty where it cannot do one of them.
std::vector<Repair> repairs_of(const std::vector<CheckFinding>& overwritten) {
    std::vector<Repair> repairs;
    for (const auto& one : overwritten) {
        if (one.repairs.empty()) {
            return {};
        }
        for (const auto& repair : one.repairs) {
            if (!is_one_of(repair, repairs)) {
                repairs.push_back(repair);
            }
        }
    }
    return repairs;
}

std::vector<CheckFinding> findings_of(const CheckContext& context, const std::vector<Loss>& losses,
                                      std::string_view code) {
    auto overwritten =
        each_of(losses, [&](const Loss& loss) { return wheel_over_wheel(context, loss, code); });
    return overwritten;
}

// The finding takes files and evidence of who overwrote whom, which no other finding reports.
void add_evidence(const std::vector<CheckFinding>& overwritten, CheckFinding& found) {
    for (const auto& one : overwritten) {
        found.files.insert(found.files.end(), one.files.begin(), one.files.end());
        for (const auto& evidence : one.finding.evidence) {
            if (std::ranges::none_of(found.finding.evidence, [&](const facts::Evidence& known) {
                    return known.path == evidence.path && known.text == evidence.text;
                })) {
                found.finding.evidence.push_back(evidence);
            }
        }
    }
}

// How to fix copies of which one has overwritten the other.
facts::Arguments fix_of(const CheckContext& context, const std::vector<LibraryCopy>& copies,
                        const std::vector<CheckFinding>& overwritten,
                        const std::vector<Repair>& repairs) {
    const facts::Fix* fix = overwritten.empty() || (overwritten.size() > 1 && repairs.empty())
                                ? nullptr
                                : &*overwritten.front().finding.fix;
    if (fix == nullptr) {
        return overwriting_fix(context, copies);
    }
    return overwritten.size() == 1 ? facts::Arguments{{"fix", fix->text}, {"command", fix->command}}
                                   : facts::Arguments{{"many", "yes"}, {"command", fix->command}};
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

void find_copies(const CheckContext& context, const Subject& subject,
                 std::vector<CheckFinding>& findings) {
    const auto copies = copies_of(context, subject.library);
    std::optional<Case> worst;
    std::set<std::size_t> concerned;
    std::vector<Loss> losses;
    std::set<std::size_t> overwritten;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        for (std::size_t j = i + 1; j < copies.size(); ++j) {
            auto met = case_of(context, subject.library, copies[i], copies[j]);
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
    std::vector<std::string> texts;
    std::vector<LibraryCopy> meant;
    CheckFinding apart; // what those that were not overwritten add
    for (const auto i : concerned) {
        texts.push_back(text_of(copies[i]));
        meant.push_back(copies[i]);
        if (!overwritten.contains(i)) {
            const auto& files = copies[i].files;
            apart.finding.evidence.push_back(
                {absolute_path(context, files.empty() ? copies[i].record : files[0]), 0,
                 texts.back()});
            apart.files.insert(apart.files.end(), files.begin(), files.end());
        }
    }
    const auto lost = findings_of(context, losses, subject.code);
    auto repairs = repairs_of(lost);
    constexpr std::size_t k_named = 2; // a title is one line
    const auto more = texts.size() - std::min(texts.size(), k_named);
    auto arguments = std::move(worst->arguments);
    for (auto& one :
         facts::Arguments{{"n", std::to_string(texts.size())},
                          {"names", join(std::span(texts).first(texts.size() - more), ", ")},
                          {"more", more == 0 ? std::string() : std::to_string(more)}}) {
        arguments.push_back(std::move(one));
    }
    for (auto& one : fix_of(context, meant, lost, repairs)) {
        arguments.push_back(std::move(one));
    }
    auto found =
        report(context, subject.code, worst->situation, subject.names, std::move(arguments));
    found.files = std::move(apart.files);
    found.finding.evidence = std::move(apart.finding.evidence);
    found.said_at_prompt = worst->severity == facts::Severity::Warning;
    if (lost.empty()) {
        found.files.insert(found.files.end(), worst->files.begin(), worst->files.end());
    } else {
        add_evidence(lost, found);
        found.repairs = std::move(repairs);
    }
    sort_unique(found.files);
    findings.push_back(std::move(found));
}

} // namespace

void find_cuda_copies(const CheckContext& context, std::vector<CheckFinding>& findings) {
    for (const Subject& subject : k_subjects) {
        find_copies(context, subject, findings);
    }
    find_cudnn_parts(context, findings);
}

} // namespace cudaenv::rules
