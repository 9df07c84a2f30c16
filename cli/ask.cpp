#include "cli/ask.hpp"

#include "base/text.hpp"
#include "cli/report.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace cudaenv::cli {

namespace {

enum class Progress : std::uint8_t { No, IfShown, Always };

// What a question needs besides 60 seconds and the daemon that listens.
struct MethodRow {
    std::string_view method;
    std::chrono::seconds deadline{60};
    // Done once, by this process's own child, with this shell's umask and groups.
    bool writes_users_files = false;
    Progress progress = Progress::No;
};
// Reading a channel of hundreds of megabytes from a slow disk, or copying gigabytes.
constexpr std::chrono::seconds k_long{600};
constexpr auto k_methods = std::to_array<MethodRow>({
    {.method = "check", .progress = Progress::Always},
    {.method = "check.fix",
     .deadline = k_long,
     .writes_users_files = true,
     .progress = Progress::Always},
    {.method = "config", .writes_users_files = true},
    {.method = "explain", .deadline = k_long},
    {.method = "keep",
     .deadline = k_long,
     .writes_users_files = true,
     .progress = Progress::Always},
    {.method = "pin", .deadline = k_long, .writes_users_files = true},
    {.method = "probe", .deadline = protocol::k_probe_patience, .progress = Progress::IfShown},
    {.method = "resolve", .deadline = k_long},
    {.method = "unpin", .writes_users_files = true},
});

MethodRow row_of(std::string_view method, const nlohmann::json& params) {
    if (method == "host" && params.value("probe", false)) {
        method = "probe";
    }
    const auto* const row = std::ranges::find(k_methods, method, &MethodRow::method);
    return row == k_methods.end() ? MethodRow{} : *row;
}

// From this process's environment; null for an unset one.
nlohmann::json variables_named(const std::string& names) {
    nlohmann::json variables = nlohmann::json::object();
    for (const std::string_view name : split(names, ' ')) {
        const char* const value = std::getenv(std::string(name).c_str());
        variables[std::string(name)] =
            value == nullptr ? nlohmann::json() : protocol::bytes_to_json(value);
    }
    return variables;
}

} // namespace

std::chrono::seconds deadline_of(std::string_view method, const nlohmann::json& params) {
    return row_of(method, params).deadline;
}

Result<Conversation> Conversation::open(std::string_view method, const nlohmann::json& params,
                                        const AskWishes& wishes) {
    CUDAENV_TRY(
        auto connection,
        Connection::open({.daemon = !row_of(method, params).writes_users_files,
                          .start = wishes.afterwards == Afterwards::Execs ? StartDaemon::Never
                                                                          : StartDaemon::IfTerminal,
                          .on_progress = wishes.on_progress}));
    return Conversation(method, wishes, std::move(connection));
}

Result<protocol::Reply> Conversation::ask(nlohmann::json params, const protocol::Caller& caller) {
    const MethodRow row = row_of(m_method, params);
    const auto deadline = m_wishes.deadline.value_or(std::chrono::milliseconds(row.deadline));
    if (row.progress == Progress::Always ||
        (row.progress == Progress::IfShown && m_wishes.on_progress)) {
        params["progress"] = true;
    }
    auto reply = m_connection.ask({0, m_method, params, caller}, deadline);
    if (!reply && reply.error().code == protocol::k_wants_variables) {
        params[protocol::k_wanted_variables] = variables_named(reply.error().hint);
        reply = m_connection.ask({0, m_method, std::move(params), caller}, deadline);
    }
    if (m_wishes.explain == ExplainNoDaemon::Yes && !m_connection.from_daemon() &&
        !m_connection.why_no_daemon().empty()) {
        say("answered without the daemon: " + m_connection.why_no_daemon());
    }
    return reply;
}

Result<protocol::Reply> ask_daemon(std::string_view method, nlohmann::json params,
                                   const protocol::Caller& caller, const AskWishes& wishes) {
    CUDAENV_TRY(auto conversation, Conversation::open(method, params, wishes));
    return conversation.ask(std::move(params), caller);
}

} // namespace cudaenv::cli
