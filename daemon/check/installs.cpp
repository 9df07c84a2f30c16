#include "daemon/check/installs.hpp"

#include "base/fingerprint.hpp"
#include "daemon/check/examination.hpp"

#include <algorithm>
#include <ctime>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

namespace cudaenv::daemon {

namespace {

constexpr std::size_t k_most_looks = 64;
// So long after its last change a record that is not whole may still be written.
constexpr std::int64_t k_being_written_ns = 60'000'000'000;

std::string state_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return "-\n";
    }
    return std::to_string(status.st_dev) + ' ' + std::to_string(status.st_ino) + ' ' +
           std::to_string(status.st_mtim.tv_sec) + ' ' + std::to_string(status.st_mtim.tv_nsec) +
           '\n';
}

// How the directories are in which records come and go.
std::string stamp_of(const Activation& activation) {
    std::string stamp = state_of(activation.project.prefix + "/conda-meta");
    if (activation.situation.environment) {
        for (const std::string& site : activation.situation.environment->site_packages) {
            stamp += state_of(site);
        }
    }
    return fingerprint(stamp);
}

bool is_being_written(const facts::Inventory& inventory) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t since = now.tv_sec * 1'000'000'000LL + now.tv_nsec - k_being_written_ns;
    return std::ranges::any_of(inventory.distributions, [&](const facts::Distribution& one) {
        return one.kind == facts::DistributionKind::DistInfo && !one.has_record &&
               one.installed_ns > since;
    });
}

bool is_one_of(const std::string& text, const std::vector<std::string>& list) {
    return std::ranges::find(list, text) != list.end();
}

} // namespace

struct Installs::Reading {
    struct Told {
        std::string key;
        std::string code;
        std::string line;
    };
    std::vector<Told> findings; // worth a line, the worst first
    host::EnvironmentMemory memory;
    bool unfinished = false;
};

std::shared_ptr<const Installs::Reading> Installs::read(const std::string& prefix,
                                                        const protocol::Caller& caller,
                                                        const std::string& stamp,
                                                        Machine& machine) {
    auto reading = std::make_shared<Reading>();
    const auto examination = Examination::of(prefix, caller, machine.inventories());
    if (!examination) {
        return reading;
    }
    reading->unfinished = is_being_written((*examination)->inventory());
    for (const plan::CheckFinding& found : (*examination)->findings()) {
        if (found.told_at_prompt && !found.line.empty()) {
            reading->findings.push_back(
                {fingerprint(found.finding.code + '\n' + found.subject + '\n' + found.line),
                 found.finding.code, found.line});
        }
    }
    reading->memory = (*examination)->memory_now();
    reading->memory.stamp = stamp;
    return reading;
}

InstallNews Installs::news(const Activation& activation, const protocol::Caller& caller,
                           std::chrono::milliseconds patience) {
    const std::string& prefix = activation.project.prefix;
    if (prefix.empty() || activation.disabled || !activation.project.config.warns()) {
        return {};
    }
    const std::string stamp = stamp_of(activation);
    const host::EnvironmentMemories memories = memories_of(caller);
    const std::scoped_lock lock(m_mutex);
    if (m_looks.size() > k_most_looks) {
        m_looks.clear();
    }
    Look& look = m_looks[memories.directory() + '\n' + prefix];
    if (look.stamp != stamp) {
        look = {stamp, {}, memories.read(prefix).stamp == stamp};
    }
    if (look.told) {
        return {};
    }
    if (!look.reading.valid()) {
        try {
            look.reading =
                std::async(std::launch::async, [prefix, caller, stamp, machine = m_machine] {
                    return read(prefix, caller, stamp, *machine);
                }).share();
        } catch (const std::system_error&) {
            return {"", true}; // no thread to be had
        }
    }
    if (look.reading.wait_for(patience) != std::future_status::ready) {
        return {"", true};
    }
    const auto reading = look.reading.get();
    if (reading->unfinished) {
        look.reading = {};
        return {"", true};
    }
    // Another shell may have said it since; what is no longer found may be said again.
    const auto before = memories.read(prefix).told;
    host::EnvironmentMemory memory = reading->memory;
    memory.told.clear();
    std::vector<const Reading::Told*> unsaid;
    for (const Reading::Told& one : reading->findings) {
        memory.told.push_back(one.key);
        if (!is_one_of(one.key, before) &&
            !is_one_of(one.code, activation.project.config.ignored_findings())) {
            unsaid.push_back(&one);
        }
    }
    look.told = true;
    look.reading = {};
    if (!memories.write(prefix, memory) || unsaid.empty()) {
        return {};
    }
    std::string line = unsaid.front()->code + ' ' + unsaid.front()->line;
    if (unsaid.size() > 1) {
        line += ", and " + std::to_string(unsaid.size() - 1) + " more · cudaenv check";
    } else {
        line += " · cudaenv check " + unsaid.front()->code;
    }
    return {std::move(line), false};
}

} // namespace cudaenv::daemon
