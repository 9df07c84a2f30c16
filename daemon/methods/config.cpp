#include "base/json_bytes.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/project_of_request.hpp"
#include "host/project/project.hpp"

#include <utility>
#include <variant>

namespace cudaenv::daemon {

namespace {

// Lists are shown and sent around; only `config get` shows a channel's token.
void redact(nlohmann::json& value) {
    if (value.is_string()) {
        value = redact_secrets(value.get_ref<const std::string&>());
    } else if (value.is_array()) {
        for (nlohmann::json& element : value) {
            redact(element);
        }
    }
}

nlohmann::json setting_to_json(const pins::EffectiveSetting& setting) {
    return {{"key", setting.key},
            {"value",
             std::visit([](const auto& value) { return nlohmann::json(value); }, setting.value)},
            {"origin", setting.origin},
            {"locked", setting.locked}};
}

protocol::Reply config_reply(std::string_view action, nlohmann::json settings,
                             const project::ConfigPaths& paths,
                             const std::vector<trusted::SkippedFile>& skipped = {}) {
    return {0,
            {{"schema", "cudaenv.config/1"},
             {"action", action},
             {"settings", std::move(settings)},
             {"notes", each_of(skipped, &trusted::SkippedFile::text)},
             {"paths", {{"user", text_or_null(paths.user)}, {"system", paths.system}}}}};
}

Error wrong_count(const Arguments& arguments, const char* expected) {
    return bad_input("usage",
                     "config " + arguments.words.front() + " has the wrong number of arguments",
                     std::string("expected cudaenv config ") + expected)
        .value();
}

} // namespace

Result<protocol::Reply> config(const nlohmann::json& params, const protocol::Caller& caller,
                               Machine&, const Waiter&) {
    CUDAENV_TRY(const auto arguments, arguments_of(params));
    if (arguments.words.empty()) {
        return bad_input("usage", "no action is named", "expected list, get, set or path");
    }
    const std::string& action = arguments.words.front();
    const std::size_t count = arguments.words.size();
    const project::ConfigPaths paths = project::config_paths(caller.environment);
    if (action == "path") {
        if (count != 1) {
            return tl::unexpected(wrong_count(arguments, "path"));
        }
        return config_reply(action, nlohmann::json::array(), paths);
    }
    if (action == "set") {
        if (count < 3) {
            return tl::unexpected(wrong_count(arguments, "set KEY VALUE..."));
        }
        // Of a list: one word with commas, or a word each, as a shell quotes them.
        std::vector<std::string> words(arguments.words.begin() + 2, arguments.words.end());
        if (words.size() == 1) {
            const std::string all = std::exchange(words, {}).front();
            for (const std::string_view word : split(all, ',')) {
                words.emplace_back(trim(word));
            }
        }
        CUDAENV_TRY_VOID(
            project::change_config(paths, arguments.words[1], pins::ConfigAction::Set, words));
    } else if (action == "get" ? count != 2 : count != 1) {
        return tl::unexpected(wrong_count(arguments, action == "get" ? "get KEY" : "list"));
    }
    CUDAENV_TRY(const auto loaded, project_of(params, caller));
    nlohmann::json settings = nlohmann::json::array();
    for (const pins::EffectiveSetting& setting : loaded.config.settings()) {
        if (action == "list" || setting.key == arguments.words[1]) {
            settings.push_back(setting_to_json(setting));
            if (action != "get") {
                redact(settings.back()["value"]);
            }
        }
    }
    if (action == "get" && settings.empty()) {
        Error unknown = pins::unknown_setting(arguments.words[1]);
        unknown.path = arguments.origin(1);
        return tl::unexpected(std::move(unknown));
    }
    return config_reply(action, std::move(settings), paths, loaded.config_files.skipped);
}

} // namespace cudaenv::daemon
