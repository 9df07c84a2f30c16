#include "base/fingerprint.hpp"
#include "daemon/check/fixing.hpp"
#include "daemon/heartbeat.hpp"
#include "daemon/methods/methods.hpp"
#include "protocol/json_field.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>

namespace cudaenv::daemon {

namespace {

// What was shown last. `check --fix` asks three questions over one connection, of a daemon that is
// its own child: the steps, to have them done, and what is left.
struct Shown {
    std::string prefix;
    std::string plan;
    std::set<std::string> files; // that its findings name
    std::string stamp;           // of them
    Seen seen;
};

class LastShown {
public:
    std::optional<Shown> take() {
        const std::lock_guard lock(m_guard);
        return std::exchange(m_shown, std::nullopt);
    }
    void keep(Shown shown) {
        const std::lock_guard lock(m_guard);
        m_shown = std::move(shown);
    }

private:
    std::mutex m_guard;
    std::optional<Shown> m_shown;
};

// A change of a file changes it.
std::string stamp_of(const std::string& prefix, const std::set<std::string>& files) {
    std::string stamp;
    for (const std::string& file : files) {
        struct stat status {};
        const std::string path = file.starts_with('/') ? file : prefix + '/' + file;
        if (::lstat(path.c_str(), &status) != 0) {
            stamp += '-';
            continue;
        }
        for (const auto number :
             {static_cast<std::int64_t>(status.st_ino), static_cast<std::int64_t>(status.st_size),
              static_cast<std::int64_t>(status.st_mtim.tv_sec),
              static_cast<std::int64_t>(status.st_mtim.tv_nsec),
              static_cast<std::int64_t>(status.st_ctim.tv_sec),
              static_cast<std::int64_t>(status.st_ctim.tv_nsec)}) {
            stamp += std::to_string(number) + ' ';
        }
    }
    return fingerprint(stamp);
}

// Params: those of `check`. Says what would be done; with `carry_out` it is done, where the plan is
// still that of the fingerprint `plan`, except steps that have a `command`: those are the client's,
// which has the user's whole environment. With `plan` alone: what is left after that plan.
Result<protocol::Reply> check_fix(const nlohmann::json& params, const protocol::Caller& caller,
                                  Machine& machine, const Waiter& waiter, LastShown& last) {
    CUDAENV_TRY(const auto choice, FindingChoice::of(params));
    CUDAENV_TRY(const bool carries_out, protocol::bool_field(params, "carry_out", false));
    CUDAENV_TRY(const auto plan, protocol::string_field(params, "plan"));
    Heartbeat heartbeat(waiter, "files");
    auto shown = last.take();
    Earlier earlier;
    if (shown && shown->plan == plan) {
        earlier.seen = &shown->seen;
        earlier.files_unchanged =
            carries_out && stamp_of(shown->prefix, shown->files) == shown->stamp;
    }
    CUDAENV_TRY(auto examination,
                Examination::of(params, caller, machine, rules::CheckDepth::Everything,
                                heartbeat.goes_on(), earlier));
    const std::string prefix = examination->inventory().prefix;
    Fixing fixing(*examination, choice, caller);
    CUDAENV_TRY_VOID(fixing.check_nobody_at_work());
    auto files = fixing.files();
    Shown now{prefix, fixing.fingerprint(), files, {}, examination->seen()};
    if (!carries_out) {
        repair::clear_interrupted(prefix);
        if (fixing.has_steps()) {
            CUDAENV_TRY_VOID(repair::check_writable(examination->inventory()));
            now.stamp = stamp_of(prefix, files);
            last.keep(std::move(now));
        }
        memories_of(caller).write(prefix, examination->memory_now());
        return protocol::Reply{fixing.fails() ? 1 : 0, fixing.object()};
    }
    if (plan != fixing.fingerprint()) {
        return unavailable("changed", "the environment has changed since the steps were shown",
                           "run the same command again");
    }
    CUDAENV_TRY(auto done, fixing.carry_out(heartbeat.goes_on()));
    const auto unmet = examination->unmet();
    const auto findings = examination->findings();
    examination.reset(); // one examination of an environment at a time
    const auto after = Examination::of(params, caller, machine, rules::CheckDepth::Everything, {},
                                       {.seen = &now.seen});
    const std::string worse =
        after ? rules::worse_of(unmet, findings, (*after)->unmet(), (*after)->findings())
              : after.error().message;
    if (!worse.empty()) {
        Fixing::undo(done, worse);
    }
    now.stamp = stamp_of(prefix, files);
    last.keep(std::move(now));
    return protocol::Reply{0, std::move(done.object)};
}

} // namespace

Handler check_fix_method() {
    return [last = std::make_shared<LastShown>()](
               const nlohmann::json& params, const protocol::Caller& caller, Machine& machine,
               const Waiter& waiter) { return check_fix(params, caller, machine, waiter, *last); };
}

} // namespace cudaenv::daemon
