#include "host/probe/verdict_store.hpp"

#include "base/private_files.hpp"
#include "host/probe/driver_files.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::host {

namespace {

using nlohmann::json;

constexpr const char* k_file = "probes.json";
constexpr const char* k_schema = "cudaenv.probes/1";
constexpr std::size_t k_size_limit = std::size_t{1024} * 1024;
constexpr std::size_t k_entry_limit = 200; // environments; then it is begun anew

// The names of the store's environments with their verdicts; an empty object where there is none.
json entries_in(const std::string& directory) {
    if (directory.empty() || directory.front() != '/') {
        return json::object();
    }
    const auto document =
        json::parse(read_private_file(directory + '/' + k_file, k_size_limit), nullptr, false);
    if (!document.is_object() || document.value("schema", json()) != k_schema) {
        return json::object();
    }
    const auto entries = document.find("environments");
    return entries != document.end() && entries->is_object() ? *entries : json::object();
}

// Size and time; a package's upgrade changes one of them.
std::string stamp_of(FileSystem& files, const std::string& path) {
    const auto status = files.status(path);
    return status ? std::to_string(status->size) + ':' + std::to_string(status->modified_ns)
                  : "absent";
}

// Directories below `root` and theirs, `depth` levels: GPUs, MIG instances and their parts.
void add_names(FileSystem& files, const std::string& root, int depth, std::string& text) {
    const auto names = files.list_directory(root);
    if (!names) {
        return;
    }
    for (const std::string& name : *names) {
        text += '\n' + root + '/' + name;
        if (depth > 1) {
            add_names(files, root + '/' + name, depth - 1, text);
        }
    }
}

std::string machine_now(FileSystem& files) {
    std::string text = files.read_file("/proc/sys/kernel/random/boot_id").value_or("");
    const DriverFiles driver = look_at_driver(files);
    text += driver.module_text;
    if (!driver.library.empty()) {
        text += driver.library + ' ' + stamp_of(files, driver.library);
    }
    add_names(files, "/proc/driver/nvidia/gpus", 1, text);
    // gpu0/mig/gi1/ci0/access
    add_names(files, "/proc/driver/nvidia/capabilities", 4, text);
    return text;
}

std::string text_at(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string in_utf8(const std::string& text) {
    // What is none is kept as its JSON would have it, on both sides of the comparison.
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
        .get<std::string>();
}

} // namespace

std::optional<KeptVerdict> VerdictStore::find(FileSystem& files,
                                              const VerdictQuestion& question) const {
    const json entries = entries_in(m_directory);
    const auto entry = entries.find(in_utf8(question.prefix));
    if (entry == entries.end() || !entry->is_object() ||
        text_at(*entry, "visible_devices") != in_utf8(question.visible_devices) ||
        text_at(*entry, "library_path") != in_utf8(question.library_path)) {
        return std::nullopt;
    }
    const auto stamps = entry->find("files");
    if (stamps == entry->end() || !stamps->is_object()) {
        return std::nullopt;
    }
    for (const auto& [path, stamp] : stamps->items()) {
        if (!stamp.is_string() || stamp != stamp_of(files, path)) {
            return std::nullopt;
        }
    }
    if (text_at(*entry, "machine") != in_utf8(machine_now(files))) {
        return std::nullopt;
    }
    const auto at = entry->find("at");
    if (at == entry->end() || !at->is_number_integer()) {
        return std::nullopt;
    }
    return KeptVerdict{text_at(*entry, "verdict"), text_at(*entry, "step"), text_at(*entry, "code"),
                       text_at(*entry, "summary"), at->get<std::int64_t>()};
}

std::string VerdictStore::key(FileSystem& files, const VerdictQuestion& question) {
    const char end = '\0'; // in none of the texts
    return question.prefix + end + question.visible_devices + end + question.library_path + end +
           machine_now(files);
}

void VerdictStore::keep(FileSystem& files, const VerdictQuestion& question,
                        const std::vector<std::string>& rests_on,
                        const KeptVerdict& verdict) const {
    json entries = entries_in(m_directory);
    if (entries.size() >= k_entry_limit) {
        entries = json::object();
    }
    json stamps = json::object();
    for (const std::string& path : rests_on) {
        if (path.starts_with('/') && in_utf8(path) == path) {
            stamps[path] = stamp_of(files, path);
        }
    }
    entries[in_utf8(question.prefix)] = {{"visible_devices", question.visible_devices},
                                         {"library_path", question.library_path},
                                         {"files", std::move(stamps)},
                                         {"machine", machine_now(files)},
                                         {"verdict", verdict.verdict},
                                         {"step", verdict.step},
                                         {"code", verdict.code},
                                         {"summary", verdict.summary},
                                         {"at", verdict.at}};
    const std::string text = json{{"schema", k_schema}, {"environments", std::move(entries)}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
    write_private_file(m_directory, k_file, text);
}

} // namespace cudaenv::host
