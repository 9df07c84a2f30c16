#include "host/probe/gpu_usage.hpp"

#include "base/json_members.hpp"
#include "host/probe/closed_files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace cudaenv::probe {

namespace {

using nlohmann::json;

constexpr std::size_t k_most_gpus = 256;
constexpr std::size_t k_most_processes = 4096; // of one GPU

// Any number.
std::optional<std::uint64_t> number_of(const json& object, const char* name) {
    return number_within(object, name, std::uint64_t{0}, UINT64_MAX);
}

std::vector<GpuProcess> processes_of(const json& gpu) {
    std::vector<GpuProcess> processes;
    for (const json& entry : list_at(gpu, "processes")) {
        const auto pid = number_within(entry, "pid", 1, INT32_MAX);
        if (!pid || processes.size() == k_most_processes) {
            continue;
        }
        GpuProcess process;
        process.pid = *pid;
        process.memory = number_of(entry, "memory");
        process.graphics = flag_at(entry, "graphics");
        // A process that computes and draws is listed twice.
        const auto same = std::ranges::find(processes, process.pid, &GpuProcess::pid);
        if (same == processes.end()) {
            processes.push_back(std::move(process));
        }
    }
    return processes;
}

std::string proc(int pid, const char* name) {
    return "/proc/" + std::to_string(pid) + '/' + name;
}

std::string file_text(host::FileSystem& files, const std::string& path,
                      std::size_t limit = host::k_read_limit) {
    return files.read_file(path, limit).value_or("");
}

// The words of /proc/PID/cmdline or environ.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const auto end = std::min(text.find('\0', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

// "Uid:\t1000\t..." of /proc/PID/status.
std::string uid_of(host::FileSystem& files, int pid) {
    const std::string status = file_text(files, proc(pid, "status"));
    constexpr std::string_view k_label = "\nUid:\t";
    const auto label = status.find(k_label);
    if (label == std::string::npos) {
        return {};
    }
    const auto begin = label + k_label.size();
    return status.substr(begin, status.find_first_not_of("0123456789", begin) - begin);
}

// "python train.py": the program, and the script where it is an interpreter's.
std::string command_of(const std::vector<std::string>& words) {
    if (words.empty()) {
        return {};
    }
    std::string command(host::base_name(words.front()));
    if (command.starts_with("python") || command == "bash" || command == "sh") {
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i] == "-m" && i + 1 < words.size()) {
                return command + " -m " + words[i + 1];
            }
            if (words[i] == "-c") {
                return command;
            }
            if (!words[i].starts_with('-')) {
                return command + ' ' + std::string(host::base_name(words[i]));
            }
        }
    }
    return command;
}

bool is_environment(host::FileSystem& files, const std::string& prefix) {
    return files.exists(prefix + "/conda-meta") || files.exists(prefix + "/pyvenv.cfg");
}

// The environment whose bin/ has the program; else, of a process of this user's, the one that was
// active.
std::string environment_of(host::FileSystem& files, int pid,
                           const std::vector<std::string>& words) {
    // The name by which it was called leads into a venv, whose python is a link out of it.
    if (!words.empty() && words.front().starts_with('/')) {
        const std::string prefix(host::parent_path(host::parent_path(words.front())));
        if (prefix.size() > 1 && is_environment(files, prefix)) {
            return prefix;
        }
    }
    for (const std::string& variable : words_of(file_text(files, proc(pid, "environ")))) {
        for (const std::string_view name : {"VIRTUAL_ENV=", "CONDA_PREFIX="}) {
            if (variable.starts_with(name) && is_environment(files, variable.substr(name.size()))) {
                return variable.substr(name.size());
            }
        }
    }
    return {};
}

// Of one look at the GPUs: a process may be on each of them, and its maps are long.
struct Processes {
    host::FileSystem& files;

    struct Known {
        bool is_another = false; // its maps can be read and have no libcuda
        std::string user;
        std::string command;
        std::string environment;
    };

    std::map<int, Known> seen{};
    std::map<std::string, std::string> users{}; // by their numbers

    void identify(GpuProcess& process) {
        const auto [known, is_new] = seen.try_emplace(process.pid);
        if (is_new) {
            known->second = look_at(process.pid);
        }
        const Known& found = known->second;
        if (found.is_another && !process.graphics) {
            return;
        }
        process.user = found.user;
        process.command = found.command;
        process.environment = found.environment;
    }

    Known look_at(int pid) {
        constexpr std::size_t k_most_maps = std::size_t{8} << 20;
        Known found;
        const auto maps = files.read_file(proc(pid, "maps"), k_most_maps);
        found.is_another = maps && !maps->empty() && maps->find("libcuda") == std::string::npos;
        const std::string uid = uid_of(files, pid);
        if (uid.empty()) {
            return found;
        }
        const auto [name, is_new] = users.try_emplace(uid);
        if (is_new) {
            name->second = user_name(files, uid);
        }
        found.user = name->second;
        const auto words = words_of(file_text(files, proc(pid, "cmdline")));
        found.command = command_of(words);
        found.environment = environment_of(files, pid, words);
        return found;
    }
};

} // namespace

Result<UsageNow> read_gpu_usage(std::string_view line) {
    const auto document = json::parse(line, nullptr, false);
    if (!document.is_object()) {
        return unavailable("bad-probe-answer", "the probe's answer is not a JSON object");
    }
    UsageNow usage;
    usage.driver_version = text_at(document, "driver_version");
    usage.start_error = number_within(document, "start_error", 0, 999);
    usage.errors = texts_at(document, "errors");
    for (const json& entry : list_at(document, "gpus")) {
        if (!entry.is_object() || usage.gpus.size() == k_most_gpus) {
            continue;
        }
        GpuUsage gpu;
        gpu.index = number_within(entry, "index", 0, 1023).value_or(0);
        gpu.name = text_at(entry, "name");
        gpu.uuid = text_at(entry, "uuid");
        gpu.memory_total = number_of(entry, "memory_total");
        gpu.memory_used = number_of(entry, "memory_used");
        gpu.utilization = number_within(entry, "utilization", 0, 100);
        gpu.temperature = number_within(entry, "temperature", 0, 199);
        gpu.power = number_within(entry, "power", 0, 99'999);
        gpu.mig = flag_at(entry, "mig");
        gpu.lists_processes = member(entry, "processes").is_array();
        gpu.processes = processes_of(entry);
        usage.gpus.push_back(std::move(gpu));
    }
    return usage;
}

void identify_processes(host::FileSystem& files, UsageNow& usage) {
    Processes processes{files};
    for (GpuUsage& gpu : usage.gpus) {
        for (GpuProcess& process : gpu.processes) {
            processes.identify(process);
        }
    }
}

} // namespace cudaenv::probe
