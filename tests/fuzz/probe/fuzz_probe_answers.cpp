// Any bytes as what cudaenv-probe says besides its report (--facts, --usage, the ladder's lines as
// they come), as what compilers and the programs that they built say, and as what /proc says of a
// process on a GPU: read within bounds, or refused with one Error; the same however it is cut.
#include "base/raw_bytes.hpp"
#include "host/driver.hpp"
#include "host/probe/build_trial.hpp"
#include "host/probe/gpu_usage.hpp"
#include "host/probe/probe_report.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/fake_disk.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace cudaenv;
using namespace cudaenv::host;
using namespace cudaenv::probe;

void require_refusal(const Error& error) {
    require(error.kind == ErrorKind::Unavailable && error.code == "bad-probe-answer");
    require(!error.message.empty());
}

void check_facts(std::string_view line) {
    const auto facts = parse_probe_facts(line);
    if (!facts) {
        require_refusal(facts.error());
        return;
    }
    require(!facts->driver_version || facts->driver_version->major() > 0);
    require(!facts->cuda || facts->cuda->major() > 0);
    for (const facts::Gpu& gpu : facts->gpus) {
        require(gpu.index >= 0 && gpu.source == "NVML");
        require(!gpu.compute_capability || gpu.compute_capability->major > 0);
    }
}

bool is_within(const std::optional<int>& value, int most) {
    return !value || (*value >= 0 && *value <= most);
}

void check_usage(std::string_view line) {
    const auto usage = read_gpu_usage(line);
    if (!usage) {
        require_refusal(usage.error());
        return;
    }
    require(usage->gpus.size() <= 256);
    for (const GpuUsage& gpu : usage->gpus) {
        require(gpu.index >= 0 && gpu.index < 1024 && gpu.processes.size() <= 4096);
        require(is_within(gpu.utilization, 100) && is_within(gpu.temperature, 199) &&
                is_within(gpu.power, 99'999));
        std::set<int> numbers;
        for (const GpuProcess& process : gpu.processes) {
            require(process.pid > 0 && numbers.insert(process.pid).second);
        }
    }
}

void check_progress(std::string_view text, std::size_t step) {
    using Begun = std::vector<std::pair<std::string, std::optional<int>>>;
    const auto begun_in = [&](std::size_t length) {
        Begun begun;
        LadderProgress progress(
            [&](std::string_view word, std::optional<int> gpu) { begun.emplace_back(word, gpu); });
        for (std::size_t at = 0; at < text.size(); at += length) {
            progress.read(text.substr(at, length));
        }
        return begun;
    };
    const Begun begun = begun_in(step);
    require(begun == begun_in(std::max<std::size_t>(text.size(), 1)));
    for (const auto& [word, gpu] : begun) {
        require(facts::step_of_word(word).has_value());
        require(is_within(gpu, 4095));
    }
}

void check_words(const std::string& text) {
    constexpr std::size_t k_longest = 4096;
    ChildOutcome outcome;
    outcome.started = true;
    outcome.exit_status = 1;
    outcome.output = text;
    const std::string words = last_words(outcome);
    // Twelve lines, and above them the line of the cause and "...".
    require(words.size() <= k_longest && std::ranges::count(words, '\n') < 14);
    require(!is_utf8(text) || is_utf8(words));
    static_cast<void>(no_room(outcome));
    static_cast<void>(are_compilers_words(outcome));
    facts::ProbeRung rung;
    fail(rung, "nvcc", outcome);
    const std::string_view line = last_line(text);
    require(line.find('\n') == std::string_view::npos);
    if (facts::ProbeRung refused; take_refusal(refused, line)) {
        require(refused.result == facts::ProbeResult::Failed && refused.error);
    }
    if (facts::ProbeRung wrong; take_wrong(wrong, line)) {
        require(wrong.result == facts::ProbeResult::Wrong);
    }
}

void check_process(const std::string& text) {
    test::FakeDisk disk;
    disk.directory("/e/conda-meta")
        .file("/proc/7/maps", text + "libcuda")
        .file("/proc/7/status", "Name:\tx\nUid:\t1000\t1000\n")
        .file("/proc/7/cmdline", text)
        .file("/proc/7/environ", text)
        .file("/etc/passwd", text);
    UsageNow usage;
    GpuProcess process;
    process.pid = 7;
    usage.gpus.emplace_back().processes.push_back(process);
    identify_processes(disk, usage);
    const GpuProcess& known = usage.gpus.front().processes.front();
    require(known.user.find_first_of(":\n") == std::string::npos);
    require(known.command.find('\0') == std::string::npos && known.command.size() <= text.size());
    require(known.environment.empty() || disk.exists(known.environment + "/conda-meta"));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    // The fuzzer's bytes are text here; the first says how it is cut.
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    check_facts(text);
    check_usage(text);
    check_progress(text, 1 + data[0] % 31);
    check_words(text);
    check_process(text);
    return 0;
}
