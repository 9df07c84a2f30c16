#include "daemon/activation/activation.hpp"
#include "daemon/check/examination.hpp"
#include "daemon/check/finding_json.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "daemon/project_of_request.hpp"
#include "daemon/toolkit_fit.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>

namespace cudaenv::daemon {

namespace {

nlohmann::json environment_to_json(const std::string& prefix, const protocol::Caller& caller) {
    if (prefix.empty()) {
        return nullptr;
    }
    const bool venv = caller.variable("VIRTUAL_ENV") == prefix;
    const bool conda = caller.variable("CONDA_PREFIX") == prefix;
    return {{"prefix", protocol::bytes_to_json(prefix)},
            {"name", protocol::bytes_to_json(prefix.substr(prefix.rfind('/') + 1))},
            {"kind", venv    ? "venv"
                     : conda ? "conda"
                             : "other"},
            {"active", venv || conda}};
}

nlohmann::json project_to_json(const project::LoadedProject& loaded) {
    if (!loaded.search.found) {
        return nullptr;
    }
    const auto& local = loaded.search.found->local_file;
    return {{"directory", loaded.search.found->directory},
            {"file", loaded.search.found->file},
            {"local_file", local ? nlohmann::json(*local) : nlohmann::json()}};
}

nlohmann::json toolkit_to_json(const plan::CudaChoice& choice, const facts::Host& host) {
    if (!choice.toolkit) {
        return nullptr;
    }
    const Fit fit = fit_of(*choice.toolkit, host);
    const auto& version = choice.toolkit->version;
    return {{"path", protocol::bytes_to_json(choice.toolkit->path)},
            {"version", version ? version->str() : "unknown"},
            {"why", choice.reason},
            {"fits", {{"state", name_of(fit.state)}, {"text", fit.text}}}};
}

nlohmann::json cuda_to_json(const plan::CudaChoice& choice) {
    if (choice.none()) {
        return nullptr;
    }
    return {{"version", choice.cuda},
            {"rung", plan::name_of(*choice.rung)},
            {"reason", protocol::bytes_to_json(choice.reason)},
            {"origin", protocol::bytes_to_json(choice.origin)}};
}

// Whether the shell already has what is decided for it.
bool is_applied(const Activation& activation) {
    return std::ranges::all_of(activation.changes, [](const plan::Change& change) {
        return change.name == plan::k_journal_variable;
    });
}

// The newest toolkit that nothing speaks against: what a first pin could be.
const facts::Toolkit* newest_fitting(const facts::Host& host) {
    const facts::Toolkit* newest = nullptr;
    for (const facts::Toolkit& toolkit : host.toolkits) {
        const FitState state = fit_of(toolkit, host).state;
        if (toolkit.version && toolkit.nvcc && state != FitState::Breaks &&
            (newest == nullptr || *toolkit.version > *newest->version)) {
            newest = &toolkit;
        }
    }
    return newest;
}

std::string next_step(const Activation& activation, const facts::Host& host,
                      const protocol::Caller& caller) {
    if (!activation.disabled && !activation.choice.none()) {
        if (!activation.choice.toolkit && !activation.choice.remedy.empty()) {
            return activation.choice.remedy;
        }
        if (!is_applied(activation)) {
            const std::string shell = caller.variable("SHELL").value_or("");
            const auto name = shell.substr(shell.rfind('/') + 1);
            return "cudaenv init " + (name.empty() ? "bash" : name);
        }
    }
    if (!activation.project.pins.pins.empty()) {
        return "cudaenv resolve torch torchvision";
    }
    if (const facts::Toolkit* toolkit = newest_fitting(host)) {
        return "cudaenv pin " + toolkit->version->major_minor();
    }
    return "cudaenv resolve torch";
}

// What the environment's records alone prove; `cudaenv check` looks further.
nlohmann::json findings_of(const Activation& activation, const protocol::Caller& caller,
                           Machine& machine) {
    nlohmann::json findings = nlohmann::json::array();
    if (!activation.situation.environment) {
        return findings;
    }
    const auto examination =
        Examination::of(activation.project.prefix, caller, machine.inventories());
    if (!examination) {
        return findings;
    }
    const auto& ignored = activation.project.config.ignored_findings();
    ListRoom room;
    for (const plan::CheckFinding& found : (*examination)->findings()) {
        if (found.finding.severity != plan::Severity::Note &&
            std::ranges::find(ignored, found.finding.code) == ignored.end()) {
            findings.push_back(to_json(found, (*examination)->inventory(), room));
        }
    }
    return findings;
}

Result<protocol::Reply> status(const nlohmann::json& params, const protocol::Caller& caller,
                               Machine& machine) {
    CUDAENV_TRY(const auto loaded, project_of(params, caller)); // refuses what the prompt notes
    Looks looks(caller);
    CUDAENV_TRY(const auto host, host_of(params, caller, looks));
    CUDAENV_TRY(const auto activation, activation_of(params, caller, machine, looks));
    std::vector<std::string> notes = loaded.notes;
    for (const plan::PinOverride& lost : loaded.pins.overridden) {
        notes.push_back(lost.text);
    }
    for (const auto* lines : {&activation.choice.warnings, &activation.composition.warnings,
                              &activation.composition.notes}) {
        notes.insert(notes.end(), lines->begin(), lines->end());
    }
    if (activation.disabled) {
        notes.emplace_back("CUDAENV_DISABLE is set: nothing is activated in this shell");
    } else if (!activation.choice.none() && !activation.choice.toolkit) {
        notes.push_back("no toolkit with nvcc here for CUDA " + activation.choice.cuda);
    }
    nlohmann::json driver;
    if (host.driver) {
        driver = {{"version", host.driver->version ? nlohmann::json(host.driver->version->str())
                                                   : nlohmann::json()},
                  {"cuda", host.driver->cuda ? nlohmann::json(host.driver->cuda->str())
                                             : nlohmann::json()}};
    }
    nlohmann::json note_texts = nlohmann::json::array();
    for (const std::string& note : notes) {
        note_texts.push_back(protocol::bytes_to_json(note));
    }
    return protocol::Reply{
        0,
        {{"schema", "cudaenv.status/1"},
         {"directory", caller.cwd},
         {"project", project_to_json(loaded)},
         {"pins", pins_to_json(loaded.pins)},
         {"environment", environment_to_json(loaded.prefix, caller)},
         {"driver", std::move(driver)},
         {"driver_absent", host.driver_absent},
         {"cuda", cuda_to_json(activation.choice)},
         {"toolkit", toolkit_to_json(activation.choice, host)},
         {"applied", is_applied(activation)},
         {"probe", kept_to_json(kept_verdict({loaded, activation.situation.base, caller}, looks))},
         {"findings", findings_of(activation, caller, machine)},
         {"notes", std::move(note_texts)},
         {"next", next_step(activation, host, caller)}}};
}

} // namespace

void add_status_methods(Service& service, const std::shared_ptr<Machine>& machine) {
    service.add("status", [machine](const nlohmann::json& params, const protocol::Caller& caller) {
        return status(params, caller, *machine);
    });
}

} // namespace cudaenv::daemon
