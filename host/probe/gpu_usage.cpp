#include "host/probe/gpu_usage.hpp"

#include "host/probe/account_names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace cudaenv::host {

namespace {

using nlohmann::json;

constexpr std::size_t k_most_gpus = 256;
constexpr std::size_t k_most_processes = 4096; // of one GPU

std::string text_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::uint64_t> number_of(const json& object, const char* key,
                                       std::uint64_t most = UINT64_MAX) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned() ||
        found->get<std::uint64_t>() > most) {
        return std::nullopt;
    }
    return found->get<std::uint64_t>();
}

std::optional<int> small_number_of(const json& object, const char* key, int most) {
    const auto number = number_of(object, key, static_cast<std::uint64_t>(most));
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

bool flag_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

const json& list_of(const json& object, const char* key) {
    static const json k_none = json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : k_none;
}

std::vector<GpuProcess> processes_of(const json& gpu) {
    std::vector<GpuProcess> processes;
    for (const json& told : list_of(gpu, "processes")) {
        const auto pid =
            told.is_object() ? small_number_of(told, "pid", INT32_MAX) : std::optional<int>();
        if (!pid || *pid == 0 || processes.size() == k_most_processes) {
            continue;
        }
        GpuProcess process;
        process.pid = *pid;
        process.memory = number_of(told, "memory");
        process.graphics = flag_of(told, "graphics");
        // One that computes and draws is told twice.
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

std::string file_text(FileSystem& files, const std::string& path,
                      std::size_t limit = k_read_limit) {
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
std::string uid_of(FileSystem& files, int pid) {
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
    std::string command(base_name(words.front()));
    if (command.starts_with("python") || command == "bash" || command == "sh") {
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i] == "-m" && i + 1 < words.size()) {
                return command + " -m " + words[i + 1];
            }
            if (words[i] == "-c") {
                return command;
            }
            if (!words[i].starts_with('-')) {
                return command + ' ' + std::string(base_name(words[i]));
            }
        }
    }
    return command;
}

bool is_environment(FileSystem& files, const std::string& prefix) {
    return files.exists(prefix + "/conda-meta") || files.exists(prefix + "/pyvenv.cfg");
}

// The environment whose bin/ has the program; else, of a process of this user's, the one that was
// active.
std::string environment_of(FileSystem& files, int pid, const std::vector<std::string>& words) {
    // The name by which it was called leads into a venv, whose python is a link out of it.
    if (!words.empty() && words.front().starts_with('/')) {
        const std::string prefix(parent_path(parent_path(words.front())));
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

void identify(FileSystem& files, GpuProcess& process) {
    constexpr std::size_t k_most_maps = std::size_t{8} << 20;
    const auto maps = files.read_file(proc(process.pid, "maps"), k_most_maps);
    const bool readable = maps && !maps->empty();
    if (readable && maps->find("libcuda") == std::string::npos && !process.graphics) {
        return;
    }
    const std::string uid = uid_of(files, process.pid);
    if (uid.empty()) {
        return;
    }
    process.user = user_name(files, uid);
    const auto words = words_of(file_text(files, proc(process.pid, "cmdline")));
    process.command = command_of(words);
    process.environment = environment_of(files, process.pid, words);
}

} // namespace

Result<UsageNow> read_gpu_usage(std::string_view line) {
    const auto document = json::parse(line, nullptr, false);
    if (!document.is_object()) {
        return unavailable("bad-probe-answer", "the probe's answer is not a JSON object");
    }
    UsageNow usage;
    usage.driver_version = text_of(document, "driver_version");
    usage.start_error = small_number_of(document, "start_error", 999);
    for (const json& error : list_of(document, "errors")) {
        if (error.is_string()) {
            usage.errors.push_back(error.get<std::string>());
        }
    }
    for (const json& told : list_of(document, "gpus")) {
        if (!told.is_object() || usage.gpus.size() == k_most_gpus) {
            continue;
        }
        GpuUsage gpu;
        gpu.index = small_number_of(told, "index", 1023).value_or(0);
        gpu.name = text_of(told, "name");
        gpu.uuid = text_of(told, "uuid");
        gpu.memory_total = number_of(told, "memory_total");
        gpu.memory_used = number_of(told, "memory_used");
        gpu.utilization = small_number_of(told, "utilization", 100);
        gpu.temperature = small_number_of(told, "temperature", 199);
        gpu.power = small_number_of(told, "power", 99'999);
        gpu.mig = flag_of(told, "mig");
        gpu.processes_told = told.contains("processes") && told.at("processes").is_array();
        gpu.processes = processes_of(told);
        usage.gpus.push_back(std::move(gpu));
    }
    return usage;
}

void identify_processes(FileSystem& files, UsageNow& usage) {
    for (GpuUsage& gpu : usage.gpus) {
        for (GpuProcess& process : gpu.processes) {
            identify(files, process);
        }
    }
}

} // namespace cudaenv::host
