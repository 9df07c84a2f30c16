#include "daemon/service.hpp"

#include "base/text.hpp"
#include "daemon/activation/machine.hpp"
#include "daemon/environment_of_request.hpp"

#include <exception>
#include <new>

namespace cudaenv::daemon {

Lane Service::lane_of(const protocol::Request& request) const {
    const auto found = m_rows.find(request.method);
    if (found == m_rows.end()) {
        return Lane::Long;
    }
    const std::string& probes = found->second.probes;
    const auto asked = probes.empty() ? request.params.end() : request.params.find(probes);
    return asked != request.params.end() && *asked == true ? Lane::Probe : found->second.lane;
}

bool Service::is_stoppable(std::string_view method) const {
    const auto found = m_rows.find(method);
    return found != m_rows.end() && found->second.stoppable == Stoppable::Yes;
}

std::vector<std::string> Service::methods() const {
    std::vector<std::string> names;
    names.reserve(m_rows.size());
    for (const auto& [name, row] : m_rows) {
        names.push_back(name);
    }
    return names;
}

protocol::Response Service::answer(const protocol::Request& request, const Waiter& waiter) const {
    const auto fail = [&](tl::unexpected<Error> error) {
        return protocol::Response{request.id, std::move(error)};
    };
    const auto found = m_rows.find(request.method);
    if (found == m_rows.end()) {
        return fail(bad_input("no-such-method", "there is no method \"" + request.method + '"',
                              did_you_mean(request.method, methods())));
    }
    const MethodRow& row = found->second;
    if (!request.caller && row.lane != Lane::Here) {
        return fail(
            bad_input("no-caller", "the params of \"" + request.method + "\" have no \"caller\""));
    }
    try {
        if (request.caller) {
            if (auto answer = places_answer(request.params, *request.caller); !answer) {
                return fail(tl::unexpected(std::move(answer).error()));
            }
        }
        auto reply = row.handler(request.params, request.caller.value_or(protocol::Caller()),
                                 *m_machine, waiter);
        if (!reply) {
            return fail(tl::unexpected(std::move(reply).error()));
        }
        return protocol::Response{request.id, protocol::reply_to_json(*reply)};
    } catch (const std::bad_alloc&) {
        return fail(unavailable("no-memory", '"' + request.method +
                                                 "\" needs more memory than cudaenvd may have: see "
                                                 "`ulimit -v` and what is free"));
    } catch (const std::exception& thrown) {
        return fail(defect("\"" + request.method + "\" failed unexpectedly: " + thrown.what()));
    }
}

} // namespace cudaenv::daemon
