#include "daemon/host_of_request.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/pin_meaning.hpp"
#include "daemon/project_of_request.hpp"

namespace cudaenv::daemon {

namespace {

nlohmann::json environment_to_json(const std::string& prefix, const protocol::Caller& caller) {
    if (prefix.empty()) {
        return nullptr;
    }
    const bool venv = caller.variable("VIRTUAL_ENV") == prefix;
    const bool conda = caller.variable("CONDA_PREFIX") == prefix;
    return {{"prefix", prefix},
            {"name", prefix.substr(prefix.rfind('/') + 1)},
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

nlohmann::json toolkit_to_json(const facts::Toolkit& toolkit, const facts::Host& host,
                               const std::string& why) {
    const Fit fit = fit_of(toolkit, host);
    return {{"path", toolkit.path},
            {"version", toolkit.version->str()},
            {"why", why},
            {"fits", {{"state", name_of(fit.state)}, {"text", fit.text}}}};
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

std::string next_step(const project::LoadedProject& loaded, const facts::Host& host) {
    if (!loaded.pins.pins.empty()) {
        return "cudaenv resolve torch torchvision";
    }
    if (const facts::Toolkit* toolkit = newest_fitting(host)) {
        return "cudaenv pin " + toolkit->version->major_minor();
    }
    return "cudaenv resolve torch";
}

Result<protocol::Reply> status(const nlohmann::json& params, const protocol::Caller& caller) {
    CUDAENV_TRY(const auto loaded, project_of(params, caller));
    CUDAENV_TRY(const auto host, host_of(params, caller));
    std::vector<std::string> notes = loaded.notes;
    for (const plan::PinOverride& lost : loaded.pins.overridden) {
        notes.push_back(lost.text);
    }
    nlohmann::json toolkit;
    if (const plan::EffectivePin* cuda = loaded.pins.find("cuda")) {
        if (const auto found = pinned_toolkit(host, cuda->pin.constraint)) {
            toolkit = toolkit_to_json(*found, host, "pinned by " + cuda->pin.origin);
        } else {
            notes.push_back("no toolkit with nvcc here for CUDA " + cuda->pin.constraint);
        }
    }
    nlohmann::json driver;
    if (host.driver) {
        driver = {{"version", host.driver->version ? nlohmann::json(host.driver->version->str())
                                                   : nlohmann::json()},
                  {"cuda", host.driver->cuda ? nlohmann::json(host.driver->cuda->str())
                                             : nlohmann::json()}};
    }
    return protocol::Reply{0,
                           {{"schema", "cudaenv.status/1"},
                            {"directory", caller.cwd},
                            {"project", project_to_json(loaded)},
                            {"pins", pins_to_json(loaded.pins)},
                            {"environment", environment_to_json(loaded.prefix, caller)},
                            {"driver", std::move(driver)},
                            {"driver_absent", host.driver_absent},
                            {"toolkit", std::move(toolkit)},
                            {"findings", nlohmann::json::array()},
                            {"notes", notes},
                            {"next", next_step(loaded, host)}}};
}

} // namespace

void add_status_methods(Service& service) {
    service.add("status", status);
}

} // namespace cudaenv::daemon
