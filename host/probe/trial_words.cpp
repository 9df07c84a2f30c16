#include "host/probe/trial_words.hpp"

#include "base/raw_bytes.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace cudaenv::host {

namespace {

constexpr std::size_t k_longest_message = 4096; // as facts::ProbeRung says

} // namespace

std::string_view no_room(const ChildOutcome& outcome) {
    for (const std::string_view words :
         {"No space left on device", "Disk quota exceeded", "File size limit exceeded",
          "File too large", "Read-only file system"}) {
        if (outcome.error.find(words) != std::string::npos ||
            outcome.output.find(words) != std::string::npos) {
            return words;
        }
    }
    return {};
}

void fail(facts::ProbeRung& rung, std::string call, const ChildOutcome& outcome) {
    rung.result = facts::ProbeResult::Failed;
    rung.call = std::move(call);
    if (outcome.exit_status > 0) {
        rung.error = outcome.exit_status;
    }
    rung.message = last_words(outcome);
    if (rung.message.empty() || outcome.exit_status < 0) {
        // Killed, timed out, never started, or silent: what the process did is the reason.
        rung.message = outcome.failure + (rung.message.empty() ? "" : ": " + rung.message);
    }
}

bool are_compilers_words(const ChildOutcome& built) {
    return std::ranges::any_of(
        std::to_array<std::string_view>({"program.cu", "nvcc fatal", "nvcc error", "nvcc warning",
                                         "ptxas", "nvlink", "fatbinary", "collect2", "ld: "}),
        [&](std::string_view words) {
            return built.error.find(words) != std::string::npos ||
                   built.output.find(words) != std::string::npos;
        });
}

std::string_view last_line(std::string_view text) {
    text = trim(text);
    const auto at = text.rfind('\n');
    return at == std::string_view::npos ? text : text.substr(at + 1);
}

bool take_refusal(facts::ProbeRung& rung, std::string_view line) {
    constexpr std::string_view k_failed = "failed ";
    if (!line.starts_with(k_failed)) {
        return false;
    }
    line.remove_prefix(k_failed.size());
    const auto name = line.rfind(' ');
    const auto number = name == std::string_view::npos ? name : line.rfind(' ', name - 1);
    if (number == std::string_view::npos) {
        return false;
    }
    int error = 0;
    const auto digits = line.substr(number + 1, name - number - 1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), error).ec != std::errc()) {
        return false;
    }
    rung.result = facts::ProbeResult::Failed;
    rung.call = std::string(line.substr(0, number));
    rung.error = error;
    rung.error_name = std::string(line.substr(name + 1));
    return true;
}

bool take_wrong(facts::ProbeRung& rung, std::string_view line) {
    constexpr std::string_view k_wrong = "wrong ";
    if (!line.starts_with(k_wrong)) {
        return false;
    }
    rung.result = facts::ProbeResult::Wrong;
    rung.message = std::string(line.substr(k_wrong.size()));
    return true;
}

std::string last_words(const ChildOutcome& outcome, std::size_t most) {
    // ninja tells compilers' words on its standard output.
    const std::string_view text = trim(outcome.error).empty() ? outcome.output : outcome.error;
    std::vector<std::string> lines;
    for (const std::string_view line : split(text, '\n')) {
        const auto said = trim(line);
        if (!said.empty() && !said.starts_with("ninja: build stopped") &&
            !said.starts_with("compilation terminated")) {
            lines.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
        }
    }
    if (lines.size() > most) {
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
    }
    // Before anything is cut off: of half a URL nobody knows that it was one.
    const std::string words = redact_secrets(join(lines, "\n"));
    return std::string(last_bytes(words, k_longest_message));
}

} // namespace cudaenv::host
