#include "daemon/methods/methods.hpp"

#include "daemon/check/installs.hpp"

namespace cudaenv::daemon {

Service make_service(Control* control) {
    const auto machine = std::make_shared<Machine>();
    const auto installs = std::make_shared<Installs>(machine);
    Service service(machine);
    service.add("activate", {activate_method(machine, installs, control), Lane::Quick});
    service.add("activate.said", {said_method(installs)});
    service.add("check", {check, Lane::Long, Stoppable::Yes});
    service.add("check.fix", {check_fix_method(), Lane::Long, Stoppable::Yes});
    service.add("config", {config});
    service.add("constraints", {constraints});
    service.add("debug.oracle", {oracle});
    service.add("explain", {explain});
    service.add("host", {host, Lane::Long, Stoppable::Yes, "probe"});
    service.add("keep", {keep, Lane::Long, Stoppable::Yes});
    service.add("pin", {pin});
    service.add("probe", {probe, Lane::Probe, Stoppable::Yes});
    service.add("release", {release});
    service.add("resolve", {resolve});
    service.add("schema", {schema});
    service.add("status", {status});
    service.add("toolkits", {toolkits});
    service.add("unpin", {unpin});
    service.add("usage", {usage, Lane::Probe, Stoppable::Yes});
    if (control != nullptr) {
        service.add("daemon.status", {daemon_status_method(*control), Lane::Here});
        service.add("daemon.drain", {daemon_drain_method(*control), Lane::Here});
    }
    return service;
}

} // namespace cudaenv::daemon
