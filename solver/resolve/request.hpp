// What is asked of the resolver: the values behind `cudaenv resolve`.
#pragma once

#include "base/dotted_version.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/pins/pin.hpp"
#include "solver/resolve/outcome.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::resolve {

enum class ManagerChoice { Auto, Conda, Pip };

// One thing asked for. `text` is a conda MatchSpec or a PEP 508 requirement; `origin` says where it
// was written, for messages ("argument 1", "/p/cudaenv.toml line 3").
struct Wanted {
    std::string text;
    std::string origin;
    // One of many in a file that lists dependencies: a name that is not known is left out with a
    // note, and is no error.
    bool from_file = false;
};

// What is installed in an environment, by PyPI's name for Python packages and conda's for the rest.
struct Installed {
    std::string name;
    std::string version; // 2.8.0
    std::string label;   // cu128, cpu, git664058f; empty: none is known
    Manager manager = Manager::Pip;
    std::optional<DottedVersion> cuda{}; // that it was built with, where it says so

    [[nodiscard]] std::string shown() const {
        return name + ' ' + version + (label.empty() ? "" : '+' + label);
    }
    // A released torch for the GPUs of another vendor: "2.4.1+rocm6.0".
    [[nodiscard]] bool is_for_other_gpu() const {
        return name == "torch" && knowledge::build_by_label(version + '+' + label).other_gpu() &&
               knowledge::torch_release(version) != nullptr;
    }
    // A torch that no index has: built from source, a vendor's, a nightly.
    [[nodiscard]] bool is_built_torch() const {
        return name == "torch" && label != "cpu" && !label.empty() &&
               knowledge::torch_variant(version, label) == nullptr && !is_for_other_gpu();
    }
};

// What of an installed package stays: the very build; its version, in a build for another CUDA; its
// CUDA, in another version; or only that it is installed.
enum class Stays { Build, Version, Label, Package };
struct Kept {
    Installed installed;
    Stays stays = Stays::Build;
};

// The environment that the answer is for; none: commands create one.
struct KnownEnvironment {
    knowledge::Target target;
    std::string shown;                   // "~/venvs/vision", "apex"
    std::optional<DottedVersion> python; // 3.11.7
    std::vector<Installed> installed;

    [[nodiscard]] bool exists() const { return target.kind != knowledge::Target::Kind::None; }
};

struct Request {
    std::vector<Wanted> specs;
    std::vector<Kept> kept; // of the environment
    std::vector<pins::Pin> pins;
    pins::Purpose purpose = pins::Purpose::Run;
    ManagerChoice manager = ManagerChoice::Auto;
    bool cpu = false;          // --cpu: a CPU build is what is wanted
    bool strict_host = false;  // warnings about the host become conflicts
    bool tell_choices = false; // say why each version and not the newest: `cudaenv explain`
    std::vector<std::string> preferred; // "name==version" of what is installed: favoured
    KnownEnvironment environment;
    // Words that mean another host, as the user wrote them ("--driver", "550.54.15"): commands that
    // are offered repeat them.
    std::vector<std::string> host_words;
};

} // namespace cudaenv::resolve
