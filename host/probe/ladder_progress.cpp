#include "host/probe/ladder_progress.hpp"

#include "solver/facts/probe.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace cudaenv::probe {

namespace {

// A begin is short; a longer line is skipped.
constexpr std::size_t k_longest_line = 8192;
constexpr int k_gpu_limit = 4096; // a higher number is not a GPU

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
