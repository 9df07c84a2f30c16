#include "kernels/reporter.hpp"

#include "base/json_bytes.hpp"
#include "base/whole_io.hpp"

#include <cmath>
#include <fcntl.h>
#include <unistd.h>

namespace cudaenv::kernels {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t k_longest_message = 4096;

int report_descriptor = STDOUT_FILENO;

struct Begun {
    ProbeStep step = ProbeStep::Library;
    std::optional<int> gpu;
};
Begun begun_last;

void write_line(const ordered_json& line) {
    // A driver's text that is not UTF-8 must not suppress the rest of the line.
    const auto text = line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
    // If that fails, no reader is left, and there is no other place to report it.
    static_cast<void>(write_full(report_descriptor, text));
}

ordered_json line_of(const char* event, ProbeStep step, std::optional<int> gpu) {
    ordered_json line = {{"event", event}, {"step", facts::word_of(step)}};
    if (gpu) {
        line["gpu"] = *gpu;
    }
    return line;
}

} // namespace

void begin_report() {
    const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    // Without a descriptor to spare, the lines share it with what libraries print.
    if (own >= 0) {
        report_descriptor = own;
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
    }
}

void finish_report(const std::vector<std::string>& loaded) {
    auto files = ordered_json::array();
    for (const std::string& file : loaded) {
        files.push_back(nlohmann::ordered_json(bytes_to_json(file)));
    }
    ordered_json line = {{"event", "finished"}};
    line["loaded"] = std::move(files);
    write_line(line);
}

void report_opening(const std::string& path, const std::optional<CutShort>& cut_short) {
    auto line = line_of("opens", begun_last.step, begun_last.gpu);
    line["path"] = bytes_to_json(path);
    if (cut_short) {
        line["reason"] = word_of(facts::RungReason::CutShort);
        line["broken"] = bytes_to_json(cut_short->path);
        line["message"] = cut_short->sizes;
    }
    write_line(line);
}

Rung::Rung(ProbeStep step, std::optional<int> gpu)
    : m_step(step), m_gpu(gpu), m_begun(std::chrono::steady_clock::now()) {
    begun_last = {m_step, m_gpu};
    write_line(line_of("begin", m_step, m_gpu));
}

void Rung::set_file(std::string_view path) {
    set("path", bytes_to_json(path));
}

void Rung::set_broken(std::string_view path) {
    set("broken", bytes_to_json(path));
}

void Rung::set_part(std::string_view path) {
    set("part", bytes_to_json(path));
}

void Rung::set_reason(facts::RungReason reason) {
    if (reason != facts::RungReason::None) {
        set("reason", word_of(reason));
    }
}

void Rung::ok() {
    end("ok");
}

void Rung::failed(std::string_view call, int error, std::string_view error_name,
                  std::string_view message) {
    set("call", call);
    set("error", error);
    if (!error_name.empty()) {
        set("error_name", error_name);
    }
    say(message);
    end("failed");
}

void Rung::refused(std::string_view call, std::string_view message) {
    set("call", call);
    say(message);
    end("failed");
}

void Rung::wrong(std::string_view message) {
    say(message);
    end("wrong");
}

void Rung::skipped(std::string_view message) {
    say(message);
    end("skipped");
}

void Rung::say(std::string_view message) {
    if (!message.empty()) {
        set("message", message.substr(0, k_longest_message));
    }
}

void Rung::end(const char* result) {
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - m_begun;
    auto line = line_of("end", m_step, m_gpu);
    line["result"] = result;
    line["ms"] = std::round(took.count() * 1000) / 1000;
    line.update(m_members);
    write_line(line);
}

} // namespace cudaenv::kernels
