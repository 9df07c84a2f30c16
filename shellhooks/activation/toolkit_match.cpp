#include "shellhooks/activation/toolkit_match.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "shellhooks/activation/directories.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <algorithm>
#include <tuple>

namespace cudaenv::activation {

namespace {

bool leads_to(const facts::Toolkit& toolkit, std::string_view directory) {
    return normal_directory(toolkit.path) == directory ||
           std::ranges::any_of(toolkit.aliases, [&](const std::string& alias) {
               return normal_directory(alias) == directory;
           });
}

// In an environment that is not the active one.
bool is_anothers(const Situation& situation, const facts::Toolkit& toolkit) {
    const std::string path = normal_directory(toolkit.path);
    return toolkit.source.starts_with("conda environment ") ||
           std::ranges::any_of(situation.host.conda, [&](const facts::CondaInstall& install) {
               const std::string root = normal_directory(install.path);
               return path == root || lies_in(path, root + "/envs");
           });
}

// Environment Modules and Lmod list what is loaded: "gcc/9.3.0:CUDA/11.3.1".
std::string loaded_module(const Situation& situation) {
    const std::string* const loaded = situation.value("LOADEDMODULES");
    if (loaded == nullptr) {
        return {};
    }
    for (const std::string_view module : split(*loaded, ':')) {
        const std::string name = to_lower_ascii(module);
        if (name.starts_with("cuda") || name.starts_with("nvhpc") ||
            name.find("/cuda") != std::string::npos) {
            return printable(module);
        }
    }
    return {};
}

ByHand by_hand(const Situation& situation, const std::string& variable, const std::string& value) {
    ByHand found{variable, value, {}, false};
    const std::string directory = normal_directory(value);
    for (const KnownToolkit& known : known_toolkits(situation)) {
        if (leads_to(known.toolkit, directory)) {
            found.toolkit = known.toolkit;
            found.environments_own = known.environments_own;
            return found;
        }
    }
    // Another environment's is the user's choice all the same.
    for (const facts::Toolkit& toolkit : situation.host.toolkits) {
        if (leads_to(toolkit, directory)) {
            found.toolkit = toolkit;
            return found;
        }
    }
    found.toolkit.path = directory;
    found.toolkit.source = variable;
    found.environments_own = situation.environment &&
                             lies_in(directory, normal_directory(situation.environment->prefix));
    return found;
}

// Nothing is known against it: everything of that CUDA runs, PTX too.
bool runs_fully(const facts::Host& host, const DottedVersion& cuda) {
    using knowledge::DriverFit;
    const DriverFit fit = knowledge::driver_fit(host, cuda).fit;
    return fit != DriverFit::TooOld && fit != DriverFit::MachineCode;
}

// The release to get: what is preferred, else the newest that is allowed and that the driver runs.
std::optional<DottedVersion> release_to_get(const Situation& situation, const WantedCuda& wanted) {
    for (const auto& version : {wanted.version, wanted.preferred}) {
        if (version && version->parts().size() >= 2 && allows(wanted, *version)) {
            return DottedVersion::of(version->major_minor());
        }
    }
    std::optional<DottedVersion> newest;
    std::optional<DottedVersion> newest_that_runs;
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        if (!wanted.constraint.allows(release)) {
            continue;
        }
        newest = release;
        if (situation.host.driver && runs_fully(situation.host, release)) {
            newest_that_runs = release;
        }
    }
    return newest_that_runs ? newest_that_runs : newest;
}

} // namespace

std::optional<WantedCuda> wanted_cuda(std::string_view text) {
    auto constraint = pins::PinConstraint::parse(text);
    if (!constraint) {
        return std::nullopt;
    }
    WantedCuda wanted;
    wanted.text = std::string(text);
    wanted.version = constraint->single();
    wanted.constraint = std::move(*constraint);
    return wanted;
}

bool allows(const WantedCuda& wanted, const DottedVersion& nvcc) {
    return wanted.constraint.allows(nvcc) ||
           (wanted.version && wanted.version->parts().size() >= 2 &&
            wanted.version->major_minor() == nvcc.major_minor());
}

std::vector<KnownToolkit> known_toolkits(const Situation& situation) {
    std::vector<KnownToolkit> known;
    const auto add = [&](const facts::Toolkit& toolkit, bool own) {
        const bool again = std::ranges::any_of(known, [&](const KnownToolkit& other) {
            return normal_directory(other.toolkit.path) == normal_directory(toolkit.path);
        });
        if (!again) {
            known.push_back({toolkit, own});
        }
    };
    std::string prefix;
    if (situation.environment) {
        prefix = normal_directory(situation.environment->prefix);
        for (const facts::Toolkit& toolkit : situation.environment->toolkits) {
            add(toolkit, true);
        }
    }
    for (const facts::Toolkit& toolkit : situation.host.toolkits) {
        const bool own = lies_in(normal_directory(toolkit.path), prefix);
        if (own || !is_anothers(situation, toolkit)) {
            add(toolkit, own);
        }
    }
    return known;
}

std::optional<ByHand> set_by_hand(const Situation& situation) {
    std::optional<ByHand> found;
    for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const std::string* const value = situation.value(variable);
        const bool inherited =
            std::ranges::find(situation.inherited, variable) != situation.inherited.end();
        if (value == nullptr || situation.is_kept(variable) || (found && inherited)) {
            continue;
        }
        found = by_hand(situation, variable, *value);
        found->inherited = inherited;
        found->module = loaded_module(situation);
        if (!inherited) {
            break;
        }
    }
    return found;
}

const facts::Toolkit* silent_toolkit(const Situation& situation) {
    const auto& toolkits = situation.host.toolkits;
    return find_pointer_if(toolkits, &facts::Toolkit::silent);
}

std::optional<MatchedToolkit> match_toolkit(const Situation& situation, const WantedCuda& wanted) {
    auto candidates = known_toolkits(situation);
    const auto by_hand = set_by_hand(situation);
    const auto is_by_hand = [&](const facts::Toolkit& toolkit) {
        return by_hand && by_hand->toolkit.path == toolkit.path;
    };
    if (by_hand && std::ranges::none_of(candidates, [&](const KnownToolkit& known) {
            return is_by_hand(known.toolkit);
        })) {
        candidates.push_back({by_hand->toolkit, by_hand->environments_own});
    }
    std::erase_if(candidates,
                  [](const KnownToolkit& known) { return !knowledge::can_compile(known.toolkit); });

    const KnownToolkit* best = nullptr;
    const auto rank = [&](const KnownToolkit& known) {
        const DottedVersion& version = *known.toolkit.version;
        return std::tuple(is_by_hand(known.toolkit), known.environments_own,
                          wanted.preferred && version.begins_with(*wanted.preferred),
                          runs_fully(situation.host, version));
    };
    for (const KnownToolkit& known : candidates) {
        if (!allows(wanted, *known.toolkit.version)) {
            continue;
        }
        if (best == nullptr || rank(known) > rank(*best) ||
            (rank(known) == rank(*best) && *known.toolkit.version > *best->toolkit.version)) {
            best = &known;
        }
    }
    if (best != nullptr) {
        return MatchedToolkit{best->toolkit, ToolkitMatch::Exact, best->environments_own};
    }
    // A range is taken at its word. Where something does not answer, it may be the one that is
    // wanted.
    if (!wanted.version || silent_toolkit(situation) != nullptr) {
        return std::nullopt;
    }
    const auto nearness = [&](const KnownToolkit& known) {
        const std::uint32_t asked = wanted.version->minor();
        const std::uint32_t has = known.toolkit.version->minor();
        const bool below = has <= asked;
        return std::tuple(!known.environments_own, !below, below ? asked - has : has - asked);
    };
    for (const KnownToolkit& known : candidates) {
        if (knowledge::nvcc_match(*known.toolkit.version, *wanted.version) !=
                knowledge::NvccMatch::None &&
            (best == nullptr || nearness(known) < nearness(*best))) {
            best = &known;
        }
    }
    if (best == nullptr) {
        return std::nullopt;
    }
    return MatchedToolkit{best->toolkit, ToolkitMatch::SameMajor, best->environments_own};
}

knowledge::Target target_of(const Situation& situation) {
    const std::string* const home = situation.value("HOME");
    return knowledge::target_of(situation.host, situation.environment, situation.environment_named,
                                situation.config.toolkit_directories(),
                                home != nullptr ? *home : std::string());
}

std::string nvcc_command(const Situation& situation, const WantedCuda& wanted) {
    const auto release = release_to_get(situation, wanted);
    return release ? knowledge::nvcc_recipe(*release, target_of(situation)).command : std::string();
}

} // namespace cudaenv::activation
