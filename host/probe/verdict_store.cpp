#include "host/probe/verdict_store.hpp"

#include "base/ascii.hpp"
#include "base/fd.hpp"
#include "base/private_files.hpp"
#include "base/text.hpp"
#include "solver/facts/probe.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace cudaenv::host {

namespace {

using nlohmann::json;

constexpr const char* k_file = "probes.json";
constexpr const char* k_schema = "cudaenv.probes/3";
constexpr std::size_t k_size_limit = std::size_t{1024} * 1024;
constexpr std::size_t k_entry_limit = 200; // environments and shells; then the oldest goes
// Beyond this a lock is not waited for: a store that loses an entry is better than a probe that
// does not end.
constexpr std::chrono::seconds k_lock_patience{2};
constexpr std::string_view k_names = "names:"; // so begins a directory's stamp
constexpr std::string_view k_loader_cache = "ld.so.cache";
constexpr std::size_t k_loader_cache_limit = std::size_t{4} * 1024 * 1024;

std::string text_in(const std::string& directory) {
    return directory.starts_with('/') ? read_private_file(directory + '/' + k_file, k_size_limit)
                                      : std::string();
}

// The names of the store's environments with their verdicts; an empty object where there is none.
json entries_in(const std::string& directory) {
    const auto document = json::parse(text_in(directory), nullptr, false);
    if (!document.is_object() || document.value("schema", json()) != k_schema) {
        return json::object();
    }
    const auto entries = document.find("environments");
    return entries != document.end() && entries->is_object() ? *entries : json::object();
}

// The object that `text` begins with; empty where it does not.
std::string_view object_at(std::string_view text) {
    std::size_t open = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (quoted) {
            quoted = text[at] != '"';
            at += text[at] == '\\' ? 1 : 0;
            continue;
        }
        if (text[at] == '"') {
            quoted = true;
        } else if (text[at] == '{') {
            ++open;
        } else if (text[at] == '}' && --open == 0) {
            return text.substr(0, at + 1);
        }
        if (open == 0) {
            break;
        }
    }
    return {};
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

// A file that a probe so deep may load; libcuda and libcudart every one.
bool may_be_loaded(std::string_view name, VerdictDepth depth) {
    return name.starts_with("libcuda") ||
           (depth == VerdictDepth::Full &&
            std::ranges::any_of(facts::k_probed_libraries, [&](const auto& library) {
                return name.starts_with(library.file);
            }));
}

// Of a directory, and of the loader's cache, which names it has of those; of nvidia/ of wheels all:
// each is a package.
std::string names_of(const std::vector<std::string>& names, VerdictDepth depth, bool all) {
    std::string text;
    for (const std::string& name : names) {
        if (all || may_be_loaded(base_name(name), depth)) {
            text += name + '\n';
        }
    }
    return std::string(k_names) + fingerprint(text);
}

std::vector<std::string> cached_names(FileSystem& files, const std::string& path) {
    const std::string text = files.read_file(path, k_loader_cache_limit).value_or("");
    std::vector<std::string> names;
    for (const std::string_view name : split(text, '\0')) {
        if (name.starts_with("lib")) { // each is there a second time with its directory
            names.emplace_back(name);
        }
    }
    return names;
}

// Size and time; a package's upgrade changes one of them. What else is in a directory or known to
// the loader changes with every package, so that only names which matter count.
std::string stamp_of(FileSystem& files, const std::string& path,
                     VerdictDepth depth = VerdictDepth::Quick) {
    const auto status = files.status(path);
    if (!status) {
        return "absent";
    }
    if (status->kind == FileKind::Directory) {
        const auto names = files.list_directory(path);
        return names ? names_of(*names, depth, base_name(path) == "nvidia") : "closed";
    }
    if (base_name(path) == k_loader_cache) {
        return names_of(cached_names(files, path), depth, false);
    }
    return std::to_string(status->size) + ':' + std::to_string(status->modified_ns);
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

std::string machine_now(FileSystem& files, const std::optional<DriverFiles>& looked_at = {}) {
    std::string text = files.read_file("/proc/sys/kernel/random/boot_id").value_or("");
    const DriverFiles driver = looked_at ? *looked_at : look_at_driver(files);
    text += driver.module_text;
    if (!driver.library.empty()) {
        text += driver.library + ' ' + stamp_of(files, driver.library);
    }
    add_names(files, "/proc/driver/nvidia/gpus", 1, text);
    // gpu0/mig/gi1/ci0/access
    add_names(files, "/proc/driver/nvidia/capabilities", 4, text);
    return text;
}

// /dev/nvidia0 and the like: a container has those that it was given, /proc shows all. Not among
// what a probe's grounds are, since the driver may make them for it.
std::string devices_now(FileSystem& files) {
    std::string text;
    const auto names = files.list_directory("/dev");
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
        constexpr std::string_view k_begin = "nvidia";
        if (name.starts_with(k_begin) && name.size() > k_begin.size() &&
            is_digit(name[k_begin.size()])) {
            text += '\n' + name;
        }
    }
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
    return KeptVerdict{text_at(kept, "verdict"),
                       text_at(kept, "step"),
                       text_at(kept, "code"),
                       text_at(kept, "summary"),
                       at->get<std::int64_t>(),
                       static_cast<VerdictDepth>(depth - k_depths.begin()),
                       {}};
}

json verdict_to_json(const KeptVerdict& verdict) {
    return {{"depth", name_of(verdict.depth)},
            {"verdict", verdict.verdict},
            {"step", verdict.step},
            {"code", verdict.code},
            {"summary", verdict.summary},
            {"at", verdict.at}};
}

bool is_well(const KeptVerdict& verdict) {
    return verdict.verdict == "ok" || verdict.verdict == "warns";
}

bool passes(const KeptVerdict& verdict) {
    return is_transient(verdict.verdict) || (!is_well(verdict) && is_of_the_system(verdict.code));
}

// Whether one of an entry's verdicts still rests on what it rested on.
bool holds(FileSystem& files, const json& kept, const KeptVerdict& verdict,
           const VerdictQuestion& question, std::int64_t now) {
    if (now < verdict.at ||
        (passes(verdict) && now - verdict.at >= std::chrono::seconds(k_transient_life).count())) {
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
        return item.value().is_string() &&
               item.value() == stamp_of(files, item.key(), verdict.depth);
    });
}

// In one shell a verdict says nothing of another: each has its own.
std::string name_of_entry(const VerdictQuestion& question) {
    return in_utf8(question.prefix) + '\n' + fingerprint(question.shell);
}

// What is kept for `question`; null where nothing is. The store of somebody with many environments
// takes milliseconds to be parsed, and a prompt asks for one of them: no more than that is, of the
// text as it is written here.
json entry_in(const std::string& directory, const VerdictQuestion& question) {
    const std::string text = text_in(directory);
    const std::string end = "\"schema\":" + json(k_schema).dump() + '}';
    const std::string name = json(name_of_entry(question)).dump() + ':';
    const void* const found = ::memmem(text.data(), text.size(), name.data(), name.size());
    if (found == nullptr || !text.ends_with(end)) {
        return nullptr;
    }
    const auto at =
        static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + name.size();
    return json::parse(object_at(std::string_view(text).substr(at)), nullptr, false);
}

// The verdicts of `question`'s environment and shell that hold, as they are kept in its entry. None
// where the machine is another.
json verdicts_that_hold(FileSystem& files, const json& entry, const VerdictQuestion& question,
                        std::int64_t now) {
    json held = json::array();
    if (!entry.is_object() ||
        text_at(entry, "machine") !=
            fingerprint(machine_now(files, question.driver) + devices_now(files))) {
        return held;
    }
    const auto list = entry.find("verdicts");
    if (list == entry.end() || !list->is_array()) {
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
    const bool looked = std::ranges::find(verdict.left_out, earlier.step) == verdict.left_out.end();
    if (!looks_as_far(verdict.depth, earlier.depth) || (!looked && !is_well(earlier))) {
        return false;
    }
    // What the system's state breaks is no chance: that all was well is over.
    return !passes(verdict) || passes(earlier) ||
           (!is_transient(verdict.verdict) && is_well(earlier));
}

int badness(const KeptVerdict& verdict) {
    return verdict.verdict == "ok"      ? 0
           : verdict.verdict == "warns" ? 1
           : verdict.verdict == "busy"  ? 2
                                        : 3;
}

std::int64_t kept_at(const json& entry) {
    const auto at = entry.is_object() ? entry.find("at") : entry.end();
    return at != entry.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

void drop_oldest(json& entries) {
    while (entries.size() >= k_entry_limit) {
        auto oldest = entries.begin();
        for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
            if (kept_at(*entry) < kept_at(*oldest)) {
                oldest = entry;
            }
        }
        entries.erase(oldest);
    }
}

// Orders those who read, add and write. Best effort: some network file systems have no such lock.
Fd lock_of(const std::string& directory) {
    Fd place;
    if (directory.starts_with('/') && make_private_directories(directory)) {
        place.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    const auto deadline = std::chrono::steady_clock::now() + k_lock_patience;
    while (place && ::flock(place.get(), LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) ||
            std::chrono::steady_clock::now() > deadline) {
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return place;
}

bool are_as_they_were(FileSystem& files, const VerdictGrounds& grounds) {
    return machine_now(files) == grounds.machine &&
           std::ranges::all_of(grounds.stamps, [&](const auto& stamp) {
               return stamp_of(files, stamp.first, grounds.depth) == stamp.second;
           });
}

} // namespace

std::string_view name_of(VerdictDepth depth) {
    return k_depths.at(static_cast<std::size_t>(depth));
}

bool is_transient(std::string_view verdict) {
    return verdict == "busy" || verdict == "crashed" || verdict == "timeout";
}

bool is_of_the_system(std::string_view code) {
    constexpr auto k_codes =
        std::to_array<std::string_view>({"CE302", "CE313", "CE314", "CE339", "CE356", "CE357"});
    return std::ranges::find(k_codes, code) != k_codes.end();
}

VerdictGrounds grounds_of(FileSystem& files, VerdictDepth depth,
                          const std::vector<std::string>& paths) {
    VerdictGrounds grounds{machine_now(files), depth, {}};
    for (const std::string& path : paths) {
        if (path.starts_with('/')) {
            grounds.stamps.try_emplace(path, stamp_of(files, path, depth));
        }
    }
    return grounds;
}

std::optional<KeptVerdict> VerdictStore::find(FileSystem& files, const VerdictQuestion& question,
                                              std::int64_t now) const {
    std::optional<KeptVerdict> worst;
    for (const json& kept :
         verdicts_that_hold(files, entry_in(m_directory, question), question, now)) {
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
    return question.prefix + end + question.shell + end + machine_now(files, question.driver);
}

bool VerdictStore::keep(FileSystem& files, const VerdictQuestion& question,
                        const VerdictGrounds& grounds, const std::vector<std::string>& rests_on,
                        const KeptVerdict& verdict) const {
    if (!are_as_they_were(files, grounds)) {
        return false;
    }
    VerdictQuestion now = question;
    now.driver.reset(); // it may be older than the grounds
    const Fd lock = lock_of(m_directory);
    json entries = entries_in(m_directory);
    json verdicts = json::array();
    const std::string name = name_of_entry(question);
    for (json& earlier : verdicts_that_hold(files, entries.value(name, json()), now, verdict.at)) {
        if (!replaces(verdict, *verdict_of(earlier))) {
            verdicts.push_back(std::move(earlier));
        }
    }
    if (verdict.depth != VerdictDepth::Build || !is_well(verdict)) {
        json stamps = json::object();
        for (const std::string& path : rests_on) {
            if (path.starts_with('/') && in_utf8(path) == path) {
                // Names of directories count as far as it looked.
                const auto before = grounds.stamps.find(path);
                const bool as_before =
                    before != grounds.stamps.end() &&
                    (grounds.depth == verdict.depth || !before->second.starts_with(k_names));
                stamps[path] = as_before ? before->second : stamp_of(files, path, verdict.depth);
            }
        }
        json& kept = verdicts.emplace_back(verdict_to_json(verdict));
        kept["files"] = std::move(stamps);
        kept["building"] = fingerprint(question.building);
    }
    entries.erase(name);
    drop_oldest(entries);
    entries[name] = {{"machine", fingerprint(grounds.machine + devices_now(files))},
                     {"at", verdict.at},
                     {"verdicts", std::move(verdicts)}};
    const std::string text = json{{"schema", k_schema}, {"environments", std::move(entries)}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
    write_private_file(m_directory, k_file, text);
    return true;
}

} // namespace cudaenv::host
