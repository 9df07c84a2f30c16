#include "daemon/probe/background_probe.hpp"

#include "daemon/host_of_request.hpp"
#include "daemon/measured.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "daemon/probe/probe.hpp"
#include "host/probe/gpu_usage.hpp"
#include "host/process.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <sys/eventfd.h>
#include <system_error>

namespace cudaenv::daemon {

namespace {

using Clock = std::chrono::steady_clock;

// The answer is out by then, and what a shell starts with.
constexpr std::chrono::seconds k_after{1};
// NVML answers in 30 ms on a sound machine.
constexpr std::chrono::seconds k_usage_deadline{5};
// A busy GPU is not asked about at every prompt.
constexpr std::chrono::seconds k_busy_pause{60};
// An idle GPU has what the driver keeps for itself in use.
constexpr std::uint64_t k_idle_memory = std::uint64_t{1} << 30U;
constexpr std::size_t k_most_noted = 16;
constexpr std::size_t k_most_tried = 1000;

bool is_wanted(const Activation& activation) {
    if (activation.disabled || activation.project.prefix.empty()) {
        return false;
    }
    const auto* setting = activation.project.config.find("probe.background");
    const auto* wanted = setting == nullptr ? nullptr : std::get_if<bool>(&setting->value);
    return wanted != nullptr && *wanted;
}

// Of a GPU that is cut into instances NVML never says its load, but which processes are on it.
bool is_known(const probe::GpuUsage& gpu) {
    return gpu.lists_processes && gpu.memory_used && (gpu.utilization || gpu.mig);
}

bool is_idle(const probe::GpuUsage& gpu) {
    return gpu.processes.empty() && gpu.utilization.value_or(0) == 0 &&
           gpu.memory_used.value_or(0) <= k_idle_memory;
}

enum class GpuLoad { Idle, Busy, Unknown };

GpuLoad look_at_gpus(const std::string& program, const patch::Variables& shell, int stop_event) {
    std::vector<std::string> environment;
    for (const char* name : {"LD_LIBRARY_PATH", "PATH"}) {
        if (const auto found = shell.find(name); found != shell.end()) {
            environment.push_back(found->first + '=' + found->second);
        }
    }
    host::ChildProcessRunner children(stop_event);
    const auto outcome =
        children.run({{program, "--usage"}, std::move(environment)}, k_usage_deadline);
    if (!outcome.failure.empty()) {
        return GpuLoad::Unknown;
    }
    const auto usage = probe::read_gpu_usage(outcome.output);
    if (!usage || usage->gpus.empty() || !usage->errors.empty()) {
        return GpuLoad::Unknown;
    }
    if (!std::ranges::all_of(usage->gpus, is_idle)) {
        return GpuLoad::Busy;
    }
    return std::ranges::all_of(usage->gpus, is_known) ? GpuLoad::Idle : GpuLoad::Unknown;
}

} // namespace

BackgroundProbe::~BackgroundProbe() {
    stop();
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

void BackgroundProbe::allow() {
    const std::scoped_lock lock(m_mutex);
    m_allowed = true;
}

void BackgroundProbe::stop() {
    const std::scoped_lock lock(m_mutex);
    m_stopped = true;
    m_noted.clear();
    if (m_stop_event) {
        ::eventfd_write(m_stop_event.get(), 1);
    }
    m_changed.notify_all();
}

void BackgroundProbe::consider(const nlohmann::json& params, const protocol::Caller& caller,
                               const Activation& activation,
                               const std::shared_ptr<Machine>& machine) {
    if (!is_wanted(activation) || is_described(params, caller)) {
        return;
    }
    const std::scoped_lock lock(m_mutex);
    if (!m_allowed || m_stopped || m_noted.size() >= k_most_noted) {
        return;
    }
    if (!m_thread.joinable()) {
        m_stop_event.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!m_stop_event) {
            return; // without it a probe could not be stopped
        }
        try {
            m_thread = std::thread([this] { work(); });
        } catch (const std::system_error&) {
            return; // no room for one more of the user's: the prompt's answer is unaffected
        }
    }
    m_noted.insert_or_assign(std::pair(activation.project.prefix,
                                       shell_text(activation.applied.environment, caller.cwd)),
                             Job{params, caller, machine});
    m_changed.notify_all();
}

void BackgroundProbe::work() {
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_stopped || !m_noted.empty(); });
        m_changed.wait_for(lock, k_after, [this] { return m_stopped; });
        const auto jobs = std::exchange(m_noted, {});
        for (const auto& [asker, job] : jobs) {
            if (m_stopped) {
                return;
            }
            lock.unlock();
            try {
                probe(job);
            } catch (const std::exception&) {
                // No client waits for it; a probe that is asked for reports it.
            }
            lock.lock();
        }
        if (m_stopped) {
            return;
        }
    }
}

void BackgroundProbe::probe(const Job& job) {
    protocol::Caller caller = job.caller;
    const auto activation = activation_of(job.params, caller, *job.machine);
    if (!activation || !is_wanted(*activation)) {
        return; // something changed since
    }
    const project::LoadedProject& project = activation->project;
    // What the shell is after the answer: its LD_LIBRARY_PATH is part of the question.
    caller.environment.clear();
    caller.environment.insert(activation->applied.environment.begin(),
                              activation->applied.environment.end());
    const std::string program = probe_beside_this_program();
    const Asker asker{project, activation->situation.base, caller};
    if (program.empty() || kept_verdict(asker)) {
        return;
    }
    const std::string key = verdict_key(asker);
    const auto paused = m_busy.find(key);
    if (m_tried.contains(key) || m_tried.size() >= k_most_tried ||
        (paused != m_busy.end() && Clock::now() - paused->second < k_busy_pause)) {
        return;
    }
    switch (look_at_gpus(program, activation->applied.environment, m_stop_event.get())) {
    case GpuLoad::Busy:
        put_off(key);
        return;
    case GpuLoad::Unknown:
        m_tried.insert(key);
        return;
    case GpuLoad::Idle:
        break;
    }
    m_busy.erase(key);
    m_tried.insert(key);
    const ProbeWishes quick;
    const auto run = run_probe(*activation, quick, caller, *job.machine, {m_stop_event.get(), {}});
    if (!run || is_stopped()) {
        return;
    }
    // Without the lock, which answers wait for: a home on a network may be slow.
    if (!keep_verdict(*run, quick, asker)) {
        m_tried.erase(key); // what it rests on changed meanwhile
        put_off(key);
        return;
    }
    keep_measured(measured_of(*run, caller), *run, quick, caller);
    const auto kept = kept_verdict(asker);
    if (kept && !probe::is_transient(kept->verdict)) {
        m_tried.erase(key); // what is kept says better what it rests on
    }
}

void BackgroundProbe::put_off(const std::string& key) {
    const auto now = Clock::now();
    std::erase_if(m_busy, [&](const auto& one) { return now - one.second >= k_busy_pause; });
    if (m_busy.size() < k_most_tried) {
        m_busy[key] = now;
    } else {
        m_tried.insert(key); // more shells than anybody has: not asked about any more
    }
}

bool BackgroundProbe::is_stopped() {
    const std::scoped_lock lock(m_mutex);
    return m_stopped;
}

} // namespace cudaenv::daemon
