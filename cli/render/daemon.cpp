#include "base/json_members.hpp"
#include "base/printable.hpp"
#include "cli/render/render.hpp"

namespace cudaenv::cli {

namespace {

// "15 min", "2 h 5 min", "40 s"
std::string duration(long long seconds) {
    if (seconds < 60) {
        return std::to_string(seconds) + " s";
    }
    const long long minutes = seconds / 60;
    return joined({minutes >= 60 ? std::to_string(minutes / 60) + " h" : "",
                   minutes % 60 != 0 ? std::to_string(minutes % 60) + " min" : ""},
                  " ");
}

} // namespace

// daemon     running, pid 4711, for 5 min
// socket     /run/user/1000/cudaenv/daemon.socket
// build      0.1.0+g1a2b3c4
// requests   12
// exits      after 15 min without requests
std::string render_daemon(const nlohmann::json& daemon, const Style& style) {
    Page page(style);
    if (!flag_at(daemon, "running")) {
        page.row("daemon", "not running");
        if (const std::string why = text_at(daemon, "why_not"); !why.empty()) {
            page.row("", why);
        }
        return page.text();
    }
    page.row("daemon", "running, pid " + std::to_string(number_at(daemon, "pid")) + ", for " +
                           duration(number_at(daemon, "uptime_seconds")));
    page.row("socket", text_at(daemon, "socket"));
    page.row("build", text_at(daemon, "build"));
    page.row("requests", std::to_string(number_at(daemon, "requests")));
    page.row("exits",
             "after " + duration(number_at(daemon, "idle_exit_seconds")) + " without requests");
    return page.text();
}

// 2026-01-31T12:00:00.123Z info  4711 listens on ...
std::string render_log_line(const nlohmann::json& line) {
    std::string level = text_at(line, "level");
    level.resize(5, ' ');
    return printable(text_at(line, "time") + ' ' + level + ' ' +
                     std::to_string(number_at(line, "pid")) + ' ' + text_at(line, "text")) +
           '\n';
}

} // namespace cudaenv::cli
