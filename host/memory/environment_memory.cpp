#include "host/memory/environment_memory.hpp"

#include "base/fingerprint.hpp"
#include "base/json_bytes.hpp"
#include "base/private_files.hpp"
#include "base/real_path.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>

namespace cudaenv::host {

namespace {

using nlohmann::json;

constexpr const char* k_schema = "cudaenv.environment-memory/1";

std::string_view name_of(facts::Origin origin) {
    switch (origin) {
    case facts::Origin::Built:
        return "built";
    case facts::Origin::Editable:
        return "editable";
    case facts::Origin::Kept:
        return "kept";
    case facts::Origin::Wheel:
        break;
    }
    return "wheel";
}

facts::Origin origin_named(std::string_view name) {
    return name == "built"      ? facts::Origin::Built
           : name == "editable" ? facts::Origin::Editable
           : name == "kept"     ? facts::Origin::Kept
                                : facts::Origin::Wheel;
}

template <class Value>
Value value_at(const json& object, const char* name, Value fallback) {
    const auto found = object.find(name);
    if (found == object.end()) {
        return fallback;
    }
    if constexpr (std::is_same_v<Value, std::string>) {
        return found->is_string() ? found->get<std::string>() : fallback;
    } else {
        return found->is_number_integer() ? found->get<Value>() : fallback;
    }
}

std::string bytes_at(const json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? std::string() : bytes_of_json(*found).value_or("");
}

const json& list_at(const json& object, const char* name) {
    static const json none = json::array();
    const auto found = object.find(name);
    return found != object.end() && found->is_array() ? *found : none;
}

// Tells an environment from one that was made anew at its place.
std::string identity_of(const std::string& prefix) {
    std::string identity = real_path(prefix);
    for (const char* name : {"", "/conda-meta", "/pyvenv.cfg"}) {
        struct statx status {};
        if (::statx(AT_FDCWD, (prefix + name).c_str(), AT_NO_AUTOMOUNT, STATX_INO | STATX_BTIME,
                    &status) == 0) {
            identity += fmt::format("\n{} {} {} {}", name, status.stx_ino, status.stx_btime.tv_sec,
                                    status.stx_btime.tv_nsec);
        }
    }
    return fingerprint(identity);
}

} // namespace

std::string EnvironmentMemories::name_of(const std::string& prefix) const {
    return fingerprint(real_path(prefix)) + ".json";
}

EnvironmentMemory EnvironmentMemories::read(const std::string& prefix) const {
    EnvironmentMemory memory;
    if (m_directory.empty()) {
        return memory;
    }
    const json document = json::parse(
        read_private_file(m_directory + "/environments/" + name_of(prefix), k_size_limit), nullptr,
        false);
    if (!document.is_object() || value_at<std::string>(document, "schema", "") != k_schema ||
        value_at<std::string>(document, "identity", "") != identity_of(prefix)) {
        return memory;
    }
    memory.stamp = value_at<std::string>(document, "stamp", "");
    for (const json& entry : list_at(document, "seen")) {
        if (!entry.is_object()) {
            continue;
        }
        facts::SeenDistribution seen;
        seen.name = value_at<std::string>(entry, "name", "");
        seen.version = value_at<std::string>(entry, "version", "");
        seen.origin = origin_named(value_at<std::string>(entry, "origin", ""));
        seen.source = bytes_at(entry, "source");
        seen.metadata = bytes_at(entry, "metadata");
        seen.installed_ns = value_at<std::int64_t>(entry, "installed_ns", 0);
        seen.gone_ns = value_at<std::int64_t>(entry, "gone_ns", 0);
        seen.files = value_at<std::uint32_t>(entry, "files", 0);
        seen.pure = value_at<int>(entry, "pure", 0) == 1;
        if (!seen.name.empty()) {
            memory.seen.push_back(std::move(seen));
        }
    }
    for (const json& told : list_at(document, "told")) {
        if (told.is_string()) {
            memory.told.push_back(told.get<std::string>());
        }
    }
    for (const json& entry : list_at(document, "unsaid")) {
        if (entry.is_object()) {
            memory.unsaid.push_back({value_at<std::string>(entry, "key", ""),
                                     value_at<std::string>(entry, "code", ""),
                                     value_at<std::string>(entry, "line", "")});
        }
    }
    return memory;
}

bool EnvironmentMemories::write(const std::string& prefix, const EnvironmentMemory& memory) const {
    if (m_directory.empty()) {
        return false;
    }
    json seen = json::array();
    for (const facts::SeenDistribution& one : memory.seen) {
        seen.push_back({{"name", one.name},
                        {"version", one.version},
                        {"origin", ::cudaenv::host::name_of(one.origin)},
                        {"source", bytes_to_json(one.source)},
                        {"metadata", bytes_to_json(one.metadata)},
                        {"installed_ns", one.installed_ns},
                        {"gone_ns", one.gone_ns},
                        {"files", one.files},
                        {"pure", one.pure ? 1 : 0}});
    }
    json unsaid = json::array();
    for (const UnsaidFinding& one : memory.unsaid) {
        unsaid.push_back({{"key", one.key}, {"code", one.code}, {"line", one.line}});
    }
    const json document = {{"schema", k_schema},    {"identity", identity_of(prefix)},
                           {"stamp", memory.stamp}, {"seen", std::move(seen)},
                           {"told", memory.told},   {"unsaid", std::move(unsaid)}};
    const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() <= k_size_limit &&
           write_private_file(m_directory + "/environments", name_of(prefix), text);
}

} // namespace cudaenv::host
