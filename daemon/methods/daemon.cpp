#include "daemon/methods/methods.hpp"
#include "daemon/service.hpp"
#include "protocol/build_id.hpp"

#include <unistd.h>

namespace cudaenv::daemon {

namespace {

protocol::Reply reply_of(const DaemonStatus& status) {
    return {status.running ? 0 : 1,
            {{"schema", "cudaenv.daemon/1"},
             {"running", status.running},
             {"pid", ::getpid()},
             {"socket", text_or_null(status.socket)},
             {"build", std::string(protocol::build_id())},
             {"uptime_seconds", status.uptime_seconds},
             {"requests", status.requests},
             {"idle_exit_seconds", status.idle_exit_seconds},
             {"why_not", text_or_null(status.why_not)}}};
}

} // namespace

Handler daemon_status_method(Control& control) {
    return [&control](const auto&...) -> Result<protocol::Reply> {
        return reply_of(control.status());
    };
}

Handler daemon_drain_method(Control& control) {
    return [&control](const auto&...) -> Result<protocol::Reply> {
        control.leave("it was asked to");
        protocol::Reply reply = reply_of(control.status());
        reply.status = 0;
        return reply;
    };
}

} // namespace cudaenv::daemon
