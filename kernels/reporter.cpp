#include "kernels/reporter.hpp"

#include "base/json_bytes.hpp"

#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <unistd.h>

namespace cudaenv::kernels {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t k_longest_message = 4096;

int report_descriptor = STDOUT_FILENO;

struct Begun {
    std::string step;
    std::optional<int> gpu;
};
Begun begun_last;

void write_line(const ordered_json& line) {
    // A driver's text that is no UTF-8 must not keep the rest from being told.
    const auto text = line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto written = ::write(report_descriptor, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return; // nobody reads: there is no other place to say so
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

ordered_json line_of(const char* event, std::string_view step, std::optional<int> gpu) {
    ordered_json line = {{"event", event}, {"step", step}};
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

void report_opening(std::string_view path, std::string_view message) {
    auto line = line_of("opens", begun_last.step, begun_last.gpu);
    line["path"] = bytes_to_json(path);
    if (!message.empty()) {
        line["message"] = message;
    }
    write_line(line);
}

Rung::Rung(std::string_view step, std::optional<int> gpu)
    : m_step(step), m_gpu(gpu), m_begun(std::chrono::steady_clock::now()) {
    begun_last = {m_step, m_gpu};
    write_line(line_of("begin", m_step, m_gpu));
}

void Rung::set_file(std::string_view path) {
    set("path", bytes_to_json(path));
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
