#include "host/probe/trial_words.hpp"

#include "base/raw_bytes.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace cudaenv::probe {

namespace {

constexpr std::size_t k_longest_message = 4096; // as facts::ProbeRung says

using Lines = std::vector<std::string>;

Lines lines_of(const host::ChildOutcome& outcome) {
    // ninja prints the compilers' output on its standard output.
    const std::string_view text = trim(outcome.error).empty() ? outcome.output : outcome.error;
    Lines lines;
    for (const std::string_view line : split(text, '\n')) {
        const auto words = trim(line);
        if (!words.empty() && !words.starts_with("ninja: build stopped") &&
            !words.starts_with("compilation terminated")) {
            lines.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
        }
    }
    return lines;
}

// The compilers' words for an error, in the order in which they are preferred.
Lines::const_iterator line_of_cause(const Lines& lines) {
    for (const std::string_view word :
         {"cannot open", "cannot find", "fatal", "error:", "Error:", "nsupported", "ndefined"}) {
        const auto found = std::ranges::find_if(
            lines, [&](const std::string& line) { return line.find(word) != std::string::npos; });
        if (found != lines.end()) {
            return found;
        }
    }
    return lines.end();
}

} // namespace

std::string_view no_room(const host::ChildOutcome& outcome) {
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

void fail(facts::ProbeRung& rung, std::string call, const host::ChildOutcome& outcome) {
    rung.result = facts::ProbeResult::Failed;
    rung.call = std::move(call);
    if (outcome.exit_status > 0) {
        rung.error = outcome.exit_status;
    }
    rung.message = last_words(outcome);
    rung.cause = cause_line(outcome);
    if (rung.message.empty() || outcome.exit_status < 0) {
        // Killed, timed out, never started, or silent: what the process did is the reason.
        rung.message = outcome.failure + (rung.message.empty() ? "" : ": " + rung.message);
    }
}

bool are_compilers_words(const host::ChildOutcome& built) {
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

std::string cause_line(const host::ChildOutcome& outcome) {
    const auto lines = lines_of(outcome);
    const auto cause = line_of_cause(lines);
    if (cause == lines.end()) {
        return {};
    }
    const std::string_view line = *cause;
    const std::size_t word = std::min(line.find("error"), line.find("fatal"));
    // "ptxas /tmp/tmpxft_0000/program.ptx, line 9; fatal   : ..." spends the line on a file that is
    // gone by now.
    const bool is_of_ptxas = line.starts_with("ptxas ") && word != std::string_view::npos;
    return redact_secrets(is_of_ptxas ? "ptxas " + std::string(line.substr(word))
                                      : std::string(trim(line)));
}

std::string last_words(const host::ChildOutcome& outcome, std::size_t most) {
    auto lines = lines_of(outcome);
    if (lines.size() > most) {
        const auto cause = line_of_cause(lines);
        const auto end = lines.end() - static_cast<std::ptrdiff_t>(most);
        std::string above = cause < end && most > 1 ? *cause : std::string();
        lines.erase(lines.begin(), end);
        if (!above.empty()) {
            lines.insert(lines.begin(), {std::move(above), "..."});
        }
    }
    // Before the text is cut: of half a URL it is unknown that it was one.
    const std::string words = redact_secrets(join(lines, "\n"));
    if (words.size() <= k_longest_message) {
        return words;
    }
    const std::string cause = cause_line(outcome);
    constexpr std::size_t k_longest_cause = 400;
    if (cause.empty() || cause.size() > k_longest_cause) {
        return std::string(last_bytes(words, k_longest_message));
    }
    const std::string above = cause + "\n...\n";
    return above + std::string(last_bytes(words, k_longest_message - above.size()));
}

} // namespace cudaenv::probe
