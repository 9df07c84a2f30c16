// What cudaenvd can be asked: a table of methods. It knows no socket: whoever carries the messages
// (session.hpp: a child's standard streams) calls `answer`.
//
// Law: every request gets exactly one response; what a handler throws becomes an Error of kind
// Defect. Handlers run on a worker thread and share nothing but this table, which does not change
// after `make_service`.
#pragma once

#include "base/result.hpp"
#include "protocol/message.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cudaenv::daemon {

using Handler = std::function<Result<protocol::Reply>(const nlohmann::json& params,
                                                      const protocol::Caller& caller)>;

class Service {
public:
    void add(std::string method, Handler handler);
    // Method names, sorted: the capabilities of `hello`.
    [[nodiscard]] std::vector<std::string> methods() const;
    [[nodiscard]] protocol::Response answer(const protocol::Request& request) const;

private:
    std::map<std::string, Handler, std::less<>> m_handlers;
};

// The service of this build: every method of daemon/methods/.
Service make_service();

} // namespace cudaenv::daemon
