#include "host/probe/verdict_store.hpp"

#include "base/ascii.hpp"
#include "base/fd.hpp"
#include "base/fingerprint.hpp"
#include "base/json_members.hpp"
#include "base/text.hpp"
#include "solver/facts/probe.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace cudaenv::probe {

namespace {

constexpr std::string_view k_names = "names:"; // so begins a directory's stamp
constexpr std::string_view k_loader_cache = "ld.so.cache";
constexpr std::size_t k_loader_cache_limit = std::size_t{4} * 1024 * 1024;

// A file that a probe of that depth may load; each loads libcuda and libcudart.
bool may_be_loaded(std::string_view name, VerdictDepth depth) {
    return name.starts_with("libcuda") ||
           (depth == VerdictDepth::Full &&
            std::ranges::any_of(facts::k_library_rungs, [&](const facts::RungRow& rung) {
                return name.starts_with(rung.library.file);
            }));
}

std::vector<std::string> cached_names(host::FileSystem& files, const std::string& path) {
    const std::string text = files.read_file(path, k_loader_cache_limit).value_or("");
    std::vector<std::string> names;
    for (const std::string_view name : split(text, '\0')) {
        if (name.starts_with("lib")) { // each is there a second time with its directory
            names.emplace_back(name);
        }
    }
    return names;
}

// Directories below `root` and theirs, `depth` levels: GPUs, MIG instances and their parts.
void add_names(host::FileSystem& files, const std::string& root, int depth, std::string& text) {
    for (const std::string& name : files.names_in(root)) {
        text += '\n' + root + '/' + name;
        if (depth > 1) {
            add_names(files, root + '/' + name, depth - 1, text);
        }
    }
}

bool looks_as_far(VerdictDepth depth, VerdictDepth other) {
    return depth == other || (depth == VerdictDepth::Full && other == VerdictDepth::Quick);
}

int badness(const KeptVerdict& verdict) {
    return verdict.verdict == "ok"      ? 0
           : verdict.verdict == "warns" ? 1
           : verdict.verdict == "busy"  ? 2
                                        : 3;
}

using nlohmann::json;

constexpr const char* k_schema = "cudaenv.probes/4";
constexpr std::size_t k_entry_limit = 200; // environments and shells; then the oldest goes

// The store's entries by their names; an empty object where there is none.
json entries_of(const std::string& text) {
    json entries = member(stored_json(text, k_schema), "environments");
    return entries.is_object() ? std::move(entries) : json::object();
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

std::string in_utf8(const std::string& text) {
    // Text that is not UTF-8 is saved as its JSON has it, on both sides of the comparison.
    return json::parse(stored_text(text)).get<std::string>();
}

std::optional<KeptVerdict> verdict_of(const json& kept) {
    constexpr auto k_depths =
        std::to_array({VerdictDepth::Quick, VerdictDepth::Full, VerdictDepth::Build});
    const auto depth =
        std::ranges::find(k_depths, text_at(kept, "depth"), [](auto one) { return name_of(one); });
    const long long at = number_at(kept, "at", -1);
    // Ages are differences.
    if (depth == k_depths.end() || at < 0 || !member(kept, "of_the_moment").is_boolean()) {
        return std::nullopt;
    }
    return KeptVerdict{text_at(kept, "verdict"),
                       text_at(kept, "step"),
                       text_at(kept, "code"),
                       text_at(kept, "summary"),
                       at,
                       *depth,
                       {},
                       flag_at(kept, "of_the_moment")};
}

json verdict_to_json(const KeptVerdict& verdict) {
    return {{"depth", name_of(verdict.depth)},
            {"verdict", verdict.verdict},
            {"step", verdict.step},
            {"code", verdict.code},
            {"summary", verdict.summary},
            {"of_the_moment", verdict.of_the_moment},
            {"at", verdict.at}};
}

// Whether one of an entry's verdicts still rests on what it rested on.
bool rests_as_before(FileStamps& stamps, const json& kept, const KeptVerdict& verdict,
                     const VerdictQuestion& question) {
    if (verdict.depth == VerdictDepth::Build &&
        text_at(kept, "building") != fingerprint(question.building)) {
        return false;
    }
    const json& files = member(kept, "files");
    return files.is_object() && std::ranges::all_of(files.items(), [&](const auto& item) {
               return item.value().is_string() &&
                      item.value() == stamps.of(item.key(), verdict.depth);
           });
}

// On one machine and in one shell a verdict says nothing of another: each has its own.
std::string name_of_entry(host::FileSystem& files, const VerdictQuestion& question) {
    return in_utf8(question.prefix) + '\n' + fingerprint(question.shell) + '\n' +
           in_utf8(name_of_machine(files));
}

// The entry of that name; null where there is none. The store of a user with many environments
// takes milliseconds to be parsed, and a prompt asks for one of them: no more than that is, of the
// text as it is written here.
json entry_in(const std::string& text, const std::string& entry) {
    const std::string end = "\"schema\":" + json(k_schema).dump() + '}';
    const std::string name = json(entry).dump() + ':';
    const void* const found = ::memmem(text.data(), text.size(), name.data(), name.size());
    if (found == nullptr || !text.ends_with(end)) {
        return nullptr;
    }
    const auto at =
        static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + name.size();
    return json::parse(object_at(std::string_view(text).substr(at)), nullptr, false);
}

struct Held {
    json kept; // as it is in its entry
    KeptVerdict verdict;
};

// The verdicts of `question`'s entry that hold. None where the machine is another.
std::vector<Held> verdicts_that_hold(host::FileSystem& files, FileStamps& stamps, const json& entry,
                                     const VerdictQuestion& question, std::int64_t now,
                                     VerdictReader::Wanted wanted = VerdictReader::Wanted::All) {
    std::vector<Held> held;
    for (const json& kept : list_at(entry, "verdicts")) {
        auto verdict = verdict_of(kept);
        if (verdict && !is_out_of_time(*verdict, now) &&
            (wanted == VerdictReader::Wanted::All || !is_well(*verdict))) {
            held.push_back({kept, *std::move(verdict)});
        }
    }
    if (!held.empty() &&
        text_at(entry, "machine") !=
            fingerprint(machine_stamp(files, question.driver) + devices_stamp(files))) {
        return {};
    }
    std::erase_if(held, [&](const Held& one) {
        return !rests_as_before(stamps, one.kept, one.verdict, question);
    });
    return held;
}

std::size_t size_of(const std::string& name, const json& entry) {
    constexpr std::size_t k_between = 2; // ':' and ','
    return stored_text(name).size() + stored_text(entry).size() + k_between;
}

// Until there is room for one more of `size` bytes.
void drop_oldest(json& entries, std::size_t size) {
    struct Other {
        std::int64_t at;
        std::size_t size;
        std::string name;
    };
    std::vector<Other> others;
    for (const auto& [name, entry] : entries.items()) {
        others.push_back({number_at(entry, "at"), size_of(name, entry), name});
        size += others.back().size;
    }
    std::ranges::sort(others, {}, &Other::at);
    for (const Other& oldest : others) {
        if (entries.size() < k_entry_limit && size <= VerdictStore::k_size_limit) {
            break;
        }
        entries.erase(oldest.name);
        size -= oldest.size;
    }
}

bool are_as_they_were(host::FileSystem& files, FileStamps& stamps, const VerdictGrounds& grounds) {
    return machine_stamp(files) == grounds.machine &&
           std::ranges::all_of(grounds.stamps, [&](const auto& stamp) {
               return stamps.of(stamp.first, grounds.depth) == stamp.second;
           });
}

} // namespace

bool is_of_names(std::string_view stamp) {
    return stamp.starts_with(k_names);
}

const FileStamps::Look& FileStamps::look(const std::string& path) {
    if (const auto found = m_looks.find(path); found != m_looks.end()) {
        return found->second;
    }
    Look look;
    if (const auto status = m_files->status(path); !status) {
        look.stamp = "absent";
    } else if (status->kind == host::FileKind::Directory) {
        if (auto names = m_files->list_directory(path)) {
            look.names = *std::move(names);
            look.all = host::base_name(path) == "nvidia"; // of wheels: each name is a package
        } else {
            look.stamp = "closed";
        }
    } else if (host::base_name(path) == k_loader_cache) {
        look.names = cached_names(*m_files, path);
    } else {
        // Who may read it too: no change of that is a change of its times.
        look.stamp = fmt::format("{}:{}:{:o}:{}:{}", status->size, status->modified_ns,
                                 status->mode, status->owner, status->group);
    }
    return m_looks.emplace(path, std::move(look)).first->second;
}

std::string FileStamps::of(const std::string& path, VerdictDepth depth) {
    const Look& seen = look(path);
    if (!seen.stamp.empty()) {
        return seen.stamp;
    }
    std::string text;
    for (const std::string& name : seen.names) {
        if (seen.all || may_be_loaded(host::base_name(name), depth)) {
            text += name + '\n';
        }
    }
    return std::string(k_names) + fingerprint(text);
}

std::string machine_stamp(host::FileSystem& files, const std::optional<DriverFiles>& looked_at) {
    std::string text = files.read_file("/proc/sys/kernel/random/boot_id").value_or("");
    const DriverFiles driver = looked_at ? *looked_at : look_at_driver(files);
    text += driver.module_text;
    if (!driver.library.empty()) {
        text += driver.library + ' ' + FileStamps(files).of(driver.library, VerdictDepth::Quick);
    }
    add_names(files, "/proc/driver/nvidia/gpus", 1, text);
    // gpu0/mig/gi1/ci0/access
    add_names(files, "/proc/driver/nvidia/capabilities", 4, text);
    return text;
}

std::string devices_stamp(host::FileSystem& files) {
    std::string text;
    for (const std::string& name : files.names_in("/dev")) {
        constexpr std::string_view k_begin = "nvidia";
        if (name.starts_with(k_begin) && name.size() > k_begin.size() &&
            is_digit(name[k_begin.size()])) {
            text += '\n' + name;
        }
    }
    return text;
}

std::string name_of_machine(host::FileSystem& files) {
    return std::string(trim(files.read_file("/proc/sys/kernel/hostname").value_or("")));
}

std::string_view name_of(VerdictDepth depth) {
    constexpr auto k_depths = std::to_array<std::string_view>({"quick", "full", "build"});
    return k_depths.at(static_cast<std::size_t>(depth));
}

bool is_transient(std::string_view verdict) {
    return verdict == "busy" || verdict == "crashed" || verdict == "timeout";
}

bool is_well(const KeptVerdict& verdict) {
    return verdict.verdict == "ok" || verdict.verdict == "warns";
}

bool passes(const KeptVerdict& verdict) {
    return is_transient(verdict.verdict) || (!is_well(verdict) && verdict.of_the_moment);
}

bool is_out_of_time(const KeptVerdict& verdict, std::int64_t now) {
    return now < verdict.at ||
           (passes(verdict) && now - verdict.at >= std::chrono::seconds(k_transient_life).count());
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

bool is_worth_keeping(const KeptVerdict& verdict) {
    return verdict.depth != VerdictDepth::Build || !is_well(verdict);
}

bool is_worse_than(const KeptVerdict& verdict, const KeptVerdict& other) {
    return badness(verdict) != badness(other) ? badness(verdict) > badness(other)
                                              : verdict.at >= other.at;
}

VerdictGrounds grounds_of(host::FileSystem& files, VerdictDepth depth,
                          const std::vector<std::string>& paths) {
    VerdictGrounds grounds{machine_stamp(files), depth, {}};
    FileStamps stamps(files);
    for (const std::string& path : paths) {
        if (path.starts_with('/')) {
            grounds.stamps.try_emplace(path, stamps.of(path, depth));
        }
    }
    return grounds;
}

std::optional<KeptVerdict> VerdictReader::find(const VerdictQuestion& question, std::int64_t now,
                                               Wanted wanted) {
    if (!m_text) {
        m_text = m_store.text();
    }
    std::optional<KeptVerdict> worst;
    for (Held& held : verdicts_that_hold(*m_files, m_stamps,
                                         entry_in(*m_text, name_of_entry(*m_files, question)),
                                         question, now, wanted)) {
        if (!worst || is_worse_than(held.verdict, *worst)) {
            worst = std::move(held.verdict);
        }
    }
    return worst;
}

std::optional<KeptVerdict> VerdictStore::find(host::FileSystem& files,
                                              const VerdictQuestion& question,
                                              std::int64_t now) const {
    return VerdictReader(files, *this).find(question, now);
}

std::string VerdictStore::key(host::FileSystem& files, const VerdictQuestion& question) {
    const char end = '\0'; // in none of the texts
    return question.prefix + end + question.shell + end + machine_stamp(files, question.driver);
}

bool VerdictStore::keep(host::FileSystem& files, const VerdictQuestion& question,
                        const VerdictGrounds& grounds, const std::vector<std::string>& rests_on,
                        const KeptVerdict& verdict) const {
    FileStamps looks(files);
    if (!are_as_they_were(files, looks, grounds)) {
        return false;
    }
    VerdictQuestion now = question;
    now.driver.reset(); // it may be older than the grounds
    const std::string name = name_of_entry(files, question);
    const Fd lock = m_store.lock();
    json entries = entries_of(text());
    json verdicts = json::array();
    for (Held& earlier :
         verdicts_that_hold(files, looks, entries.value(name, json()), now, verdict.at)) {
        if (!replaces(verdict, earlier.verdict)) {
            verdicts.push_back(std::move(earlier.kept));
        }
    }
    if (is_worth_keeping(verdict)) {
        json stamps = json::object();
        for (const std::string& path : rests_on) {
            if (path.starts_with('/') && in_utf8(path) == path) {
                // Names of directories count as far as it looked.
                const auto before = grounds.stamps.find(path);
                const bool as_before =
                    before != grounds.stamps.end() &&
                    (grounds.depth == verdict.depth || !is_of_names(before->second));
                stamps[path] = as_before ? before->second : looks.of(path, verdict.depth);
            }
        }
        json& kept = verdicts.emplace_back(verdict_to_json(verdict));
        kept["files"] = std::move(stamps);
        kept["building"] = fingerprint(question.building);
    }
    const json entry = {{"machine", fingerprint(grounds.machine + devices_stamp(files))},
                        {"at", verdict.at},
                        {"verdicts", std::move(verdicts)}};
    entries.erase(name);
    const json around = {{"schema", k_schema}, {"environments", json::object()}};
    const std::size_t own_size = size_of(name, entry) + stored_text(around).size();
    if (own_size > k_size_limit) {
        return true; // no room for it, whatever else went
    }
    drop_oldest(entries, own_size);
    entries[name] = entry;
    static_cast<void>(
        m_store.write_json({{"schema", k_schema}, {"environments", std::move(entries)}}));
    return true;
}

} // namespace cudaenv::probe
