// Writes the lines of docs/probe.md, each at once and whole: what was begun stands there even where
// the driver kills the process.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::kernels {

// One rung that was begun. Exactly one of the four ends it; a rung that is destroyed without is
// left without an end.
class Rung {
public:
    Rung(std::string_view step, std::optional<int> gpu);

    // Members of the end: path, version, architecture, ...
    void set(const char* member, nlohmann::json value) { m_members[member] = std::move(value); }

    void ok();
    // A call that returned `error`; its name as the library says, empty where it cannot.
    void failed(std::string_view call, int error, std::string_view error_name,
                std::string_view message = {});
    void refused(std::string_view call, std::string_view message); // without a number: dlopen
    void wrong(std::string_view message);
    void skipped(std::string_view message);

private:
    void end(const char* result);

    nlohmann::json m_members = nlohmann::json::object();
    std::chrono::steady_clock::time_point m_begun;
};

} // namespace cudaenv::kernels
