// What cudaenvd can be asked: a table of methods. It knows no socket: whoever carries the messages
// (session.hpp) calls `answer`.
//
// Law: every request gets exactly one response; what a handler throws becomes an Error of kind
// Defect. Handlers of different lanes, and two of the long one, run at the same time; they share
// this table, which does not change after `make_service`, and what is made for it (caches with a
// lock).
#pragma once

#include "base/result.hpp"
#include "daemon/waiter.hpp"
#include "protocol/message.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::daemon {

class Machine;

// `machine` is shared by all; once the waiter is gone one that is stoppable ends soon, with an
// Error.
using Method = Result<protocol::Reply>(const nlohmann::json& params, const protocol::Caller& caller,
                                       Machine& machine, const Waiter& waiter);
using Handler = std::function<Method>;

// Where a method runs.
enum class Lane {
    Here,  // on the io thread: no file, no wait; answered whatever else goes on, and without a
           // caller
    Quick, // somebody waits for a prompt: a few files at most
    Long,  // may take seconds: solves, looks at the whole machine
    Probe, // waits for a driver that may never answer
};

class Control;

enum class Stoppable { No, Yes };

struct MethodRow {
    Handler handler;
    Lane lane = Lane::Long;
    Stoppable stoppable = Stoppable::No;
    std::string probes = {}; // a request with this parameter uses Lane::Probe; empty: none does
};

class Service {
public:
    explicit Service(std::shared_ptr<Machine> machine) : m_machine(std::move(machine)) {}
    void add(std::string method, MethodRow row) {
        m_rows.insert_or_assign(std::move(method), std::move(row));
    }
    // Long for a method that there is not.
    [[nodiscard]] Lane lane_of(const protocol::Request& request) const;
    // Method names, sorted: the capabilities of `hello`.
    [[nodiscard]] std::vector<std::string> methods() const;
    // False for a method that there is not.
    [[nodiscard]] bool is_stoppable(std::string_view method) const;
    [[nodiscard]] protocol::Response answer(const protocol::Request& request,
                                            const Waiter& waiter = {}) const;

private:
    std::shared_ptr<Machine> m_machine;
    std::map<std::string, MethodRow, std::less<>> m_rows;
};

// The service of this build: every method of daemon/methods/. `control` answers for the process
// that offers it, and outlives it; without one there are no methods `daemon.*`.
Service make_service(Control* control = nullptr);

// What a running cudaenvd answers about itself, and can be ordered to do: on its io thread, but for
// what says otherwise.
class BackgroundProbe;

struct DaemonStatus {
    bool running = false; // listens for others
    std::string socket;   // its path
    std::int64_t uptime_seconds = 0;
    std::int64_t requests = 0; // answered since then, on all connections
    std::int64_t idle_exit_seconds = 0;
    std::string why_not; // where it does not listen
};

class Control {
public:
    Control() = default;
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    virtual ~Control() = default;

    [[nodiscard]] virtual DaemonStatus status() const = 0;
    // Listens no more at once, and ends when what is being answered is answered.
    virtual void leave(const std::string& why) = 0;
    // Lives as long as this; any thread.
    virtual BackgroundProbe& background_probe() = 0;
};

} // namespace cudaenv::daemon
