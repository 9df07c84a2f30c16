// Writes the lines of docs/probe.md, each at once and whole, so that a rung that was begun is
// reported even where the driver kills the process.
#pragma once

#include "kernels/library_files.hpp"
#include "solver/facts/probe.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

using facts::ProbeStep;

// Before the first rung: from here on standard output holds these lines only. What a library prints
// (NCCL does) goes to standard error.
void begin_report();
// The last line: the ladder was climbed as far as it goes. `loaded`: files.
void finish_report(const std::vector<std::string>& loaded);

// This file is opened next, for the rung that was begun last; if that ends the process, the file is
// reported with the rung. `cut_short`: a file that it may need and that would end the process.
void report_opening(const std::string& path, const std::optional<CutShort>& cut_short = {});

// One rung that was begun. Exactly one of the five below ends it; a rung that is destroyed before
// is reported as unfinished.
class Rung {
public:
    Rung(ProbeStep step, std::optional<int> gpu);

    // Members of the end: path, version, architecture, ...
    void set(const char* member, nlohmann::ordered_json value) {
        m_members[member] = std::move(value);
    }
    void set_file(std::string_view path); // "path", whatever its bytes are
    void set_reason(facts::RungReason reason);
    void set_broken(std::string_view path); // "broken"
    void set_part(std::string_view path);   // "part"

    void ok();
    // A call that returned `error`; its name as the library says, empty where it cannot.
    void failed(std::string_view call, int error, std::string_view error_name,
                std::string_view message = {});
    void refused(std::string_view call, std::string_view message); // without a number: dlopen
    void wrong(std::string_view message);
    void skipped(std::string_view message);

private:
    void say(std::string_view message);
    void end(const char* result);

    ProbeStep m_step;
    std::optional<int> m_gpu;
    nlohmann::ordered_json m_members = nlohmann::ordered_json::object();
    std::chrono::steady_clock::time_point m_begun;
};

} // namespace cudaenv::kernels
