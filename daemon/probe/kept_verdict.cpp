#include "daemon/probe/kept_verdict.hpp"

#include "base/fd.hpp"
#include "host/examine.hpp"
#include "host/probe/driver_files.hpp"

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

host::VerdictStore store_of(const protocol::Caller& caller) {
    return host::VerdictStore(
        host::default_cache_directory(caller.environment, caller.variable("HOME").value_or("")));
}

host::VerdictQuestion question_of(const std::string& prefix, const protocol::Caller& caller) {
    // Without our own changes: a shell at its first prompt does not have them yet.
    const plan::Variables shell = plan::undo(caller.environment);
    const auto devices = shell.find("CUDA_VISIBLE_DEVICES");
    return {prefix, devices == shell.end() ? std::string() : '=' + devices->second,
            host::value_of(shell, "LD_LIBRARY_PATH")};
}

// "3 min ago", "2 h ago", "5 d ago".
std::string age_text(std::int64_t seconds) {
    constexpr std::int64_t k_minute = 60;
    constexpr std::int64_t k_hour = 60 * k_minute;
    constexpr std::int64_t k_day = 24 * k_hour;
    if (seconds < k_minute) {
        return "just now";
    }
    return seconds < k_hour  ? std::to_string(seconds / k_minute) + " min ago"
           : seconds < k_day ? std::to_string(seconds / k_hour) + " h ago"
                             : std::to_string(seconds / k_day) + " d ago";
}

} // namespace

void keep_verdict(const ProbeRun& run, const std::string& prefix, const ProbeWishes& wishes,
                  const protocol::Caller& caller) {
    if (wishes.all_gpus) {
        return;
    }
    std::vector<std::string> rests_on;
    for (const auto* list : {&run.libraries.cudart, &run.libraries.nvrtc, &run.libraries.cublas,
                             &run.libraries.cudnn, &run.libraries.nccl}) {
        rests_on.insert(rests_on.end(), list->begin(), list->end());
    }
    for (const facts::ProbeRung& rung : run.report.rungs) {
        if (!rung.path.empty() && rung.step < facts::ProbeStep::Build) {
            rests_on.push_back(rung.path);
        }
    }
    host::KeptVerdict kept;
    kept.verdict = plan::name_of(run.ladder.verdict);
    kept.summary = run.ladder.summary;
    const auto failed =
        std::ranges::find(run.ladder.steps, plan::StepStatus::Fails, &plan::JudgedStep::status);
    if (failed != run.ladder.steps.end()) {
        kept.step = failed->name;
        kept.code = failed->code;
    }
    kept.at = std::time(nullptr);
    host::DiskFileSystem files;
    store_of(caller).keep(files, question_of(prefix, caller), rests_on, kept);
}

std::optional<host::KeptVerdict> kept_verdict(const std::string& prefix,
                                              const protocol::Caller& caller) {
    host::DiskFileSystem files;
    return store_of(caller).find(files, question_of(prefix, caller));
}

std::string verdict_key(const std::string& prefix, const protocol::Caller& caller) {
    host::DiskFileSystem files;
    return host::VerdictStore::key(files, question_of(prefix, caller));
}

bool is_bad(const host::KeptVerdict& kept) {
    return kept.verdict == "fails" || kept.verdict == "driver-broken" ||
           kept.verdict == "crashed" || kept.verdict == "timeout";
}

std::string in_short(const host::KeptVerdict& kept) {
    std::string text = kept.verdict;
    text += kept.step.empty() ? "" : " at " + kept.step;
    return kept.code.empty() ? text : text + " (" + kept.code + ')';
}

nlohmann::json kept_to_json(const std::optional<host::KeptVerdict>& kept) {
    if (!kept) {
        return nullptr;
    }
    const std::int64_t age = std::max<std::int64_t>(0, std::time(nullptr) - kept->at);
    const bool fine = kept->verdict == "ok" || kept->verdict == "warns";
    return {{"verdict", kept->verdict},
            {"step", kept->step.empty() ? nlohmann::json() : nlohmann::json(kept->step)},
            {"code", kept->code.empty() ? nlohmann::json() : nlohmann::json(kept->code)},
            {"summary", kept->summary},
            {"age_seconds", age},
            {"text", in_short(*kept) + ", " + age_text(age) +
                         (fine ? "" : ": " + kept->summary + "; cudaenv probe")}};
}

std::string driver_warning() {
    host::DiskFileSystem files;
    const host::DriverFiles driver = host::look_at_driver(files);
    if (!driver.differ()) {
        return {};
    }
    return "the driver was upgraded under the running system: its library is " +
           driver.library_version->str() + ", the loaded kernel module " + driver.module->str() +
           "; CUDA fails until a reboot";
}

std::string driver_library() {
    host::DiskFileSystem files;
    return host::look_at_driver(files).library;
}

bool is_news(const std::string& directory, const std::string& text) {
    if (directory.empty()) {
        return false;
    }
    const Fd file(::open((directory + "/driver-told").c_str(),
                         O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    std::string told(4096, '\0');
    const ssize_t size = file ? ::read(file.get(), told.data(), told.size()) : -1;
    if (size < 0) {
        return false;
    }
    told.resize(static_cast<std::size_t>(size));
    return told != text && ::ftruncate(file.get(), 0) == 0 &&
           ::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

} // namespace cudaenv::daemon
