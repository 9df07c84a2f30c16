#include "solver/plan/activation/choice.hpp"

#include "solver/knowledge/cuda_release.hpp"
#include "solver/plan/activation/remedy.hpp"
#include "solver/plan/activation/toolkit_match.hpp"
#include "solver/plan/activation/update.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

std::string_view name_of(Rung rung) {
    switch (rung) {
    case Rung::Shell:
        return "shell";
    case Rung::Project:
        return "project";
    case Rung::ByHand:
        return "by-hand";
    case Rung::EnvironmentPin:
        return "environment-pin";
    case Rung::Framework:
        return "framework";
    case Rung::Runtime:
        return "runtime";
    case Rung::User:
        return "user";
    case Rung::Inherited:
        return "inherited";
    case Rung::System:
        return "system";
    }
    return {};
}

namespace {

Rung rung_of(PinSource source) {
    switch (source) {
    case PinSource::Shell:
        return Rung::Shell;
    case PinSource::ProjectLocal:
    case PinSource::Project:
        return Rung::Project;
    case PinSource::Environment:
        return Rung::EnvironmentPin;
    case PinSource::User:
        return Rung::User;
    case PinSource::System:
        break;
    }
    return Rung::System;
}

// What one rung says. Of ByHand and Inherited nothing is wanted: it is what it is.
struct Saying {
    Rung rung = Rung::System;
    std::optional<WantedCuda> wanted;
    std::string cuda;
    std::string reason; // "pinned in ~/code/apex"
    std::string origin;
    std::string said; // in a warning: "cuda 11.3 pinned in ~/code/apex"
};

const facts::FrameworkBuild* deciding_framework(const Situation& situation) {
    if (!situation.environment) {
        return nullptr;
    }
    const auto& frameworks = situation.environment->frameworks;
    const auto found = std::ranges::find_if(frameworks, [](const facts::FrameworkBuild& build) {
        return !build.cpu && build.cuda && !build.cuda->empty();
    });
    return found == frameworks.end() ? nullptr : &*found;
}

// "torch 1.12.1+cu113"; "torch 2.11.0 with CUDA 13.0" where the version does not tell.
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
        const auto pin = pin_says();
        const auto framework = framework_says();
        const auto runtime = runtime_says();
        const auto by_hand = by_hand_says(pin.has_value());
        const Saying* winner = nullptr;
        for (const auto* saying : {&pin, &by_hand, &framework, &runtime}) {
            if (*saying && (winner == nullptr || (*saying)->rung < winner->rung)) {
                winner = &**saying;
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
    std::optional<Saying> pin_says() {
        const EffectivePin* const pin = m_situation.pins.find("cuda");
        if (pin == nullptr) {
            return std::nullopt;
        }
        auto wanted = wanted_cuda(pin->pin.constraint);
        if (!wanted) {
            m_choice.warnings.push_back("cuda " + quoted(pin->pin.constraint) + ", " +
                                        printable(pin->pin.origin) + ", is no version");
            return std::nullopt;
        }
        if (m_framework != nullptr) {
            wanted->preferred = m_framework->cuda;
        } else if (m_situation.environment && m_situation.environment->runtime) {
            wanted->preferred =
                DottedVersion::of(m_situation.environment->runtime->version.major_minor());
        }
        Saying saying;
        saying.rung = rung_of(pin->source);
        saying.cuda = pin->pin.constraint;
        saying.origin = printable(pin->pin.origin);
        saying.said = "cuda " + printable(pin->pin.constraint) + ' ';
        switch (saying.rung) {
        case Rung::Shell:
            saying.reason = "chosen in this shell";
            break;
        case Rung::Project:
            saying.reason = m_situation.project_directory.empty()
                                ? std::string("pinned in the project")
                                : "pinned in " + m_situation.shown(m_situation.project_directory);
            break;
        case Rung::EnvironmentPin:
            saying.reason = "pinned for this environment";
            break;
        case Rung::User:
            saying.reason = "your default";
            break;
        default:
            saying.reason = "the administrator's default";
            break;
        }
        saying.said += saying.rung == Rung::User || saying.rung == Rung::System
                           ? '(' + saying.reason + ')'
                           : saying.reason;
        saying.wanted = std::move(wanted);
        return saying;
    }

    // What the user set by hand is complete as it is: it is only added to (PATH, compilers) where
    // an environment or a pin makes CUDA this shell's business.
    std::optional<Saying> by_hand_says(bool pinned) {
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
        Saying saying;
        saying.rung = is_by_hand() ? Rung::ByHand : Rung::Inherited;
        const auto& version = m_by_hand->toolkit.version;
        saying.cuda = version ? version->major_minor() : std::string();
        const std::string& module = m_by_hand->module;
        saying.reason = !module.empty() ? m_by_hand->variable + "; module " + module + " is loaded"
                        : m_by_hand->inherited ? m_by_hand->variable + ' ' + set_before()
                                               : m_by_hand->variable + " set by hand";
        saying.origin = m_by_hand->variable;
        saying.said = by_hand_said();
        return saying;
    }

    [[nodiscard]] std::string by_hand_said() const {
        return root_said() + (!m_by_hand->module.empty() ? ""
                              : m_by_hand->inherited     ? ", " + set_before() + ','
                                                         : ", set by hand,");
    }

    // "CUDA_HOME=/usr/local/cuda (CUDA 12.4)"
    [[nodiscard]] std::string root_said() const {
        const auto& version = m_by_hand->toolkit.version;
        return m_by_hand->variable + '=' + m_situation.shown(m_by_hand->value) +
               (version ? " (CUDA " + version->major_minor() + ')' : "");
    }

    [[nodiscard]] bool is_by_hand() const { return m_by_hand->is_wish(m_situation.config); }

    [[nodiscard]] std::string set_before() const {
        return m_situation.base.contains(k_found_home) ? "set before this shell's hook ran"
                                                       : "set before cudaenv was run";
    }

    std::optional<Saying> framework_says() {
        if (m_framework == nullptr) {
            return std::nullopt;
        }
        DottedVersion cuda = *m_framework->cuda;
        // CuPy and JAX tell the major only; the runtime beside them knows more.
        const auto& runtime = m_situation.environment->runtime;
        if (cuda.parts().size() < 2 && runtime && runtime->version.begins_with(cuda)) {
            cuda = runtime->version;
        }
        Saying saying;
        saying.rung = Rung::Framework;
        saying.cuda = cuda.major_minor();
        saying.wanted = wanted_cuda(saying.cuda);
        saying.reason = named(*m_framework);
        saying.origin = printable(m_framework->source);
        return saying.wanted ? std::optional(std::move(saying)) : std::nullopt;
    }

    std::optional<Saying> runtime_says() {
        if (!m_situation.environment || !m_situation.environment->runtime ||
            m_situation.environment->runtime->version.empty()) {
            return std::nullopt;
        }
        const facts::CarriedRuntime& runtime = *m_situation.environment->runtime;
        Saying saying;
        saying.rung = Rung::Runtime;
        saying.cuda = runtime.version.major_minor();
        saying.wanted = wanted_cuda(saying.cuda);
        saying.reason = printable(runtime.package) + ' ' + runtime.version.str();
        saying.origin = printable(runtime.source);
        return saying.wanted ? std::optional(std::move(saying)) : std::nullopt;
    }

    void leave_silent(const facts::Toolkit& toolkit, const std::string& unknown) {
        m_choice.silent = m_situation.shown(toolkit.path);
        m_choice.warnings.push_back(fmt::format("{} does not answer: {} is not known; once it "
                                                "does: cudaenv reactivate",
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
            m_choice.warnings.push_back(
                fmt::format("CUDA_HOME={} and CUDA_PATH={} differ: the first counts, as for torch",
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
            m_choice.remedy = toolkit_remedy(m_situation, wanted);
            return;
        }
        if (matched->match == ToolkitMatch::SameMajor) {
            m_choice.warnings.push_back(fmt::format(
                "no nvcc {} here: nvcc {} in {} is of the same major, which torch accepts",
                wanted.version->major_minor(), matched->toolkit.version->str(),
                m_situation.shown(matched->toolkit.path)));
        }
        m_choice.toolkit = std::move(matched->toolkit);
        m_choice.match = matched->match;
        m_choice.environments_own = matched->environments_own;
    }

    // A stronger rung takes the place of what the user set.
    void warn_of_by_hand(const Saying& winner) {
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
            m_choice.warnings.push_back(
                winner.said + " goes before " + without_comma(by_hand_said()) +
                (m_choice.toolkit ? "" : ", which stays: no toolkit for the former is here"));
        } else if (!m_choice.toolkit) {
            m_choice.inherited = root_said() + " was " + set_before() +
                                 " and stays: no toolkit for CUDA " + printable(winner.cuda) +
                                 " is here";
        } else if (winner.rung == Rung::Framework || winner.rung == Rung::Runtime) {
            m_choice.inherited = root_said() + " was " + set_before() +
                                 " and is replaced; to keep it: "
                                 "cudaenv config set activate.keep_cuda_home true";
        }
    }

    void warn_where_toolkit_is_not(const Saying& winner, const Saying& loser) {
        const auto& version = m_by_hand->toolkit.version;
        if (version && !allows(*loser.wanted, *version)) {
            m_choice.warnings.push_back(winner.said + " goes before " + loser.said);
        }
    }

    static std::string without_comma(std::string text) {
        if (text.ends_with(',')) {
            text.pop_back();
        }
        return text;
    }

    // `cudaenv use` against the project's pin, the project's against the environment's.
    void warn_of_other_pins() {
        for (const PinOverride& change : m_situation.pins.overridden) {
            if (change.winner.pin.name == "cuda" && change.severity == Severity::Warning) {
                m_choice.warnings.push_back(change.text);
            }
        }
    }

    // Whether the choice fits what the environment's framework was built with; where a pin says the
    // same, both are reasons.
    void weigh_framework(const Saying& winner, const std::optional<Saying>& framework) {
        if (!framework || winner.rung > Rung::EnvironmentPin) {
            return;
        }
        const DottedVersion& cuda = *m_framework->cuda;
        const auto& nvcc = m_choice.toolkit ? m_choice.toolkit->version : std::nullopt;
        if (nvcc ? nvcc->begins_with(cuda) : winner.rung == Rung::ByHand) {
            // Of a toolkit that nothing is known of, nothing is claimed.
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
        std::string built = framework->reason;
        if (built.find(" with CUDA ") == std::string::npos) {
            built += ", built with CUDA " + cuda.str();
        }
        m_choice.warnings.push_back(winner.said + " goes before " + built);
    }

    // Minors live together; libraries of two majors in one process are where trouble begins.
    void warn_of_mixed_frameworks() {
        if (m_framework == nullptr) {
            return;
        }
        for (const facts::FrameworkBuild& other : m_situation.environment->frameworks) {
            if (!other.cpu && other.cuda && !other.cuda->empty() &&
                other.cuda->major() != m_framework->cuda->major()) {
                m_choice.warnings.push_back(named(*m_framework) + " and " + named(other) +
                                            " in one environment were built with different CUDAs");
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

} // namespace cudaenv::plan
