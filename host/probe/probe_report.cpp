#include "host/probe/probe_report.hpp"

#include "base/json_bytes.hpp"
#include "base/json_members.hpp"
#include "base/raw_bytes.hpp"
#include "base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cudaenv::probe {

namespace {

using nlohmann::json;

// Above these a value is an accident, not a measurement.
constexpr std::size_t k_most_rungs = 4096;
constexpr int k_gpu_limit = 4096;
constexpr std::size_t k_most_message = 4096;
constexpr std::size_t k_most_path = 4096; // PATH_MAX
constexpr std::size_t k_most_word = 256;
constexpr std::size_t k_most_checks = 32;
constexpr std::size_t k_most_loaded = 64;
constexpr double k_most_ms = 24.0 * 3600 * 1000;
constexpr std::uint64_t k_most_memory = std::uint64_t{1} << 50; // 1 PiB

// At most `most` bytes, never in the middle of a character; nlohmann has made sure of UTF-8.
std::string cut(std::string text, std::size_t most) {
    if (text.size() <= most) {
        return text;
    }
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) {
        --most;
    }
    text.resize(most);
    return text;
}

std::string text_of(const json& line, const char* name, std::size_t most) {
    return cut(text_at(line, name), most);
}

// A path that is cut names another file; so it is not cut.
std::string path_of(const json& value) {
    auto path = bytes_of_json(value);
    const bool is_one = path && path->starts_with('/') && path->size() < k_most_path &&
                        path->find('\0') == std::string::npos;
    return is_one ? std::move(*path) : std::string();
}

facts::RungReason reason_of(const json& line) {
    const auto found =
        std::ranges::find(facts::k_rung_reasons, text_of(line, "reason", k_most_word));
    return found == facts::k_rung_reasons.end()
               ? facts::RungReason::None
               : static_cast<facts::RungReason>(found - facts::k_rung_reasons.begin());
}

std::string file_of(const json& line, const char* name = "path") {
    return path_of(member(line, name));
}

std::optional<DottedVersion> version_of(const json& line, const char* name) {
    auto version = DottedVersion::parse(text_of(line, name, k_most_word));
    return version ? std::optional(std::move(*version)) : std::nullopt;
}

double milliseconds_of(const json& line) {
    const json& took = member(line, "ms");
    const double value = took.is_number() ? took.get<double>() : 0;
    return std::isfinite(value) && value >= 0 && value <= k_most_ms ? value : 0;
}

std::optional<facts::ProbeStep> step_of(const json& line) {
    return facts::step_of_word(text_of(line, "step", k_most_word));
}

std::optional<facts::ProbeResult> result_of(const json& line) {
    constexpr auto k_words =
        std::to_array<std::string_view>({"ok", "failed", "wrong", "skipped"}); // in their order
    const auto found = std::ranges::find(k_words, text_of(line, "result", k_most_word));
    return found == k_words.end() ? std::nullopt
                                  : std::optional(facts::ProbeResult(found - k_words.begin()));
}

void read_members(const json& line, facts::ProbeRung& rung) {
    rung.call = text_of(line, "call", k_most_word);
    rung.error = number_within(line, "error", std::numeric_limits<int>::min(),
                               std::numeric_limits<int>::max());
    rung.error_name = text_of(line, "error_name", k_most_word);
    rung.message = text_of(line, "message", k_most_message);
    rung.reason = reason_of(line);
    rung.broken = file_of(line, "broken");
    rung.took_ms = milliseconds_of(line);
    rung.path = file_of(line);
    rung.part = file_of(line, "part");
    rung.found_by = text_of(line, "found_by", k_most_word);
    rung.version = version_of(line, "version");
    rung.cuda = version_of(line, "cuda");
    rung.isa = version_of(line, "isa");
    rung.architecture = text_of(line, "architecture", k_most_word);
    rung.name = text_of(line, "name", k_most_word);
    rung.uuid = text_of(line, "uuid", k_most_word);
    if (const auto capability = ComputeCapability::parse(text_of(line, "cc", k_most_word))) {
        rung.compute_capability = *capability;
    }
    rung.memory_total = number_within(line, "memory_total", std::uint64_t{0}, k_most_memory);
    rung.memory_free = number_within(line, "memory_free", std::uint64_t{0}, k_most_memory);
    if (rung.memory_total && rung.memory_free && *rung.memory_free > *rung.memory_total) {
        rung.memory_free.reset();
    }
    rung.compute_mode = number_within(line, "compute_mode", 0, 3);
    rung.mig = flag_at(line, "mig");
    rung.devices = number_within(line, "devices", 0, k_gpu_limit);
    for (std::string& check : texts_at(line, "checks")) {
        if (rung.checks.size() < k_most_checks) {
            rung.checks.push_back(cut(std::move(check), k_most_word));
        }
    }
}

bool is_same(const facts::ProbeRung& one, const facts::ProbeRung& other) {
    return one.step == other.step && one.gpu == other.gpu;
}

// What the lines said so far.
struct Reading {
    std::vector<facts::ProbeRung> ended;
    std::vector<facts::ProbeRung> begun; // and not ended
    std::vector<std::string> loaded;
    bool finished = false;
};

std::vector<std::string> loaded_of(const json& line) {
    std::vector<std::string> loaded;
    for (const json& file : list_at(line, "loaded")) {
        auto path = path_of(file);
        if (!path.empty() && loaded.size() < k_most_loaded) {
            loaded.push_back(std::move(path));
        }
    }
    std::ranges::sort(loaded);
    const auto repeated = std::unique(loaded.begin(), loaded.end());
    loaded.erase(repeated, loaded.end());
    return loaded;
}

void read_line(std::string_view text, Reading& reading) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object()) {
        return; // a driver may print its own words between ours
    }
    const auto event = text_of(line, "event", k_most_word);
    if (event == "finished") {
        reading.finished = true;
        reading.loaded = loaded_of(line);
        return;
    }
    const auto step = step_of(line);
    if (!step || reading.ended.size() + reading.begun.size() >= k_most_rungs) {
        return;
    }
    facts::ProbeRung rung;
    rung.step = *step;
    rung.gpu = number_within(line, "gpu", 0, k_gpu_limit);
    if (line.contains("gpu") && !rung.gpu && !line["gpu"].is_null()) {
        return; // of which GPU it speaks is not known
    }
    const auto is_this = [&](const facts::ProbeRung& other) { return is_same(other, rung); };
    // A rung ends once; what comes after for the same rung is an accident.
    if (std::ranges::any_of(reading.ended, is_this)) {
        return;
    }
    if (event == "begin") {
        if (std::ranges::none_of(reading.begun, is_this)) {
            rung.result = facts::ProbeResult::Unfinished;
            reading.begun.push_back(std::move(rung));
        }
        return;
    }
    if (event == "opens") {
        const auto begun = std::ranges::find_if(reading.begun, is_this);
        if (begun != reading.begun.end()) {
            begun->path = file_of(line);
            begun->message = text_of(line, "message", k_most_message);
            begun->reason = reason_of(line);
            begun->broken = file_of(line, "broken");
        }
        return;
    }
    const auto result = result_of(line);
    if (event != "end" || !result) {
        return;
    }
    rung.result = *result;
    read_members(line, rung);
    std::erase_if(reading.begun, is_this);
    reading.ended.push_back(std::move(rung));
}

// The last lines of standard error, as many as have room.
std::string last_words_of(const host::ChildOutcome& outcome) {
    // Before the text is cut: of half a URL it is unknown that it was one.
    const std::string text = redact_secrets(outcome.error);
    std::string_view rest = trim(text);
    if (rest.size() > k_most_message) {
        rest = last_bytes(rest, k_most_message);
        if (const auto line = rest.find('\n'); line != std::string_view::npos) {
            rest.remove_prefix(line + 1);
        }
    }
    return std::string(rest);
}

// A begin is short; a longer line is skipped.
constexpr std::size_t k_longest_line = 8192;

void report_begin(std::string_view line, const LadderProgress::Begun& begun) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object() || object.value("event", nlohmann::json()) != "begin") {
        return;
    }
    const auto step = object.find("step");
    const auto* const rung = std::ranges::find_if(facts::k_rungs, [&](const facts::RungRow& row) {
        return step != object.end() && *step == row.word;
    });
    if (rung == facts::k_rungs.end()) {
        return;
    }
    const auto gpu = object.find("gpu");
    const bool has_gpu =
        gpu != object.end() && gpu->is_number_integer() && *gpu >= 0 && *gpu < k_gpu_limit;
    begun(rung->word, has_gpu ? std::optional(gpu->get<int>()) : std::nullopt);
}

} // namespace

facts::ProbeReport read_probe_report(const host::ChildOutcome& outcome) {
    using Ending = facts::ProbeReport::Ending;
    facts::ProbeReport report;
    if (!outcome.started) {
        report.ending = Ending::NotStarted;
        report.failure = outcome.failure;
        return report;
    }
    Reading reading;
    for (const std::string_view line : split(outcome.output, '\n')) {
        read_line(line, reading);
    }
    report.rungs = std::move(reading.ended);
    std::move(reading.begun.begin(), reading.begun.end(), std::back_inserter(report.rungs));
    report.failure = outcome.failure;
    report.words = last_words_of(outcome);
    if (reading.finished) {
        report.loaded = std::move(reading.loaded);
        // What happened afterwards (a crash in the driver's exit handlers) stays in `failure`.
        report.signal = outcome.signal > 0 ? std::optional(outcome.signal) : std::nullopt;
        return report;
    }
    if (outcome.timed_out) {
        report.ending = Ending::TimedOut;
        report.is_stuck = outcome.is_stuck;
    } else if (outcome.signal > 0) {
        report.ending = Ending::Crashed;
        report.signal = outcome.signal;
    } else {
        report.ending = Ending::Garbled;
        if (report.failure.empty()) {
            report.failure = "its last line is missing";
        }
    }
    return report;
}

void LadderProgress::read(std::string_view part) {
    while (!part.empty()) {
        const auto end = part.find('\n');
        const std::string_view piece = part.substr(0, end);
        if (m_line.size() + piece.size() <= k_longest_line) {
            m_line += piece;
        } else {
            m_line.assign(k_longest_line + 1, ' '); // stays too long until its end
        }
        if (end == std::string_view::npos) {
            return;
        }
        if (m_line.size() <= k_longest_line) {
            report_begin(m_line, m_begun);
        }
        m_line.clear();
        part.remove_prefix(end + 1);
    }
}

} // namespace cudaenv::probe
