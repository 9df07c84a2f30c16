#include "base/json_members.hpp"
#include "cli/render/render.hpp"
#include "solver/facts/probe_rungs.hpp"

#include <cmath>
#include <set>
#include <utility>

namespace cudaenv::cli {

namespace {

constexpr int k_label = Page::k_label_width;
constexpr int k_aside_column = 63; // where the library's file begins
constexpr int k_least_gap = 2;     // at least, between two columns

// The name of a rung for people, if the one for programs is too wide.
std::string label_of(const std::string& name) {
    return name == "ptx-runtime" ? "new ptx" : name == "torch-extension" ? "extension" : name;
}

// "nvidia/cu13/lib/libcudart.so.13" of a longer path: the part that identifies it.
std::string end_of_path(const Style& style, const std::string& path) {
    if (path.empty() || path.front() != '/') {
        return path;
    }
    std::string shown = short_path(style, path);
    const auto site = shown.find("-packages/");
    return site == std::string::npos ? shown : shown.substr(site + 10);
}

// "97 ms"; nothing for a negligible time.
std::string duration_of(const nlohmann::json& step) {
    const nlohmann::json& took = member(step, "took_ms");
    const double milliseconds = took.is_number() ? took.get<double>() : 0.0;
    if (milliseconds < 0.5) {
        return {};
    }
    if (milliseconds >= 10'000) {
        return std::to_string(std::lround(milliseconds / 1000.0)) + " s";
    }
    return std::to_string(std::lround(milliseconds)) + " ms";
}

std::string mark_of(const Style& style, const std::string& status) {
    return status == "skipped" ? in_locale(style, "–") : tick(style, state_of(status));
}

class Ladder {
public:
    Ladder(const nlohmann::json& probe, const Style& style)
        : m_probe(probe), m_style(style), m_page(style) {
        std::set<long long> gpus;
        for (const nlohmann::json& step : list_at(probe, "steps")) {
            gpus.insert(number_at(step, "gpu", -1));
        }
        gpus.erase(-1);
        m_several_gpus = gpus.size() > 1;
    }

    std::string text() {
        for (const nlohmann::json& step : list_at(m_probe, "steps")) {
            if (text_at(step, "status") == "skipped") {
                put_off(step);
                continue;
            }
            flush_skipped();
            if (is_library_of_next(step)) {
                continue;
            }
            rung(step);
        }
        flush_skipped();
        verdict();
        return m_page.text();
    }

private:
    [[nodiscard]] std::string label(const nlohmann::json& step) const {
        const std::string name = text_at(step, "name");
        const long long gpu = number_at(step, "gpu", -1);
        const bool numbered = gpu >= 0 && (m_several_gpus || name == "gpu");
        return numbered ? label_of(name) + ' ' + std::to_string(gpu) : label_of(name);
    }

    // Rungs skipped for the same reason share a row.
    void put_off(const nlohmann::json& step) {
        const std::string why = text_at(step, "detail");
        if (!m_skipped.empty() && why != m_why_skipped) {
            flush_skipped();
        }
        m_why_skipped = why;
        m_skipped.push_back(label(step));
    }

    void flush_skipped() {
        if (m_skipped.empty()) {
            return;
        }
        const std::vector<std::string> names = std::exchange(m_skipped, {});
        std::string others;
        for (std::size_t i = 1; i < names.size(); ++i) {
            others += (i == 1 ? "" : ", ") + names[i];
        }
        const std::string text =
            others.empty()
                ? m_why_skipped
                : m_why_skipped + (m_why_skipped.empty() ? "not tried" : "") + "; nor " + others;
        m_page.row(names.front(), mark_of(m_style, "skipped") + ' ' + text);
    }

    // A driver's library that works is shown with the driver.
    bool is_library_of_next(const nlohmann::json& step) {
        if (text_at(step, "name") != "library" || text_at(step, "status") != "ok") {
            return false;
        }
        for (const nlohmann::json& other : list_at(m_probe, "steps")) {
            if (text_at(other, "name") == "driver" && text_at(other, "status") == "ok") {
                m_driver_library = text_at(step, "detail");
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::string aside_of(const nlohmann::json& step) const {
        const std::string name = text_at(step, "name");
        if (name == "driver") {
            return m_driver_library;
        }
        if (name == "runtime" || name == "cudnn") {
            const std::string path = text_at(m_probe, name + "_path");
            const auto slash = path.rfind('/');
            const bool is_own =
                slash != std::string::npos && slash > 0 &&
                text_at(step, "detail").find(path.substr(0, slash)) != std::string::npos;
            return is_own ? path.substr(slash + 1) : end_of_path(m_style, path);
        }
        return {};
    }

    void rung(const nlohmann::json& step) {
        const std::string status = text_at(step, "status");
        const State state = state_of(status);
        const std::string code = text_at(step, "code");
        std::string detail = text_at(step, "detail");
        detail += code.empty() ? "" : " (" + code + ')';
        line(label(step), mark_of(m_style, status), detail, state, aside_of(step),
             duration_of(step));
        // The same failure on several GPUs is explained once.
        if (status == "ok" ||
            !m_explained.insert(text_at(step, "cause") + member(step, "fix").dump()).second) {
            return;
        }
        if (const std::string cause = text_at(step, "cause"); !cause.empty()) {
            below("because", cause);
        }
        const nlohmann::json& fix = member(step, "fix");
        const std::string words = text_at(fix, "text");
        if (!words.empty()) {
            below("fix", words);
        }
        if (const std::string command = text_at(fix, "command"); !command.empty()) {
            if (words.empty()) {
                below("fix", command);
            } else {
                m_page.command(k_label + 2, command);
            }
        }
    }

    // Under a rung's own text, which begins after its tick.
    void below(std::string_view label, std::string_view text) {
        bool first = true;
        for (const std::string& part :
             wrapped(in_locale(m_style, text), m_style.columns - k_label - 2)) {
            const std::string head = std::exchange(first, false) ? "  " + std::string(label) : "";
            m_page.line(head + spaces(k_label + 2 - width_of(head)) + part);
        }
    }

    // Label, tick, text, where the library lies, milliseconds at the right edge. What has no room
    // on the right stands in a line of its own; the text is never cut.
    void line(const std::string& label, const std::string& mark, const std::string& text,
              State state, const std::string& aside, const std::string& duration) {
        const int right = duration.empty() ? 0 : width_of(duration) + k_least_gap;
        const std::string shown = in_locale(m_style, text);
        const std::string note = in_locale(m_style, aside);
        const int begin = k_label + width_of(mark) + 1;
        bool first = true;
        bool is_placed = note.empty();
        for (const std::string& part : wrapped(shown, m_style.columns - begin - right)) {
            std::string out = first ? label : std::string();
            out += spaces(std::max(k_label - width_of(out), first ? 1 : 0));
            out += first ? mark + ' ' : spaces(width_of(mark) + 1);
            out += state == State::Fits ? part : coloured(m_style, state, part);
            if (first && !is_placed) {
                const int at = std::max(k_aside_column, width_of(out) + k_least_gap);
                if (at + width_of(note) + right <= m_style.columns) {
                    out += spaces(at - width_of(out)) + note;
                    is_placed = true;
                }
            }
            if (first && !duration.empty()) {
                out += spaces(m_style.columns - width_of(out) - width_of(duration)) + duration;
            }
            first = false;
            m_page.line(out);
        }
        if (!is_placed) {
            m_page.line(spaces(begin) + note);
        }
    }

    void verdict() {
        const std::string verdict = text_at(m_probe, "verdict");
        const State state = verdict == "ok"      ? State::Fits
                            : verdict == "warns" ? State::Warns
                                                 : State::Breaks;
        std::string summary = text_at(m_probe, "summary");
        if (const auto at = summary.find(" >= "); m_style.utf8 && at != std::string::npos) {
            summary.replace(at, 4, " ≥ ");
        }
        bool first = true;
        const std::string whole = verdict + (summary.empty() ? "" : ": " + summary);
        for (const std::string& part :
             wrapped(in_locale(m_style, whole), m_style.columns - k_label)) {
            if (std::exchange(first, false)) {
                // The word alone is coloured; it never is broken off.
                m_page.line("verdict" + spaces(k_label - 7) + coloured(m_style, state, verdict) +
                            part.substr(std::min(part.size(), verdict.size())));
            } else {
                m_page.line(spaces(k_label) + part);
            }
        }
        if ((verdict == "ok" || verdict == "warns") && text_at(m_probe, "depth") == "quick") {
            m_page.row("further", "cudaenv probe --full: " + facts::names_of_full_rungs());
        }
    }

    const nlohmann::json& m_probe;
    const Style& m_style;
    Page m_page;
    bool m_several_gpus = false;
    std::string m_driver_library;
    std::vector<std::string> m_skipped;
    std::string m_why_skipped;
    std::set<std::string> m_explained; // causes and fixes
};

} // namespace

std::string render_probe(const nlohmann::json& probe, const Style& style) {
    return Ladder(probe, style).text();
}

} // namespace cudaenv::cli
