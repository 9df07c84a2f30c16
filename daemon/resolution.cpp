#include "daemon/resolution.hpp"

#include "base/text.hpp"
#include "daemon/environment_of_request.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/project_of_request.hpp"
#include "host/channels/channel_source.hpp"
#include "host/examine.hpp"
#include "protocol/json_field.hpp"
#include "solver/facts/visible.hpp"
#include "solver/plan/pins.hpp"
#include "solver/plan/resolve.hpp"

#include <filesystem>
#include <memory>

namespace cudaenv::daemon {

namespace {

using OpenChannels = std::vector<std::unique_ptr<plan::Channel>>;

// A directory of the caller's, where the word is one; else the word itself.
std::string channel_place(const std::string& word, const protocol::Caller& caller) {
    if (word.find("://") != std::string::npos) {
        return word;
    }
    std::error_code failed;
    std::string path = absolute_for(caller, word);
    const bool is_path = word.find('/') != std::string::npos || word.starts_with('.');
    return is_path || std::filesystem::is_directory(path, failed) ? path : word;
}

channels::ChannelOptions channel_options(const protocol::Caller& caller, const facts::Host& host) {
    channels::ChannelOptions options;
    const std::string cache =
        host::default_cache_directory(caller.environment, caller.variable("HOME").value_or(""));
    if (!cache.empty()) {
        options.cache_directory = cache + "/channels";
    }
    if (host.machine == "aarch64") {
        options.platform_subdir = "linux-aarch64";
    }
    return options;
}

// Those of the command line, else those of the user's or the administrator's configuration. A
// project's own channels wait for `cudaenv trust` (decision 13).
Result<OpenChannels> open_channels(const nlohmann::json& params, const protocol::Caller& caller,
                                   const facts::Host& host, const plan::Config& config,
                                   bool from_project, std::vector<std::string>& notes) {
    const channels::ChannelOptions options = channel_options(caller, host);
    OpenChannels open;
    CUDAENV_TRY(const auto asked, protocol::strings_field(params, "channel"));
    for (const std::string& word : asked) {
        CUDAENV_TRY(auto channel, channels::open_channel(channel_place(word, caller), options));
        open.push_back(std::move(channel));
    }
    if (!asked.empty()) {
        return open;
    }
    if (from_project) {
        notes.emplace_back("the project's channels are not used: only -c and your own "
                           "configuration name channels");
        return open;
    }
    for (const std::string& word : config.channels()) {
        auto channel = channels::open_channel(channel_place(word, caller), options);
        if (channel) {
            open.push_back(*std::move(channel));
        } else if (channel.error().code == "channel-not-local") {
            notes.push_back("channel " + redact_secrets(word) +
                            " is on the network and is not used: the built-in catalogue answers");
        } else {
            return tl::unexpected(std::move(channel).error());
        }
    }
    return open;
}

bool set_by_project(const project::LoadedProject& project, std::string_view key) {
    const auto sets = [&](const std::optional<plan::ProjectFile>& file) {
        return file && plan::find_setting(file->settings, key) != nullptr;
    };
    const plan::EffectiveSetting* setting = project.config.find(key);
    return (sets(project.project) || sets(project.local)) &&
           (setting == nullptr || !setting->locked);
}

// `--host`, `--driver` and `--gpu` as they were given.
Result<std::vector<std::string>> host_words_of(const nlohmann::json& params) {
    std::vector<std::string> words;
    for (const char* name : {"host", "driver"}) {
        CUDAENV_TRY(const auto value, protocol::string_field(params, name));
        if (value) {
            words.insert(words.end(), {std::string("--") + name, *value});
        }
    }
    CUDAENV_TRY(const auto gpus, protocol::strings_field(params, "gpu"));
    for (const std::string& gpu : gpus) {
        words.insert(words.end(), {"--gpu", gpu});
    }
    return words;
}

Result<plan::Request> request_of(const nlohmann::json& params,
                                 const project::LoadedProject& project) {
    plan::Request request;
    request.pins = project.pins.list();
    CUDAENV_TRY(const auto arguments, arguments_of(params));
    for (std::size_t i = 0; i < arguments.words.size(); ++i) {
        request.specs.push_back({arguments.words[i], arguments.origin(i)});
    }
    for (const char* name : {"cuda", "python"}) {
        CUDAENV_TRY(const auto wanted, protocol::string_field(params, name));
        if (wanted) {
            CUDAENV_TRY_VOID(override_pin(request.pins, name, *wanted, std::string("--") + name));
        }
    }
    CUDAENV_TRY(const auto purpose, protocol::string_field(params, "for"));
    request.purpose = !purpose              ? project.config.purpose()
                      : *purpose == "build" ? plan::Purpose::Build
                                            : plan::Purpose::Run;
    CUDAENV_TRY(const auto manager, protocol::string_field(params, "manager"));
    request.manager = !manager || *manager == "auto" ? plan::ManagerChoice::Auto
                      : *manager == "conda"          ? plan::ManagerChoice::Conda
                                                     : plan::ManagerChoice::Pip;
    CUDAENV_TRY(request.cpu, protocol::bool_field(params, "cpu", false));
    CUDAENV_TRY(request.strict_host, protocol::bool_field(params, "strict_host", false));
    request.preferred = installed_in(project.prefix);
    CUDAENV_TRY(request.host_words, host_words_of(params));
    return request;
}

} // namespace

Result<void> override_pin(std::vector<plan::Pin>& pins, const std::string& name,
                          const std::string& constraint, const std::string& origin) {
    auto read = plan::PinConstraint::parse(constraint);
    if (!read) {
        read.error().path = origin;
        return tl::unexpected(std::move(read).error());
    }
    std::erase_if(pins, [&](const plan::Pin& pin) { return pin.name == name; });
    pins.push_back({name, read->str(), origin});
    return {};
}

Result<Resolution> resolve_for(const nlohmann::json& params, const protocol::Caller& caller,
                               bool tell_choices) {
    Resolution resolution;
    CUDAENV_TRY(const auto project, project_of(params, caller));
    resolution.notes = project.notes;
    CUDAENV_TRY(auto request, request_of(params, project));
    request.tell_choices = tell_choices;
    CUDAENV_TRY(auto host, host_of(params, caller));
    const auto visible = caller.variable("CUDA_VISIBLE_DEVICES");
    const bool this_machine =
        request.host_words.empty() && caller.variable("CUDAENV_HOST").value_or("").empty();
    if (visible && !host.gpus.empty() && this_machine) {
        host = facts::narrowed_to_visible(std::move(host), *visible);
        resolution.notes.push_back("GPUs are those of CUDA_VISIBLE_DEVICES=" + *visible);
    }
    CUDAENV_TRY(const auto open,
                open_channels(params, caller, host, project.config,
                              set_by_project(project, "resolve.channels"), resolution.notes));
    std::vector<const plan::Channel*> channels;
    for (const auto& channel : open) {
        channels.push_back(channel.get());
    }
    CUDAENV_TRY(resolution.outcome, plan::resolve(request, host, channels));
    resolution.driver = host.driver;
    return resolution;
}

} // namespace cudaenv::daemon
