#include "base/json_members.hpp"
#include "cli/render/render.hpp"

#include <array>
#include <cstdio>

namespace cudaenv::cli {

namespace {

// "11.9" of bytes, in GiB; small ones in MiB with their unit.
std::string gib(long long bytes) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(bytes) / 0x1p30);
    return text.data();
}

std::string memory_text(const nlohmann::json& process) {
    const long long bytes = number_at(process, "memory", -1);
    if (bytes < 0) {
        return {};
    }
    return bytes < (1LL << 30) ? std::to_string(bytes >> 20) + " MiB" : gib(bytes) + " GiB";
}

std::string memory_of_gpu(const nlohmann::json& gpu) {
    const long long total = number_at(gpu, "memory_total", -1);
    const long long used = number_at(gpu, "memory_used", -1);
    return total < 0 || used < 0 ? "" : gib(used) + " of " + gib(total) + " GiB";
}

std::string with_unit(const nlohmann::json& gpu, const char* name, const char* unit) {
    const long long value = number_at(gpu, name, -1);
    return value < 0 ? "" : std::to_string(value) + unit;
}

void gpu_rows(const nlohmann::json& gpu, const Style& style, Page& page) {
    const std::string degrees = style.utf8 ? " °C" : " C";
    page.row("gpu " + std::to_string(number_at(gpu, "index")),
             joined({text_at(gpu, "name"), flag_at(gpu, "mig") ? "MIG" : "", memory_of_gpu(gpu),
                     with_unit(gpu, "utilization", " % busy"),
                     with_unit(gpu, "temperature", degrees.c_str()), with_unit(gpu, "power", " W")},
                    " · "));
    std::vector<std::vector<std::string>> rows;
    for (const nlohmann::json& process : list_at(gpu, "processes")) {
        const std::string environment = text_at(process, "environment");
        std::string command = text_at(process, "command");
        if (command.empty()) {
            command = "not visible from here";
        }
        rows.push_back({std::to_string(number_at(process, "pid")), text_at(process, "user"),
                        memory_text(process), command,
                        environment.empty() ? "" : "in " + short_path(style, environment)});
    }
    if (!rows.empty()) {
        page.table("", rows);
    }
}

} // namespace

std::string render_usage(const nlohmann::json& usage, const Style& style) {
    Page page(style);
    const std::string driver = text_at(usage, "driver_version");
    page.row("driver", driver.empty() ? "unknown" : driver);
    const auto& gpus = list_at(usage, "gpus");
    for (const nlohmann::json& gpu : gpus) {
        gpu_rows(gpu, style, page);
    }
    if (gpus.empty()) {
        const auto errors = texts_at(usage, "errors");
        page.row("gpus", errors.empty() ? "none" : "none: " + errors.front());
    }
    std::string text = page.text();
    for (const nlohmann::json& finding : list_at(usage, "findings")) {
        text += '\n' + render_finding(finding, style);
    }
    return text;
}

} // namespace cudaenv::cli
