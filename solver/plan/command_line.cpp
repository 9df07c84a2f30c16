#include "solver/plan/command_line.hpp"

#include "base/shell_word.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cudaenv::plan {

namespace {

using Records = std::vector<const specs::PackageRecord*>;

const specs::PackageRecord* named(const Records& records, std::string_view name) {
    const auto found = std::find_if(records.begin(), records.end(),
                                    [&](const auto* record) { return record->name == name; });
    return found == records.end() ? nullptr : *found;
}

// The tool that is here; conda's own name where none is known.
std::string conda_tool(const facts::Host& host) {
    for (const char* const kind : {"mamba", "conda", "micromamba"}) {
        if (std::any_of(host.conda.begin(), host.conda.end(),
                        [&](const auto& install) { return install.kind == kind; })) {
            return kind;
        }
    }
    return "conda";
}

bool python_was_asked(const Attempt& attempt) {
    return std::any_of(attempt.question.items.begin(), attempt.question.items.end(),
                       [](const Item& item) { return item.name == "python"; });
}

std::vector<std::string> conda_catalogue_commands(const Attempt& attempt, const Records& records) {
    std::vector<std::string> words{conda_tool(attempt.world->host()), "install"};
    std::vector<std::string> channels;
    const auto add_channel = [&](const std::string& channel) {
        if (std::find(channels.begin(), channels.end(), channel) == channels.end()) {
            channels.push_back(channel);
        }
    };
    if (const auto* python = named(records, "python");
        python != nullptr && python_was_asked(attempt)) {
        words.push_back("python=" + python->version);
    }
    const auto* const torch = named(records, "torch");
    if (torch != nullptr) {
        words.push_back("pytorch==" + torch->version);
        for (const char* const partner : {"torchvision", "torchaudio"}) {
            if (const auto* record = named(records, partner)) {
                words.push_back(fmt::format("{}=={}", partner, record->version));
            }
        }
        if (const auto* variant = torch_variant(torch->version, torch->build)) {
            words.push_back(variant->conda_pin);
            for (const std::string& channel : variant->conda_channels) {
                add_channel(channel);
            }
        } else {
            words.emplace_back("cpuonly");
        }
        if (channels.empty()) {
            add_channel("pytorch");
        }
    } else {
        if (const auto* cuda = named(records, "cuda")) {
            words.push_back("cuda-version=" + cuda->version);
            add_channel("conda-forge");
        }
        if (const auto* cudnn = named(records, "cudnn")) {
            words.push_back("cudnn=" + cudnn->version);
            add_channel("conda-forge");
        }
        if (words.size() == 2) {
            if (const auto* python = named(records, "python")) {
                words.push_back("python=" + python->version);
            } else {
                return {};
            }
        }
    }
    std::string command;
    for (const std::string& word : words) {
        command += (command.empty() ? "" : " ") + shell_word(word);
    }
    for (const std::string& channel : channels) {
        command += " -c " + shell_word(channel);
    }
    return {command};
}

std::vector<std::string> pip_catalogue_commands(const Records& records) {
    std::vector<std::string> words{"pip", "install"};
    std::string index_option;
    if (const auto* torch = named(records, "torch")) {
        const auto* const variant = torch_variant(torch->version, torch->build);
        const bool cpu = torch->build == "cpu";
        const bool from_index = cpu || (variant != nullptr && !variant->wheel_is_default);
        std::string label;
        if (variant != nullptr && from_index && variant->wheel_has_local_label) {
            label = '+' + variant->tag;
        }
        for (const char* const name : {"torch", "torchvision", "torchaudio"}) {
            if (const auto* record = named(records, name)) {
                // Partners carry the label where the index has them with it.
                const bool partner = record != torch;
                const auto seen = variant == nullptr              ? std::nullopt
                                  : record->name == "torchvision" ? variant->wheel_torchvision
                                                                  : variant->wheel_torchaudio;
                words.push_back(partner && from_index && seen
                                    ? fmt::format("{}=={}", name, *seen)
                                    : fmt::format("{}=={}{}", name, record->version, label));
            }
        }
        if (cpu) {
            index_option = "--index-url https://download.pytorch.org/whl/cpu";
        } else if (from_index && variant != nullptr) {
            index_option = fmt::format("{} {}", label.empty() ? "--index-url" : "--extra-index-url",
                                       variant->wheel_index);
        }
    }
    std::vector<std::string> commands;
    const auto flush = [&] {
        if (words.size() > 2) {
            std::string command;
            for (const std::string& word : words) {
                command += (command.empty() ? "" : " ") + shell_word(word);
            }
            commands.push_back(command + (index_option.empty() ? "" : " " + index_option));
        }
        words = {"pip", "install"};
        index_option.clear();
    };
    flush();
    if (const auto* tensorflow = named(records, "tensorflow")) {
        const auto releases = knowledge::tensorflow_releases();
        const auto row = std::find_if(releases.begin(), releases.end(), [&](const auto& release) {
            return release.tensorflow.str() == tensorflow->version;
        });
        const bool cuda = tensorflow->build != "cpu";
        const bool extra = cuda && row != releases.end() && row->and_cuda_extra;
        words.push_back(
            fmt::format("tensorflow{}=={}", extra ? "[and-cuda]" : "", tensorflow->version));
        flush();
        if (cuda && !extra && row != releases.end() && row->cuda) {
            // Before 2.14 its wheels bring no CUDA: the libraries come from conda.
            commands.insert(commands.begin(),
                            fmt::format("conda install cudatoolkit={}{} -c conda-forge",
                                        row->cuda->major_minor(),
                                        row->cudnn ? " cudnn=" + row->cudnn->major_minor() : ""));
        }
    }
    return commands;
}

} // namespace

std::string resolve_command(const Request& request, const Attempt& attempt) {
    // --cuda and --python stand over what the project pins; any other pin stays in force until its
    // file says otherwise, so that a changed one is pinned anew before.
    std::string pinned;
    for (const Pin& pin : request.pins) {
        if (pin.origin == k_this_fix && pin.name != "cuda" && pin.name != "python") {
            pinned += ' ' + shell_word(pin.name + '=' + pin.constraint);
        }
    }
    std::string command =
        (pinned.empty() ? "" : "cudaenv pin" + pinned + " && ") + std::string("cudaenv resolve");
    for (const Wanted& wanted : request.specs) {
        command += ' ' + shell_word(redact_secrets(wanted.text));
    }
    for (const Pin& pin : request.pins) {
        if (pin.name == "cuda" || pin.name == "python") {
            command += fmt::format(" --{} {}", pin.name, shell_word(pin.constraint));
        } else if (pin.origin != k_this_fix &&
                   std::none_of(
                       request.specs.begin(), request.specs.end(),
                       [&](const Wanted& wanted) { return wanted.text.starts_with(pin.name); })) {
            const bool bare = pin.constraint.find_first_of("=<>!~") != 0;
            command += ' ' + shell_word(pin.name + (bare ? "=" : "") + pin.constraint);
        }
    }
    if (request.purpose == Purpose::Build) {
        command += " --for build";
    }
    if (request.manager != ManagerChoice::Auto) {
        command += request.manager == ManagerChoice::Conda ? " --manager conda" : " --manager pip";
    }
    if (request.cpu) {
        command += " --cpu";
    }
    if (request.strict_host) {
        command += " --strict-host";
    }
    for (const std::string& word : request.host_words) {
        command += ' ' + shell_word(word);
    }
    if (!attempt.catalogue) {
        for (const Channel* channel : attempt.channels) {
            command += " -c " + shell_word(channel->name());
        }
    }
    return command;
}

std::vector<std::string> install_commands(const Attempt& attempt, const Records& records) {
    if (attempt.catalogue) {
        return attempt.manager == Manager::Conda ? conda_catalogue_commands(attempt, records)
                                                 : pip_catalogue_commands(records);
    }
    std::string command = conda_tool(attempt.world->host()) + " install";
    std::set<std::string> told;
    for (const Item& item : attempt.question.items) {
        for (const specs::PackageRecord* const record : records) {
            const bool pinned_runtime = item.kind == Item::Kind::Pin && item.name == "cuda" &&
                                        runtime_of(*record).has_value() &&
                                        record->name != "cuda-cudart";
            if ((record->name == item.name || pinned_runtime) && told.insert(record->name).second) {
                command += ' ' + shell_word(fmt::format("{}={}={}", record->name, record->version,
                                                        record->build));
            }
        }
    }
    if (told.empty()) {
        return {};
    }
    command += " --override-channels";
    for (const Channel* channel : attempt.channels) {
        command += " -c " + shell_word(channel->name());
    }
    return {command};
}

} // namespace cudaenv::plan
