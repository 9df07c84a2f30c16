#include "base/json_bytes.hpp"
#include "base/shell_word.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/check/examination.hpp"
#include "daemon/check/finding_choice.hpp"
#include "daemon/environment_of_request.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "daemon/project_of_request.hpp"
#include "host/names/environment_names.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "shellhooks/patch/journal_compare.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <algorithm>

namespace cudaenv::daemon {

namespace {

nlohmann::json environment_to_json(const MeantEnvironment& environment,
                                   const protocol::Caller& caller, Looks& looks) {
    const std::string& prefix = environment.prefix;
    if (prefix.empty()) {
        return nullptr;
    }
    const names::PrefixKind kind = names::kind_of_prefix(looks.disk, prefix);
    return {{"prefix", protocol::bytes_to_json(prefix)},
            {"name", protocol::bytes_to_json(shown_name_of(prefix, caller, looks))},
            {"kind", kind == names::PrefixKind::Venv    ? "venv"
                     : kind == names::PrefixKind::Conda ? "conda"
                                                        : "other"},
            {"active", prefix == project::active_prefix(caller.environment)},
            {"notes", protocol::bytes_to_json(environment.notes)}};
}

nlohmann::json project_to_json(const project::LoadedProject& loaded) {
    if (!loaded.search.found) {
        return nullptr;
    }
    const project::FoundProject& found = *loaded.search.found;
    return {
        {"directory", found.directory},
        {"file", found.file},
        {"local_file", found.local_text ? nlohmann::json(found.local_file()) : nlohmann::json()}};
}

nlohmann::json toolkit_to_json(const activation::CudaChoice& choice, const facts::Host& host) {
    if (!choice.toolkit) {
        return nullptr;
    }
    const auto& version = choice.toolkit->version;
    return {{"path", protocol::bytes_to_json(choice.toolkit->path)},
            {"version", version ? version->str() : "unknown"},
            {"why", choice.reason},
            {"fits", fit_to_json(knowledge::toolkit_fit(*choice.toolkit, host))}};
}

nlohmann::json cuda_to_json(const activation::CudaChoice& choice) {
    if (choice.none()) {
        return nullptr;
    }
    return {{"version", choice.cuda},
            {"rung", activation::name_of(*choice.rung)},
            {"reason", protocol::bytes_to_json(choice.reason)},
            {"origin", protocol::bytes_to_json(choice.origin)}};
}

// Whether the shell already has what is decided for it.
bool is_applied(const Activation& activation) {
    return std::ranges::all_of(activation.changes, [](const patch::Change& change) {
        return change.name == patch::k_journal_variable;
    });
}

// The newest toolkit that nothing speaks against: what a first pin could be. None without a GPU.
const facts::Toolkit* newest_fitting(const facts::Host& host) {
    const facts::Toolkit* newest = nullptr;
    for (const facts::Toolkit& toolkit : host.toolkits) {
        if (!host.gpus.empty() && knowledge::can_compile(toolkit) &&
            knowledge::toolkit_fit(toolkit, host).verdict != knowledge::Verdict::Fails &&
            (newest == nullptr || *toolkit.version > *newest->version)) {
            newest = &toolkit;
        }
    }
    return newest;
}

// The shell has the hook: it says so where it calls the program, or has its journal.
bool has_hook(const protocol::Caller& caller) {
    return caller.variable("__cudaenv_found_home") || caller.variable(patch::k_journal_variable);
}

std::string step_without_hook(const protocol::Caller& caller) {
    const std::string path = caller.variable("SHELL").value_or("");
    return "cudaenv init " + std::string(hooks::hooked_shell_at(path).name);
}

// Where what is chosen was never released: the same choice with what was.
std::string step_to_nearest(const Activation& activation) {
    const std::string& nearest = activation.choice.nearest;
    const auto* const pin = activation.project.pins.find("cuda");
    switch (pin == nullptr ? pins::PinSource::Shell : pin->source) {
    case pins::PinSource::Project:
        return "cudaenv pin " + nearest;
    case pins::PinSource::Environment:
        return "cudaenv pin -p " + shell_word(activation.project.prefix) + ' ' + nearest;
    case pins::PinSource::User:
        return "cudaenv pin --global " + nearest;
    case pins::PinSource::Shell:
    case pins::PinSource::ProjectLocal: // edited by hand alone
    case pins::PinSource::System:
        break;
    }
    return "cudaenv use " + nearest;
}

std::string next_step(const Activation& activation, const facts::Host& host,
                      const protocol::Caller& caller) {
    const std::string& prefix = activation.project.prefix;
    const bool active = prefix == project::active_prefix(caller.environment);
    if (!activation.disabled && !activation.choice.none()) {
        if (!activation.choice.toolkit && !activation.choice.remedy.empty()) {
            return activation.choice.remedy;
        }
        if (!activation.choice.nearest.empty()) {
            return step_to_nearest(activation);
        }
        if (!activation.choice.silent.empty()) {
            return "cudaenv reactivate";
        }
        if (!active) {
            return "cudaenv run -p " + shell_word(prefix) + " COMMAND";
        }
        if (!is_applied(activation) && !has_hook(caller)) {
            return step_without_hook(caller);
        }
    }
    if (!activation.project.pins.pins.empty()) {
        return "cudaenv resolve torch torchvision";
    }
    // The environment says which CUDA it is: nothing is left to pin.
    if (!activation.choice.none()) {
        return host.gpus.empty() ? "cudaenv check" : "cudaenv probe";
    }
    // A framework built without CUDA: a pin would not change that.
    if (activation.situation.environment && !activation.situation.environment->frameworks.empty()) {
        return "cudaenv check";
    }
    if (const facts::Toolkit* toolkit = newest_fitting(host)) {
        return "cudaenv pin " + toolkit->version->major_minor();
    }
    return "cudaenv resolve torch";
}

// `sudo -E` keeps CUDA_HOME and the journal, and resets PATH.
std::string lost_note(const protocol::Caller& caller) {
    const auto lost = patch::lost_entries(caller.environment);
    if (lost.empty()) {
        return {};
    }
    return lost.front().list + " no longer has " + lost.front().entry +
           ", which cudaenv added: something reset it, as sudo does with PATH; `cudaenv run "
           "COMMAND` sets it for one command";
}

// What the environment's records and this machine prove, errors first; `cudaenv check` looks at
// the files too.
std::vector<rules::CheckFinding> chosen_findings(const Examination& examination,
                                                 const Activation& activation) {
    const auto& ignored = activation.project.config.ignored_findings();
    auto findings = examination.findings();
    std::erase_if(findings, [&](const rules::CheckFinding& found) {
        return found.finding.severity == facts::Severity::Note ||
               std::ranges::find(ignored, found.finding.code) != ignored.end();
    });
    return findings;
}

nlohmann::json findings_to_json(const std::vector<rules::CheckFinding>& findings,
                                const facts::Inventory& inventory) {
    ListRoom room;
    return json_list(findings, [&](const rules::CheckFinding& found) {
        return to_json(found, inventory, room);
    });
}

bool has_error(const std::vector<rules::CheckFinding>& findings) {
    return std::ranges::any_of(findings, [](const rules::CheckFinding& found) {
        return found.finding.severity == facts::Severity::Error;
    });
}

} // namespace

Result<protocol::Reply> status(const nlohmann::json& params, const protocol::Caller& caller,
                               Machine& machine, const Waiter&) {
    Looks looks(caller);
    // Refuses what the prompt notes.
    CUDAENV_TRY(const auto loaded, project_of(params, caller, looks));
    CUDAENV_TRY(const auto meant, environment_of_request(params, caller, looks));
    CUDAENV_TRY(const auto host, host_of(params, caller, looks));
    CUDAENV_TRY(const auto activation, activation_of(params, caller, machine, looks));
    std::vector<std::string> notes = loaded.notes;
    for (const pins::PinOverride& lost : loaded.pins.overridden) {
        notes.push_back(lost.text);
    }
    for (const auto* lines : {&activation.choice.warnings, &activation.composition.warnings,
                              &activation.composition.notes}) {
        notes.insert(notes.end(), lines->begin(), lines->end());
    }
    if (!activation.choice.inherited.empty()) {
        notes.push_back(activation.choice.inherited);
    }
    if (activation.situation.environment) {
        for (const facts::FrameworkBuild& build : activation.situation.environment->frameworks) {
            if (build.cpu && !build.cuda) {
                notes.push_back(build.name + ' ' + build.version +
                                " is a CPU build: it uses no GPU");
            }
        }
    }
    if (activation.disabled) {
        notes.emplace_back("CUDAENV_DISABLE is set: nothing is activated in this shell");
    } else if (!activation.choice.none() && !activation.choice.toolkit &&
               activation.choice.silent.empty() && activation.choice.nearest.empty()) {
        notes.push_back("no toolkit with nvcc here for CUDA " + activation.choice.cuda);
    }
    if (std::string lost = lost_note(caller); !lost.empty()) {
        notes.push_back(std::move(lost));
    }
    nlohmann::json driver;
    if (host.driver) {
        driver = {{"version", value_or_null(host.driver->version)},
                  {"cuda", value_or_null(host.driver->cuda)}};
    }
    nlohmann::json findings = nlohmann::json::array();
    std::string next;
    if (activation.situation.environment) {
        const bool named = names_environment(params);
        const auto examination =
            Examination::of(activation, host, named, caller, machine.inventories());
        if (examination) {
            const auto found = chosen_findings(**examination, activation);
            findings = findings_to_json(found, (*examination)->inventory());
            if (std::ranges::any_of(found, [](const rules::CheckFinding& one) {
                    return one.finding.code == "CE140";
                })) {
                std::erase(notes, activation.choice.framework_misfit); // the same fact
            }
            if (has_error(found)) {
                next = "cudaenv check" +
                       (named ? " -p " + shell_word(activation.project.prefix) : std::string());
            }
        }
    }
    if (next.empty()) {
        next = next_step(activation, host, caller);
    }
    nlohmann::json note_texts = nlohmann::json::array();
    for (const std::string& note : notes) {
        auto text = protocol::bytes_to_json(note);
        if (std::ranges::find(note_texts, text) == note_texts.end()) {
            note_texts.push_back(std::move(text));
        }
    }
    return protocol::Reply{
        0,
        {{"schema", "cudaenv.status/1"},
         {"directory", caller.cwd},
         {"project", project_to_json(loaded)},
         {"pins", pins_to_json(loaded.pins)},
         {"environment", environment_to_json(meant, caller, looks)},
         {"driver", std::move(driver)},
         {"driver_absent", host.driver_absent},
         {"cuda", cuda_to_json(activation.choice)},
         {"toolkit", toolkit_to_json(activation.choice, host)},
         {"applied", is_applied(activation)},
         {"probe", kept_to_json(kept_verdict({loaded, activation.situation.base, caller}, looks))},
         {"findings", std::move(findings)},
         {"notes", std::move(note_texts)},
         {"next", std::move(next)}}};
}

} // namespace cudaenv::daemon
