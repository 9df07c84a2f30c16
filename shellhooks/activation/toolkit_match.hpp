// Which toolkit gives the CUDA that is wanted. Pure. Internal to
// shellhooks/activation, and `pin`'s.
//
// Law: a toolkit without nvcc or with a problem is never chosen; of two that fit, what the user set
// by hand has priority over the environment's own, and that over the machine's.
#pragma once

#include "shellhooks/activation/choice.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/pins/pins.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::activation {

struct WantedCuda {
    std::string text; // "11.3", ">=11,<12"
    pins::PinConstraint constraint;
    std::optional<DottedVersion> version;   // of a lone version; none for a range
    std::optional<DottedVersion> preferred; // of several that are allowed
};

// None where `text` is no constraint.
std::optional<WantedCuda> wanted_cuda(std::string_view text);

// nvcc 11.3.109 is also what "==11.3.1" means: the release's own number is in no nvcc.
bool allows(const WantedCuda& wanted, const DottedVersion& nvcc);

struct KnownToolkit {
    facts::Toolkit toolkit;
    bool environments_own = false;
};
// Every toolkit of the environment and of the machine, the environment's first, each path once.
// Those inside other environments are left out: their bin holds a python too.
std::vector<KnownToolkit> known_toolkits(const Situation& situation);

// What CUDA_HOME says, else CUDA_PATH, as torch reads them; what the user set in this shell before
// what was there already.
struct ByHand {
    std::string variable;   // "CUDA_HOME"
    std::string value;      // as it is written
    facts::Toolkit toolkit; // only its path where nothing is known of it
    bool environments_own = false;
    bool inherited = false; // it was there before: the user has not set it in this shell
    std::string module{};   // which is loaded and may have set it: "cuda/11.3"

    // By the user, a module or the configuration: it counts as set by hand.
    [[nodiscard]] bool is_wish(const pins::Config& config) const {
        return !inherited || !module.empty() || config.keep_cuda_home();
    }
};
std::optional<ByHand> set_by_hand(const Situation& situation);

struct MatchedToolkit {
    facts::Toolkit toolkit;
    ToolkitMatch match = ToolkitMatch::Exact;
    bool environments_own = false;
};
// A toolkit, or a directory of toolkits, that does not answer; null where there is none.
const facts::Toolkit* silent_toolkit(const Situation& situation);

// What is allowed, else for a lone version of CUDA 11 and newer the same major: nearest below, then
// nearest above; the latter only where every toolkit answers.
std::optional<MatchedToolkit> match_toolkit(const Situation& situation, const WantedCuda& wanted);

// The environment that commands change.
knowledge::Target target_of(const Situation& situation);
// The command that gets an nvcc for it (`knowledge::nvcc_recipe`); empty where no known release of
// CUDA is wanted.
std::string nvcc_command(const Situation& situation, const WantedCuda& wanted);

} // namespace cudaenv::activation
