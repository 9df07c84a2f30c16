#include "shellhooks/activation/choice.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "shellhooks/activation/toolkit_match.hpp"
#include "shellhooks/patch/update.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/cuda_release.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::activation {

std::string_view name_of(Rung rung) {
    constexpr std::array k_names =
        std::to_array<std::string_view>({"shell", "project", "by-hand", "environment-pin",
                                         "framework", "runtime", "user", "inherited", "system"});
    return k_names.at(static_cast<std::size_t>(rung));
}

namespace {

Rung rung_of(pins::PinSource source) {
    switch (source) {
    case pins::PinSource::Shell:
        return Rung::Shell;
    case pins::PinSource::ProjectLocal:
    case pins::PinSource::Project:
        return Rung::Project;
    case pins::PinSource::Environment:
        return Rung::EnvironmentPin;
    case pins::PinSource::User:
        return Rung::User;
    case pins::PinSource::System:
        break;
    }
    return Rung::System;
}

// A rung that applies here. ByHand and Inherited have no `wanted`: their toolkit is given.
struct Source {
    Rung rung = Rung::System;
    std::optional<WantedCuda> wanted;
    std::string cuda;
    std::string reason; // "pinned in ~/code/apex"
    std::string origin;
    std::string statement; // "CUDA 11.3 is pinned in ~/code/apex"
};

const facts::FrameworkBuild* deciding_framework(const Situation& situation) {
    if (!situation.environment) {
        return nullptr;
    }
    const auto& frameworks = situation.environment->frameworks;
    return find_pointer_if(frameworks, [](const facts::FrameworkBuild& build) {
        return !build.cpu && build.cuda && !build.cuda->empty();
    });
}

// "torch 1.12.1+cu113"; "torch 2.11.0 with CUDA 13.0" where the version does not say.
std::string named(const facts::FrameworkBuild& build) {
    std::string text = printable(build.name) + ' ' + printable(build.version);
    if (build.version.find("+cu") == std::string::npos) {
        text += " with CUDA " + build.cuda->str();
    }
    return text;
}

// The nearest release, where what is wanted was never released.
std::optional<DottedVersion> nearest_if_none(const WantedCuda& wanted) {
    if (!wanted.version) {
        return std::nullopt;
    }
    const auto release = knowledge::cuda_release(*wanted.version);
    return release.exists == knowledge::CudaRelease::Exists::No ? std::optional(release.nearest)
                                                                : std::nullopt;
}

class Decision {
public:
    explicit Decision(const Situation& situation)
        : m_situation(situation), m_by_hand(set_by_hand(situation)),
          m_framework(deciding_framework(situation)) {}

    CudaChoice take() {
        const auto pin = from_pin();
        const auto framework = from_framework();
        const auto runtime = from_runtime();
        const auto by_hand = from_hand(pin.has_value());
        const Source* winner = nullptr;
        for (const auto* source : {&pin, &by_hand, &framework, &runtime}) {
            if (*source && (winner == nullptr || (*source)->rung < winner->rung)) {
                winner = &**source;
            }
        }
        if (winner == nullptr) {
            return std::move(m_choice);
        }
        m_choice.rung = winner->rung;
        m_choice.cuda = winner->cuda;
        m_choice.reason = winner->reason;
        m_choice.origin = winner->origin;
        if (!winner->wanted) {
            take_toolkit_by_hand();
        } else {
            take_toolkit(*winner->wanted);
            warn_of_by_hand(*winner);
        }
        if (pin && winner != &*pin && winner->rung == Rung::ByHand &&
            pin->rung == Rung::EnvironmentPin) {
            warn_where_toolkit_is_not(*winner, *pin);
        }
        warn_of_other_pins();
        weigh_framework(*winner, framework);
        warn_of_mixed_frameworks();
        return std::move(m_choice);
    }

private:
    std::optional<Source> from_pin() {
        const pins::EffectivePin* const pin = m_situation.pins.find("cuda");
        if (pin == nullptr) {
            return std::nullopt;
        }
        auto wanted = wanted_cuda(pin->pin.constraint);
        if (!wanted) {
            m_choice.warnings.push_back("cuda " + quoted(pin->pin.constraint) + " (" +
                                        printable(pin->pin.origin) + ") is not a version");
            return std::nullopt;
        }
        if (m_framework != nullptr) {
            wanted->preferred = m_framework->cuda;
        } else if (m_situation.environment && m_situation.environment->runtime) {
            wanted->preferred =
                DottedVersion::of(m_situation.environment->runtime->version.major_minor());
        }
        Source source;
        source.rung = rung_of(pin->source);
        source.cuda = pin->pin.constraint;
        source.origin = printable(pin->pin.origin);
        switch (source.rung) {
        case Rung::Shell:
            source.reason = "chosen in this shell";
            break;
        case Rung::Project:
            source.reason = m_situation.project_directory.empty()
                                ? std::string("pinned in the project")
                                : "pinned in " + m_situation.shown(m_situation.project_directory);
            break;
        case Rung::EnvironmentPin:
            source.reason = "pinned for this environment";
            break;
        case Rung::User:
            source.reason = "your default";
            break;
        default:
            source.reason = "the administrator's default";
            break;
        }
        source.statement = "CUDA " + printable(pin->pin.constraint) + " is " + source.reason;
        source.wanted = std::move(wanted);
        return source;
    }

    // What the user set by hand is complete as it is: it is only added to (PATH, compilers) where
    // an environment or a pin makes CUDA this shell's business.
    std::optional<Source> from_hand(bool pinned) {
        if (!m_by_hand) {
            return std::nullopt;
        }
        const auto& environment = m_situation.environment;
        const bool business =
            pinned || m_framework != nullptr ||
            (environment && (environment->runtime || !environment->toolkits.empty()));
        if (!business) {
            return std::nullopt;
        }
        Source source;
        source.rung = is_by_hand() ? Rung::ByHand : Rung::Inherited;
        const auto& version = m_by_hand->toolkit.version;
        source.cuda = version ? version->major_minor() : std::string();
        const std::string& module = m_by_hand->module;
        source.reason = !module.empty() ? m_by_hand->variable + "; module " + module + " is loaded"
                        : m_by_hand->inherited ? m_by_hand->variable + ' ' + set_before()
                                               : m_by_hand->variable + " set by hand";
        source.origin = m_by_hand->variable;
        source.statement =
            root_text() +
            (m_by_hand->inherited && module.empty() ? " was " + set_before() : " is " + by_whom());
        return source;
    }

    [[nodiscard]] std::string by_whom() const {
        return m_by_hand->module.empty() ? "set by hand" : "set by module " + m_by_hand->module;
    }

    // "CUDA_HOME=/usr/local/cuda (CUDA 12.4)"
    [[nodiscard]] std::string root_text() const {
        const auto& version = m_by_hand->toolkit.version;
        return m_by_hand->variable + '=' + m_situation.shown(m_by_hand->value) +
               (version ? " (CUDA " + version->major_minor() + ')' : "");
    }

    [[nodiscard]] bool is_by_hand() const { return m_by_hand->is_wish(m_situation.config); }

    [[nodiscard]] std::string set_before() const {
        return m_situation.base.contains(patch::k_found_home) ? "set before this shell's hook ran"
                                                              : "set before cudaenv was run";
    }

    std::optional<Source> from_framework() {
        if (m_framework == nullptr) {
            return std::nullopt;
        }
        DottedVersion cuda = *m_framework->cuda;
        // CuPy and JAX name the major only; the runtime beside them has more.
        const auto& runtime = m_situation.environment->runtime;
        if (cuda.parts().size() < 2 && runtime && runtime->version.begins_with(cuda)) {
            cuda = runtime->version;
        }
        Source source;
        source.rung = Rung::Framework;
        source.cuda = cuda.major_minor();
        source.wanted = wanted_cuda(source.cuda);
        source.reason = named(*m_framework);
        source.origin = printable(m_framework->source);
        return source.wanted ? std::optional(std::move(source)) : std::nullopt;
    }

    std::optional<Source> from_runtime() {
        if (!m_situation.environment || !m_situation.environment->runtime ||
            m_situation.environment->runtime->version.empty()) {
            return std::nullopt;
        }
        const facts::CarriedRuntime& runtime = *m_situation.environment->runtime;
        Source source;
        source.rung = Rung::Runtime;
        source.cuda = runtime.version.major_minor();
        source.wanted = wanted_cuda(source.cuda);
        source.reason = printable(runtime.package) + ' ' + runtime.version.str();
        source.origin = printable(runtime.source);
        return source.wanted ? std::optional(std::move(source)) : std::nullopt;
    }

    void leave_silent(const facts::Toolkit& toolkit, const std::string& unknown) {
        m_choice.silent = m_situation.shown(toolkit.path);
        m_choice.warnings.push_back(fmt::format("{} does not answer: {} is unknown; when it "
                                                "does, run: cudaenv reactivate",
                                                m_choice.silent, unknown));
    }

    void take_toolkit_by_hand() {
        if (m_by_hand->toolkit.silent) {
            leave_silent(m_by_hand->toolkit, "what " + m_by_hand->variable + " names");
            return;
        }
        m_choice.toolkit = m_by_hand->toolkit;
        m_choice.match = ToolkitMatch::ByHand;
        m_choice.environments_own = m_by_hand->environments_own;
        if (!m_by_hand->toolkit.problem.empty()) {
            m_choice.warnings.push_back(fmt::format("{}={}: {}", m_by_hand->variable,
                                                    m_situation.shown(m_by_hand->value),
                                                    printable(m_by_hand->toolkit.problem)));
        }
        const std::string* const other = m_situation.value("CUDA_PATH");
        if (m_by_hand->variable == "CUDA_HOME" && other != nullptr && !is_by_hand(*other)) {
            m_choice.warnings.push_back(fmt::format(
                "CUDA_HOME={} and CUDA_PATH={} differ: CUDA_HOME is used, as torch does",
                m_situation.shown(m_by_hand->value), m_situation.shown(*other)));
        }
    }

    [[nodiscard]] bool is_by_hand(const std::string& directory) const {
        Situation alone;
        alone.base["CUDA_HOME"] = directory;
        alone.host.toolkits = {m_by_hand->toolkit};
        return set_by_hand(alone)->toolkit.path == m_by_hand->toolkit.path;
    }

    void take_toolkit(const WantedCuda& wanted) {
        auto matched = match_toolkit(m_situation, wanted);
        if (!matched || matched->match != ToolkitMatch::Exact) {
            if (const auto nearest = nearest_if_none(wanted)) {
                m_choice.nearest = nearest->str();
                m_choice.warnings.push_back(knowledge::no_such_cuda(*wanted.version, *nearest));
                return;
            }
        }
        if (const auto* const silent = silent_toolkit(m_situation); !matched && silent != nullptr) {
            leave_silent(*silent, "whether nvcc " + printable(wanted.text) + " is in it");
            return;
        }
        if (!matched) {
            m_choice.remedy = nvcc_command(m_situation, wanted);
            return;
        }
        if (matched->match == ToolkitMatch::SameMajor) {
            m_choice.warnings.push_back(
                knowledge::same_major_text(*matched->toolkit.version, *wanted.version));
        }
        m_choice.toolkit = std::move(matched->toolkit);
        m_choice.match = matched->match;
        m_choice.environments_own = matched->environments_own;
    }

    // A stronger rung overrides what the user set.
    void warn_of_by_hand(const Source& winner) {
        if (!m_by_hand || winner.rung > (is_by_hand() ? Rung::ByHand : Rung::User)) {
            return;
        }
        const auto& version = m_by_hand->toolkit.version;
        const bool agree = m_choice.toolkit ? m_choice.toolkit->path == m_by_hand->toolkit.path
                                            : version && allows(*winner.wanted, *version);
        if (agree) {
            return;
        }
        if (is_by_hand()) {
            const std::string set = root_text() + ", " + by_whom();
            m_choice.warnings.push_back(
                winner.statement +
                (m_choice.toolkit ? " and overrides " + set
                                  : "; no toolkit for it is here, so " + set + ", is unchanged"));
        } else if (!m_choice.toolkit) {
            m_choice.inherited = root_text() + " was " + set_before() +
                                 " and stays: no toolkit for CUDA " + printable(winner.cuda) +
                                 " is here";
        } else if (winner.rung == Rung::Framework || winner.rung == Rung::Runtime) {
            m_choice.inherited = root_text() + " was " + set_before() +
                                 " and is replaced; to keep it: "
                                 "cudaenv config set activate.keep_cuda_home true";
        }
    }

    void warn_where_toolkit_is_not(const Source& winner, const Source& loser) {
        const auto& version = m_by_hand->toolkit.version;
        if (version && !allows(*loser.wanted, *version)) {
            m_choice.warnings.push_back(winner.statement + " and overrides CUDA " +
                                        printable(loser.cuda) + ", " + loser.reason);
        }
    }

    // `cudaenv use` against the project's pin, the project's against the environment's.
    void warn_of_other_pins() {
        for (const pins::PinOverride& change : m_situation.pins.overridden) {
            if (change.winner.pin.name == "cuda" && change.severity == facts::Severity::Warning) {
                m_choice.warnings.push_back(change.text);
            }
        }
    }

    // Whether the choice fits what the environment's framework was built with; where a pin says the
    // same, both are reasons.
    void weigh_framework(const Source& winner, const std::optional<Source>& framework) {
        if (!framework || winner.rung > Rung::EnvironmentPin) {
            return;
        }
        const DottedVersion& cuda = *m_framework->cuda;
        const auto& nvcc = m_choice.toolkit ? m_choice.toolkit->version : std::nullopt;
        if (nvcc ? nvcc->begins_with(cuda) : winner.rung == Rung::ByHand) {
            // Nothing is claimed of an unknown toolkit.
            if (winner.rung != Rung::ByHand) {
                m_choice.reason = framework->reason + "; " + m_choice.reason;
            }
            return;
        }
        if (winner.wanted &&
            (allows(*winner.wanted, cuda) ||
             (winner.wanted->version && winner.wanted->version->begins_with(cuda)))) {
            m_choice.reason = framework->reason + "; " + m_choice.reason;
            return;
        }
        const bool refuses = m_framework->name == "torch" && nvcc && nvcc->major() != cuda.major();
        m_choice.framework_misfit = winner.statement + "; " + printable(m_framework->name) + ' ' +
                                    printable(m_framework->version) + " is built with CUDA " +
                                    cuda.str() +
                                    (refuses ? " and refuses to build extensions with it" : "");
        m_choice.warnings.push_back(m_choice.framework_misfit);
    }

    // Minors live together; libraries of two majors in one process are where trouble begins.
    void warn_of_mixed_frameworks() {
        if (m_framework == nullptr) {
            return;
        }
        for (const facts::FrameworkBuild& other : m_situation.environment->frameworks) {
            if (!other.cpu && other.cuda && !other.cuda->empty() &&
                other.cuda->major() != m_framework->cuda->major()) {
                m_choice.warnings.push_back(
                    named(*m_framework) + " and " + named(other) +
                    " in one environment are built with different CUDA versions");
                return;
            }
        }
    }

    const Situation& m_situation;
    std::optional<ByHand> m_by_hand;
    const facts::FrameworkBuild* m_framework;
    CudaChoice m_choice;
};

} // namespace

CudaChoice choose(const Situation& situation) {
    return Decision(situation).take();
}

} // namespace cudaenv::activation
