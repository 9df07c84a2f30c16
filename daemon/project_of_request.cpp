#include "daemon/project_of_request.hpp"

#include "base/json_bytes.hpp"
#include "daemon/environment_of_request.hpp"
#include "protocol/json_field.hpp"

#include <charconv>

namespace cudaenv::daemon {

Result<project::LoadedProject> project_of(const nlohmann::json& params,
                                          const protocol::Caller& caller) {
    Looks looks(caller);
    return project_of(params, caller, looks);
}

Result<project::LoadedProject> project_of(const nlohmann::json& params,
                                          const protocol::Caller& caller, Looks& looks) {
    project::LoadOptions options;
    CUDAENV_TRY(const auto meant, environment_of_request(params, caller, looks));
    options.prefix = meant.prefix;
    options.user = caller.uid;
    CUDAENV_TRY(options.config_files, looks.config(options.unknown));
    CUDAENV_TRY(auto loaded, project::load_project(caller.cwd, caller.environment, options));
    loaded.notes.insert(loaded.notes.end(), meant.notes.begin(), meant.notes.end());
    return loaded;
}

nlohmann::json pins_to_json(const pins::EffectivePins& pins) {
    return json_list(pins.pins, [](const pins::EffectivePin& pin) {
        return nlohmann::json{{"name", pin.pin.name},
                              {"constraint", pin.pin.constraint},
                              {"source", name_of(pin.source)},
                              {"origin", pin.pin.origin}};
    });
}

std::string Arguments::origin(std::size_t i) const {
    return "argument " + std::to_string(i < places.size() ? places[i] : static_cast<int>(i) + 1);
}

Result<Arguments> arguments_of(const nlohmann::json& params) {
    Arguments arguments;
    CUDAENV_TRY(arguments.words, protocol::strings_field(params, "arguments"));
    const auto places = params.find("places");
    if (places == params.end()) {
        return arguments;
    }
    if (!places->is_array()) {
        return bad_input("bad-field", "\"places\" is not a list of numbers");
    }
    for (const nlohmann::json& place : *places) {
        if (!place.is_number_integer()) {
            return bad_input("bad-field", "\"places\" is not a list of numbers");
        }
        arguments.places.push_back(place.get<int>());
    }
    return arguments;
}

Error with_places(Error error, const Arguments& arguments) {
    constexpr std::string_view k_start = "argument ";
    if (error.path.starts_with(k_start)) {
        std::size_t number = 0;
        const char* end = error.path.data() + error.path.size();
        const auto [stop, problem] =
            std::from_chars(error.path.data() + k_start.size(), end, number);
        if (problem == std::errc() && stop == end && number > 0) {
            error.path = arguments.origin(number - 1);
        }
    }
    return error;
}

} // namespace cudaenv::daemon
