#include "host/probe/verdict_store.hpp"

#include "base/private_files.hpp"
#include "host/probe/driver_files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace cudaenv::host {

namespace {

using nlohmann::json;

constexpr const char* k_file = "probes.json";
constexpr const char* k_schema = "cudaenv.probes/2";
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

// FNV-1a of 64 bits: what is compared with itself from one run to the next, and what it was of is
// nobody's business.
std::string fingerprint(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : text) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
    return std::to_string(hash);
}

constexpr auto k_depths = std::to_array<std::string_view>({"quick", "full", "build"});

std::optional<KeptVerdict> verdict_of(const json& kept) {
    if (!kept.is_object()) {
        return std::nullopt;
    }
    const auto depth = std::ranges::find(k_depths, text_at(kept, "depth"));
    const auto at = kept.find("at");
    if (depth == k_depths.end() || at == kept.end() || !at->is_number_integer()) {
        return std::nullopt;
    }
    return KeptVerdict{
        text_at(kept, "verdict"), text_at(kept, "step"),
        text_at(kept, "code"),    text_at(kept, "summary"),
        at->get<std::int64_t>(),  static_cast<VerdictDepth>(depth - k_depths.begin())};
}

json verdict_to_json(const KeptVerdict& verdict) {
    return {{"depth", name_of(verdict.depth)},
            {"verdict", verdict.verdict},
            {"step", verdict.step},
            {"code", verdict.code},
            {"summary", verdict.summary},
            {"at", verdict.at}};
}

// Whether one of an entry's verdicts still rests on what it rested on.
bool holds(FileSystem& files, const json& kept, const KeptVerdict& verdict,
           const VerdictQuestion& question, std::int64_t now) {
    if (is_transient(verdict.verdict) &&
        (now < verdict.at || now - verdict.at >= std::chrono::seconds(k_transient_life).count())) {
        return false;
    }
    if (verdict.depth == VerdictDepth::Build &&
        text_at(kept, "building") != fingerprint(question.building)) {
        return false;
    }
    const auto stamps = kept.find("files");
    if (stamps == kept.end() || !stamps->is_object()) {
        return false;
    }
    return std::ranges::all_of(stamps->items(), [&](const auto& item) {
        return item.value().is_string() && item.value() == stamp_of(files, item.key());
    });
}

// The verdicts of `question`'s environment that hold, as they are kept. None where the shell or the
// machine is another.
json verdicts_that_hold(FileSystem& files, const json& entries, const VerdictQuestion& question,
                        std::int64_t now) {
    json held = json::array();
    const auto entry = entries.find(in_utf8(question.prefix));
    if (entry == entries.end() || !entry->is_object() ||
        text_at(*entry, "shell") != fingerprint(question.shell) ||
        text_at(*entry, "machine") != in_utf8(machine_now(files))) {
        return held;
    }
    const auto list = entry->find("verdicts");
    if (list == entry->end() || !list->is_array()) {
        return held;
    }
    for (const json& kept : *list) {
        const auto verdict = verdict_of(kept);
        if (verdict && holds(files, kept, *verdict, question, now)) {
            held.push_back(kept);
        }
    }
    return held;
}

bool looks_as_far(VerdictDepth depth, VerdictDepth other) {
    return depth == other || (depth == VerdictDepth::Full && other == VerdictDepth::Quick);
}

bool replaces(const KeptVerdict& verdict, const KeptVerdict& earlier) {
    return looks_as_far(verdict.depth, earlier.depth) &&
           (!is_transient(verdict.verdict) || is_transient(earlier.verdict));
}

bool is_well(const KeptVerdict& verdict) {
    return verdict.verdict == "ok" || verdict.verdict == "warns";
}

int badness(const KeptVerdict& verdict) {
    return verdict.verdict == "ok"      ? 0
           : verdict.verdict == "warns" ? 1
           : verdict.verdict == "busy"  ? 2
                                        : 3;
}

} // namespace

std::string_view name_of(VerdictDepth depth) {
    return k_depths.at(static_cast<std::size_t>(depth));
}

bool is_transient(std::string_view verdict) {
    return verdict == "busy" || verdict == "crashed" || verdict == "timeout";
}

std::optional<KeptVerdict> VerdictStore::find(FileSystem& files, const VerdictQuestion& question,
                                              std::int64_t now) const {
    std::optional<KeptVerdict> worst;
    for (const json& kept : verdicts_that_hold(files, entries_in(m_directory), question, now)) {
        auto verdict = verdict_of(kept);
        const bool worse = !worst || badness(*verdict) > badness(*worst) ||
                           (badness(*verdict) == badness(*worst) && verdict->at >= worst->at);
        if (worse) {
            worst = std::move(verdict);
        }
    }
    return worst;
}

std::string VerdictStore::key(FileSystem& files, const VerdictQuestion& question) {
    const char end = '\0'; // in none of the texts
    return question.prefix + end + question.shell + end + machine_now(files);
}

void VerdictStore::keep(FileSystem& files, const VerdictQuestion& question,
                        const std::vector<std::string>& rests_on,
                        const KeptVerdict& verdict) const {
    json entries = entries_in(m_directory);
    json verdicts = json::array();
    for (json& earlier : verdicts_that_hold(files, entries, question, verdict.at)) {
        if (!replaces(verdict, *verdict_of(earlier))) {
            verdicts.push_back(std::move(earlier));
        }
    }
    if (verdict.depth != VerdictDepth::Build || !is_well(verdict)) {
        json stamps = json::object();
        for (const std::string& path : rests_on) {
            if (path.starts_with('/') && in_utf8(path) == path) {
                stamps[path] = stamp_of(files, path);
            }
        }
        json& kept = verdicts.emplace_back(verdict_to_json(verdict));
        kept["files"] = std::move(stamps);
        kept["building"] = fingerprint(question.building);
    }
    if (entries.size() >= k_entry_limit) {
        entries = json::object();
    }
    entries[in_utf8(question.prefix)] = {{"shell", fingerprint(question.shell)},
                                         {"machine", machine_now(files)},
                                         {"verdicts", std::move(verdicts)}};
    const std::string text = json{{"schema", k_schema}, {"environments", std::move(entries)}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
    write_private_file(m_directory, k_file, text);
}

} // namespace cudaenv::host
