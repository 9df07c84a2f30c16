#include "daemon/resolution.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "daemon/environment_of_request.hpp"
#include "daemon/files_of_request.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/known_environment.hpp"
#include "daemon/project_of_request.hpp"
#include "host/channels/channel_source.hpp"
#include "host/environments/environments.hpp"
#include "host/examine.hpp"
#include "protocol/json_field.hpp"
#include "solver/facts/visible.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/resolve.hpp"
#include "solver/resolve/spec_reader.hpp"
#include "solver/specs/cuda_label.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace cudaenv::daemon {

namespace {

using OpenChannels = std::vector<std::unique_ptr<resolve::Channel>>;

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

// Those of the command line, else directories that a file of the command line names, else those of
// the user's or the administrator's configuration. A project's own channels wait for `cudaenv
// trust` (decision 13).
Result<OpenChannels> open_channels(const nlohmann::json& params, const protocol::Caller& caller,
                                   const facts::Host& host, const pins::Config& config,
                                   bool from_project, const FilesOfRequest& files,
                                   std::vector<std::string>& notes) {
    const channels::ChannelOptions options = channel_options(caller, host);
    OpenChannels open;
    CUDAENV_TRY(const auto asked, protocol::strings_field(params, "channel"));
    std::vector<std::string> elsewhere;
    for (const std::string& word : asked) {
        auto channel = channels::open_channel(channel_place(word, caller), options);
        // The channels that the built-in tables speak of, where no other is named.
        if (!channel && channel.error().code == "channel-not-local" &&
            knowledge::has_channel(word)) {
            elsewhere.push_back(word);
            continue;
        }
        CUDAENV_TRY(auto opened, std::move(channel));
        open.push_back(std::move(opened));
    }
    if (!elsewhere.empty() && !open.empty()) {
        return bad_input("channel-not-local",
                         fmt::format("channel {} is on the network; only channels on this machine "
                                     "can be read",
                                     elsewhere.front()),
                         "name only channels on this machine");
    }
    if (!elsewhere.empty()) {
        notes.push_back(
            fmt::format("the built-in tables answer for {}: channels on the network are "
                        "not read yet",
                        join(elsewhere, ", ")));
    }
    if (!asked.empty()) {
        return open;
    }
    for (const std::string& directory : local_channels_of(files, caller, notes)) {
        CUDAENV_TRY(auto channel, channels::open_channel(directory, options));
        open.push_back(std::move(channel));
    }
    if (!open.empty()) {
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
                            " is on the network and is not used: "
                            "the answer comes from the built-in catalogue");
        } else {
            return tl::unexpected(std::move(channel).error());
        }
    }
    return open;
}

bool set_by_project(const project::LoadedProject& project, std::string_view key) {
    const auto sets = [&](const std::optional<pins::ProjectFile>& file) {
        return file && pins::find_setting(file->settings, key) != nullptr;
    };
    const pins::EffectiveSetting* setting = project.config.find(key);
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

// The vendors' wheel indexes are in the tables: one of them says which CUDA. Others are not read
// yet.
Result<void> take_index(const std::string& index, resolve::Request& request) {
    const std::string_view path = without_end_slashes(index);
    CUDAENV_TRY_VOID(resolve::check_is_for_nvidia(path));
    const std::string tag(path.substr(path.rfind('/') + 1));
    const bool is_pytorchs = index.find("download.pytorch.org/whl") != std::string::npos;
    const auto cuda = tag.starts_with("cu") ? specs::cuda_in(tag) : std::nullopt;
    if (is_pytorchs && cuda) {
        return override_pin(request.pins, "cuda", cuda->str(), "--index");
    }
    if (is_pytorchs && tag == "cpu") {
        request.cpu = true;
        return {};
    }
    if (is_pytorchs && (tag == "whl" || tag.starts_with("torch_stable"))) {
        return {}; // all of them
    }
    return bad_input("index-not-read",
                     "cudaenv reads no index yet; it knows the releases on download.pytorch.org",
                     "as in --index https://download.pytorch.org/whl/cu124");
}

// "cu118" and "11.8" are a CUDA, as for `pin`; "torch@2.4" is "torch=2.4". What is left is a spec.
Result<void> take_word(const std::string& word, const std::string& origin,
                       resolve::Request& request) {
    const auto is_digits = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
    };
    const bool tag = word.starts_with("cu") && is_digits(std::string_view(word).substr(2));
    if (tag || (is_digits(word) && word.find('.') != std::string::npos)) {
        return override_pin(request.pins, "cuda", word, origin);
    }
    resolve::Wanted wanted{word, origin};
    const auto at = word.find('@');
    if (at != std::string::npos && is_digits(std::string_view(word).substr(at + 1))) {
        wanted.text[at] = '=';
    }
    request.specs.push_back(std::move(wanted));
    return {};
}

Result<resolve::Request> request_of(const nlohmann::json& params, const Arguments& arguments,
                                    const protocol::Caller& caller,
                                    const project::LoadedProject& project) {
    resolve::Request request;
    request.pins = project.pins.list();
    for (std::size_t i = 0; i < arguments.words.size(); ++i) {
        if (is_file_word(arguments.words[i], caller)) {
            continue;
        }
        CUDAENV_TRY_VOID(take_word(arguments.words[i], arguments.origin(i), request));
    }
    for (const char* name : {"cuda", "python"}) {
        CUDAENV_TRY(const auto wanted, protocol::string_field(params, name));
        if (wanted) {
            CUDAENV_TRY_VOID(override_pin(request.pins, name, *wanted, std::string("--") + name));
        }
    }
    CUDAENV_TRY(const auto indexes, protocol::strings_field(params, "index"));
    for (const std::string& index : indexes) {
        CUDAENV_TRY_VOID(take_index(index, request));
    }
    CUDAENV_TRY(const auto purpose, protocol::string_field(params, "for"));
    request.purpose = !purpose              ? project.config.purpose()
                      : *purpose == "build" ? pins::Purpose::Build
                                            : pins::Purpose::Run;
    CUDAENV_TRY(const auto manager, protocol::string_field(params, "manager"));
    request.manager = !manager || *manager == "auto" ? resolve::ManagerChoice::Auto
                      : *manager == "conda"          ? resolve::ManagerChoice::Conda
                                                     : resolve::ManagerChoice::Pip;
    if (!manager && !indexes.empty()) {
        request.manager = resolve::ManagerChoice::Pip; // an index of wheels is pip's
    }
    CUDAENV_TRY(const bool cpu, protocol::bool_field(params, "cpu", false));
    request.cpu = request.cpu || cpu;
    CUDAENV_TRY(request.strict_host, protocol::bool_field(params, "strict_host", false));
    CUDAENV_TRY(request.host_words, host_words_of(params));
    return request;
}

// "3.11" or "3.11.7" where a pin or the environment names one.
std::string python_of(const resolve::Request& request) {
    for (const pins::Pin& pin : request.pins) {
        const auto constraint = pins::PinConstraint::parse(pin.constraint);
        if (pin.name == "python" && constraint && constraint->single()) {
            return constraint->single()->str();
        }
    }
    const auto& python = request.environment.python;
    return python && python->parts().size() >= 3 ? python->str() : "";
}

std::vector<std::string> pythons_newest_first() {
    constexpr int k_newest = 14;
    constexpr int k_oldest = 8;
    std::vector<std::string> pythons;
    for (int minor = k_newest; minor >= k_oldest; --minor) {
        pythons.push_back("3." + std::to_string(minor));
    }
    return pythons;
}

} // namespace

Result<void> override_pin(std::vector<pins::Pin>& pins, const std::string& name,
                          const std::string& constraint, const std::string& origin) {
    // cu124 is PyTorch's tag for CUDA 12.4.
    const auto tagged =
        name == "cuda" && constraint.starts_with("cu") ? specs::cuda_in(constraint) : std::nullopt;
    auto read = pins::PinConstraint::parse(tagged ? tagged->str() : constraint);
    if (!read) {
        return at_path(origin, std::move(read).error());
    }
    std::erase_if(pins, [&](const pins::Pin& pin) { return pin.name == name; });
    pins.push_back({name, read->str(), origin});
    return {};
}

Result<Resolution> resolve_for(const nlohmann::json& params, const protocol::Caller& caller,
                               bool tell_choices) {
    Resolution resolution;
    CUDAENV_TRY(const auto project, project_of(params, caller));
    resolution.notes = project.notes;
    CUDAENV_TRY(const auto arguments, arguments_of(params));
    CUDAENV_TRY(auto request, request_of(params, arguments, caller, project));
    request.tell_choices = tell_choices;
    CUDAENV_TRY(auto host, host_of(params, caller));
    host::DiskFileSystem files_of_prefix;
    DirectoryEnvironment of_directory;
    if (project.prefix.empty()) {
        of_directory = environment_of_directory(files_of_prefix, caller.cwd);
    }
    const auto facts = environments::read_environment(
        files_of_prefix, project.prefix.empty() ? of_directory.prefix : project.prefix);
    request.environment = known_environment(facts, host, caller, of_directory);
    if (facts) {
        request.preferred = names_and_versions(*facts);
    }
    request.environment.target.active =
        !names_environment(params) && of_directory.prefix.empty() && request.environment.exists();
    const auto visible = caller.variable("CUDA_VISIBLE_DEVICES");
    const bool this_machine =
        request.host_words.empty() && caller.variable("CUDAENV_HOST").value_or("").empty();
    if (visible && !host.gpus.empty() && this_machine) {
        host = facts::narrowed_to_visible(std::move(host), *visible);
        resolution.notes.push_back("GPUs are those of CUDA_VISIBLE_DEVICES=" + *visible);
    }
    const FilesOfRequest manifest = request.environment.target.is_pixis()
                                        ? manifest_of(request.environment.target.project)
                                        : FilesOfRequest();
    const std::string python = python_of(request);
    CUDAENV_TRY(const auto files, files_of(params, arguments, caller, python, host.machine));
    CUDAENV_TRY(const auto open, open_channels(params, caller, host, project.config,
                                               set_by_project(project, "resolve.channels"), files,
                                               resolution.notes));
    const std::vector<const resolve::Channel*> channels =
        each_of(open, [](const auto& channel) -> const resolve::Channel* { return channel.get(); });
    CUDAENV_TRY(const auto named_channels, protocol::strings_field(params, "channel"));
    if (!named_channels.empty() && request.manager == resolve::ManagerChoice::Auto) {
        request.manager = resolve::ManagerChoice::Conda;
    }
    resolution.driver = host.driver;
    bool depends_on_python = false;
    resolution.environment = request.environment;
    const auto with_files = [&](const FilesOfRequest& read,
                                std::string_view chosen_python) -> Result<Resolution> {
        Resolution answer = resolution;
        resolve::Request whole = request;
        CUDAENV_TRY_VOID(merge_files(read, host, whole, answer.notes));
        if (!chosen_python.empty()) {
            whole.specs.push_back({fmt::format("python=={}.*", chosen_python),
                                   "environment markers of " + read.words.front()});
        }
        drop_unknown(whole, host, channels, answer.notes);
        const std::string_view known_python = chosen_python.empty() ? python : chosen_python;
        CUDAENV_TRY(depends_on_python,
                    decide_markers(whole, known_python, host.machine, answer.notes));
        // Its builds where the tables have them; pytorch's channel has others.
        const bool forge = read.names_conda_forge_alone() || manifest.names_conda_forge_alone();
        auto outcome = resolve::resolve(forge ? from_conda_forge(whole) : whole, host, channels);
        if (forge && (!outcome || outcome->conflict)) {
            outcome = resolve::resolve(whole, host, channels);
        }
        if (!outcome) {
            return tl::unexpected(at_file_line(std::move(outcome).error(), read));
        }
        answer.outcome = *std::move(outcome);
        const auto& commands = answer.outcome.commands;
        const bool by_conda =
            !commands.empty() && commands.back().find("pip ") == std::string::npos;
        for (const std::string& unknown : answer.outcome.unknown) {
            if (!knowledge::package_releases(unknown).empty()) {
                answer.notes.push_back(fmt::format(
                    "cudaenv knows no release of {} that fits: pip chooses an older one", unknown));
                continue;
            }
            answer.notes.push_back(fmt::format(
                "cudaenv does not know {} yet: {} decides about it, and may replace what is named "
                "here",
                unknown, by_conda ? "conda" : "pip"));
        }
        return answer;
    };
    auto answer = with_files(files, {});
    if (!depends_on_python) {
        return answer;
    }
    // Lines whose markers depend on Python: first the Python that the other lines get, then each
    // that is left, newest first.
    std::vector<std::string> pythons = pythons_newest_first();
    if (answer && answer->outcome.python) {
        const auto found = DottedVersion::of(*answer->outcome.python).major_minor();
        std::erase(pythons, found);
        pythons.insert(pythons.begin(), found);
    }
    std::optional<Result<Resolution>> first;
    for (const std::string& chosen : pythons) {
        CUDAENV_TRY(const auto read, files_of(params, arguments, caller, chosen, host.machine));
        auto with_python = with_files(read, chosen);
        if (with_python && with_python->outcome.solved()) {
            return with_python;
        }
        first = first ? std::move(first) : std::optional(std::move(with_python));
    }
    return *std::move(first);
}

} // namespace cudaenv::daemon
