#include "check/memory/environment_memory.hpp"

#include "base/fingerprint.hpp"
#include "base/real_path.hpp"
#include "solver/facts/json_fields.hpp"

#include <fmt/format.h>

#include <array>
#include <fcntl.h>
#include <sys/stat.h>

namespace cudaenv::facts {

constexpr auto words_of(Origin /*type*/) {
    return std::to_array<const char*>({"wheel", "kept", "built", "editable"});
}

constexpr auto fields_of(const SeenDistribution* /*type*/) {
    using Seen = SeenDistribution;
    return std::tuple(Field("name", &Seen::name, Presence::Required),
                      Field("version", &Seen::version), Field("origin", &Seen::origin),
                      Field("source", &Seen::source, Presence::Bytes),
                      Field("metadata", &Seen::metadata, Presence::Bytes),
                      Field("installed_ns", &Seen::installed_ns), Field("gone_ns", &Seen::gone_ns),
                      Field("files", &Seen::files), Field("pure", &Seen::pure));
}

} // namespace cudaenv::facts

namespace cudaenv::memory {

constexpr auto fields_of(const UnsaidFinding* /*type*/) {
    return std::tuple(facts::Field("key", &UnsaidFinding::key),
                      facts::Field("code", &UnsaidFinding::code),
                      facts::Field("line", &UnsaidFinding::line));
}

constexpr auto fields_of(const AcceptedFinding* /*type*/) {
    return std::tuple(facts::Field("key", &AcceptedFinding::key),
                      facts::Field("code", &AcceptedFinding::code),
                      facts::Field("subject", &AcceptedFinding::subject));
}

constexpr auto fields_of(const EnvironmentMemory* /*type*/) {
    using Memory = EnvironmentMemory;
    return std::tuple(facts::Field("stamp", &Memory::stamp), facts::Field("seen", &Memory::seen),
                      facts::Field("reported", &Memory::reported),
                      facts::Field("unsaid", &Memory::unsaid),
                      facts::Field("accepted", &Memory::accepted));
}

namespace {

constexpr const char* k_schema = "cudaenv.environment-memory/2";

// Changes where another environment is created at the same place.
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

PrivateStore EnvironmentMemories::store_of(const std::string& prefix) const {
    return {m_directory.empty() ? "" : m_directory + "/environments",
            fingerprint(real_path(prefix)) + ".json", k_size_limit};
}

EnvironmentMemory EnvironmentMemories::read(const std::string& prefix) const {
    const auto document = store_of(prefix).read_json(k_schema);
    if (document.empty() || document.value("identity", nlohmann::json()) != identity_of(prefix)) {
        return {};
    }
    EnvironmentMemory memory;
    facts::Reader reader({}, {});
    facts::read_object(facts::At{reader, document}, memory);
    return reader.error() ? EnvironmentMemory() : memory;
}

bool EnvironmentMemories::write(const std::string& prefix, const EnvironmentMemory& memory) const {
    auto document = facts::object_json(memory);
    document["schema"] = k_schema;
    document["identity"] = identity_of(prefix);
    return store_of(prefix).write_json(document);
}

} // namespace cudaenv::memory
