#include "base/json_bytes.hpp"
#include "base/shell_word.hpp"
#include "daemon/environment_of_request.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/pin_meaning.hpp"
#include "daemon/project_of_request.hpp"
#include "host/project/pin_change.hpp"
#include "protocol/json_field.hpp"
#include "solver/pins/pins.hpp"

namespace cudaenv::daemon {

namespace {

nlohmann::json lines_to_json(const std::vector<knowledge::CudaFit>& lines) {
    return json_list(lines, fit_to_json);
}

nlohmann::json pin_object() {
    return {{"schema", "cudaenv.pin/1"},
            {"file", nullptr},
            {"created", false},
            {"written", false},
            {"changes", nlohmann::json::array()},
            {"pins", nlohmann::json::array()},
            {"meaning", nlohmann::json::array()},
            {"possible", true},
            {"notes", nlohmann::json::array()},
            {"next", nullptr}};
}

Result<protocol::Reply> show_pins(const nlohmann::json& params, const protocol::Caller& caller) {
    CUDAENV_TRY(const auto loaded, project_of(params, caller));
    nlohmann::json object = pin_object();
    object["file"] = text_or_null(loaded.search.found ? loaded.search.found->file : std::string());
    object["pins"] = pins_to_json(loaded.pins);
    std::vector<std::string> notes = loaded.notes;
    for (const pins::PinOverride& lost : loaded.pins.overridden) {
        notes.push_back(lost.text);
    }
    object["notes"] = notes;
    object["next"] =
        loaded.pins.pins.empty() ? "cudaenv pin cuda=VERSION" : "cudaenv resolve torch torchvision";
    return protocol::Reply{0, std::move(object)};
}

Result<project::PinTarget> target_of(const nlohmann::json& params, const protocol::Caller& caller) {
    CUDAENV_TRY(const bool here, protocol::bool_field(params, "here", false));
    CUDAENV_TRY(const bool global, protocol::bool_field(params, "global", false));
    const bool environment = names_environment(params);
    if (static_cast<int>(here) + static_cast<int>(global) + static_cast<int>(environment) > 1) {
        return bad_input("two-places", "more than one place for the pins is named",
                         "expected one of --here, --global, --prefix and --name");
    }
    project::PinTarget target;
    target.user = caller.uid;
    if (environment) {
        CUDAENV_TRY(auto meant, environment_of_request(params, caller));
        target.prefix = std::move(meant.prefix);
    }
    target.place = here          ? project::PinPlace::Here
                   : global      ? project::PinPlace::Global
                   : environment ? project::PinPlace::Environment
                                 : project::PinPlace::Nearest;
    return target;
}

Result<project::PinChange> change(const nlohmann::json& params, const protocol::Caller& caller,
                                  const Arguments& arguments, project::PinAction action) {
    CUDAENV_TRY(const auto target, target_of(params, caller));
    auto changed =
        project::change_pins(target, caller.cwd, caller.environment, arguments.words, action);
    if (!changed) {
        return tl::unexpected(with_places(std::move(changed).error(), arguments));
    }
    return changed;
}

nlohmann::json changed_object(const project::PinChange& change) {
    nlohmann::json object = pin_object();
    object["file"] = text_or_null(change.path);
    object["created"] = change.created;
    object["written"] = change.written;
    object["notes"] = change.notes;
    for (const project::PinChangeItem& item : change.items) {
        object["changes"].push_back({{"name", item.name},
                                     {"before", value_or_null(item.before)},
                                     {"after", value_or_null(item.after)}});
    }
    return object;
}

// What the pins mean in the caller's shell.
activation::Situation situation_of(const nlohmann::json& params, const protocol::Caller& caller,
                                   const project::LoadedProject& loaded, facts::Host host,
                                   Machine& machine) {
    activation::Situation situation;
    situation.base = patch::undo(caller.environment);
    situation.host = std::move(host);
    situation.environment = machine.environment(loaded.prefix);
    situation.environment_named = names_environment(params);
    situation.pins = loaded.pins;
    situation.config = loaded.config;
    return situation;
}

// Which file the request edits, as words of a command.
std::string place_words(const nlohmann::json& params, const std::string& prefix) {
    if (names_environment(params)) {
        return "-p " + shell_word(prefix) + ' ';
    }
    return params.value("global", false) ? "--global "
           : params.value("here", false) ? "--here "
                                         : "";
}

std::string next_step(const PinMeaning& meaning, const nlohmann::json& params,
                      const std::string& prefix) {
    const auto place = place_words(params, prefix);
    if (!meaning.instead.empty()) {
        return "cudaenv pin " + place + meaning.instead;
    }
    if (!meaning.to_remove.empty()) {
        return "cudaenv unpin " + place + meaning.to_remove;
    }
    if (!meaning.possible) {
        return "cudaenv host";
    }
    return meaning.nvcc_command.empty() ? "cudaenv resolve torch torchvision"
                                        : meaning.nvcc_command;
}

} // namespace

Result<protocol::Reply> pin(const nlohmann::json& params, const protocol::Caller& caller,
                            Machine& machine, const Waiter&) {
    CUDAENV_TRY(const auto arguments, arguments_of(params));
    if (arguments.words.empty()) {
        return show_pins(params, caller);
    }
    CUDAENV_TRY(const bool strict, protocol::bool_field(params, "strict", false));
    // The host first: where it cannot be read (--host FILE), nothing is written.
    Looks looks(caller);
    CUDAENV_TRY(auto host, host_of(params, caller, looks));
    for (const std::string& word : arguments.words) {
        for (const auto& pin : pins::parse_pin(word, {}).value_or(std::vector<pins::Pin>{})) {
            if (pin.name == "cuda") {
                CUDAENV_TRY_VOID(check_release(pin.constraint, [&] { return host.toolkits; }));
            }
        }
    }
    CUDAENV_TRY(const auto changed, change(params, caller, arguments, project::PinAction::Set));
    nlohmann::json object = changed_object(changed);
    CUDAENV_TRY(const auto loaded, project_of(params, caller)); // as it is now
    CUDAENV_TRY(const auto meaning,
                meaning_of(situation_of(params, caller, loaded, std::move(host), machine)));
    object["pins"] = pins_to_json(loaded.pins);
    for (const pins::PinOverride& lost : loaded.pins.overridden) {
        if (lost.severity == facts::Severity::Warning) {
            object["notes"].push_back(lost.text);
        }
    }
    object["meaning"] = lines_to_json(meaning.lines);
    object["possible"] = meaning.possible;
    object["next"] = next_step(meaning, params, loaded.prefix);
    return protocol::Reply{strict && !meaning.possible ? 1 : 0, std::move(object)};
}

Result<protocol::Reply> unpin(const nlohmann::json& params, const protocol::Caller& caller,
                              Machine&, const Waiter&) {
    CUDAENV_TRY(const auto arguments, arguments_of(params));
    CUDAENV_TRY(const auto changed, change(params, caller, arguments, project::PinAction::Remove));
    nlohmann::json object = changed_object(changed);
    CUDAENV_TRY(const auto loaded, project_of(params, caller));
    object["pins"] = pins_to_json(loaded.pins);
    return protocol::Reply{0, std::move(object)};
}

// Asked by `cudaenv use`, which writes nothing: whether there is such a CUDA.
Result<protocol::Reply> release(const nlohmann::json& params, const protocol::Caller& caller,
                                Machine&, const Waiter&) {
    CUDAENV_TRY(const auto cuda, protocol::string_field(params, "cuda"));
    CUDAENV_TRY_VOID(check_release(cuda.value_or(""), [&] {
        const auto host = host_of(params, caller);
        return host ? host->toolkits : std::vector<facts::Toolkit>{};
    }));
    return protocol::Reply{0, nlohmann::json::object()};
}

} // namespace cudaenv::daemon
