#include "base/json_members.hpp"
#include "cli/render/host_parts.hpp"
#include "cli/render/render.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace cudaenv::cli {

namespace {

// "6.1" of 6.1.0-18-amd64: the part that matters to a driver.
std::string kernel_release(const std::string& kernel) {
    const std::size_t first = kernel.find('.');
    const std::size_t second =
        first == std::string::npos ? first : kernel.find_first_not_of("0123456789", first + 1);
    return kernel.substr(0, second);
}

std::string platform_of(const nlohmann::json& host) {
    const nlohmann::json& platform = member(host, "platform");
    return joined({flag_at(platform, "wsl") ? "WSL" : "",
                   text_at(platform, "container").empty()
                       ? ""
                       : text_at(platform, "container") + " container",
                   flag_at(platform, "jetson") ? "Jetson" : ""},
                  " · ");
}

// "24 GiB"; a card of 23.7 GiB is sold and known as 24.
std::string memory_of(const nlohmann::json& gpu) {
    const long long bytes = number_at(gpu, "memory_bytes");
    if (bytes <= 0) {
        return {};
    }
    const double gib = static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0);
    if (gib < 1.0) {
        return std::to_string(std::llround(gib * 1024.0)) + " MiB";
    }
    return std::to_string(std::llround(gib)) + " GiB";
}

void driver_row(const nlohmann::json& host, Page& page) {
    const nlohmann::json& driver = member(host, "driver");
    if (!driver.is_object()) {
        const std::string reason = text_at(host, "driver_absent");
        page.row("driver", reason.empty() ? "unknown" : "none: " + reason);
        return;
    }
    const std::string version = text_at(driver, "version");
    const std::string cuda = text_at(driver, "cuda");
    std::string gives;
    if (!cuda.empty()) {
        gives = "gives CUDA " + cuda;
        gives += flag_at(driver, "derived")    ? " (by its branch)"
                 : flag_at(driver, "measured") ? " (measured)"
                                               : "";
    }
    page.row(
        "driver",
        joined(
            {joined({version.empty() ? "version unknown" : version, text_at(driver, "kind")}, ", "),
             gives},
            " · "),
        text_at(driver, "source"));
    page.row_if("", text_at(driver, "note"));
}

void gpu_rows(const nlohmann::json& host, Page& page) {
    const nlohmann::json& gpus = member(host, "gpus");
    if (!gpus.is_array() || gpus.empty()) {
        const std::string reason = text_at(host, "gpus_absent");
        page.row("gpu", reason.empty() ? "unknown" : "none: " + reason);
        return;
    }
    for (const nlohmann::json& gpu : gpus) {
        const std::string name = text_at(gpu, "name");
        page.row(
            "gpu " + std::to_string(number_at(gpu, "index")),
            joined({name.empty() ? "name unknown" : name, sm_of(text_at(gpu, "compute_capability")),
                    memory_of(gpu), flag_at(gpu, "mig") ? "MIG" : ""},
                   " · "),
            text_at(gpu, "source"));
    }
}

// The probe's verdict, if a saved one is still valid.
void probe_row(const nlohmann::json& host, const Style& style, Page& page) {
    const nlohmann::json& measured = member(host, "measured");
    if (!measured.is_object()) {
        return;
    }
    const std::string verdict = text_at(measured, "verdict");
    const State state = verdict == "ok" ? State::Fits : State::Warns;
    page.row("probe",
             tick(style, state) + ' ' + joined({verdict, text_at(measured, "summary")}, ": "),
             text_at(measured, "at"));
}

void compiler_row(const nlohmann::json& host, Page& page) {
    const nlohmann::json& compilers = member(host, "compilers");
    if (!compilers.is_array()) {
        return;
    }
    std::string text;
    for (const nlohmann::json& compiler : compilers) {
        text += (text.empty() ? "" : " · ") + compiler_of(compiler);
    }
    page.row("compilers", text.empty() ? "none found" : text);
}

void conda_row(const nlohmann::json& host, const Style& style, Page& page) {
    const nlohmann::json& installs = member(host, "conda");
    if (!installs.is_array() || installs.empty()) {
        return;
    }
    std::string text;
    for (const nlohmann::json& install : installs) {
        text += (text.empty() ? "" : " · ") +
                joined({text_at(install, "kind"), text_at(install, "version"),
                        short_path(style, text_at(install, "path"))},
                       " ");
    }
    page.row("conda", text);
}

// --verbose: where each toolkit and compiler was found, and how the rest is known.
void source_rows(const nlohmann::json& host, const Style& style, Page& page) {
    std::vector<std::vector<std::string>> rows;
    for (const char* list : {"toolkits", "compilers"}) {
        for (const nlohmann::json& item : list_at(host, list)) {
            rows.push_back({short_path(style, text_at(item, "path")), text_at(item, "source")});
        }
    }
    if (const nlohmann::json& sources = member(host, "sources"); sources.is_object()) {
        for (const auto& [fact, source] : sources.items()) {
            rows.push_back({fact, source.is_string() ? source.get<std::string>() : ""});
        }
    }
    page.table("sources", rows);
    for (const std::string& note : texts_at(host, "notes")) {
        page.row("note", note);
    }
}

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

std::string sm_of(const std::string& compute_capability) {
    if (compute_capability.empty()) {
        return "compute capability unknown";
    }
    std::string digits;
    for (const char c : compute_capability) {
        if (c != '.') {
            digits += c;
        }
    }
    return "sm_" + digits;
}

std::string compiler_of(const nlohmann::json& compiler) {
    const std::string path = text_at(compiler, "path");
    const std::string name = path.substr(path.rfind('/') + 1);
    std::string text = text_at(compiler, "family") + ' ' + text_at(compiler, "version");
    const bool bare = name == "g++" || name == "clang++";
    // A facts file may not say which one is the default: then it is the one with the bare name.
    const bool is_default = compiler.contains("default") ? flag_at(compiler, "default") : bare;
    if (is_default) {
        text += text_at(compiler, "family") == "gcc" ? " g++ (default)" : "";
    } else if (!name.empty()) {
        text += ' ' + (bare ? path : name);
    }
    return text;
}

std::string range_of(std::string_view family, const nlohmann::json& least,
                     const nlohmann::json& most) {
    if (!most.is_number_integer()) {
        return {};
    }
    std::string text(family);
    text += ' ';
    if (least.is_number_integer()) {
        text += std::to_string(least.get<int>()) + '-';
    } else {
        text += "up to ";
    }
    return text + std::to_string(most.get<int>());
}

std::string fit_of(const nlohmann::json& toolkit, const Style& style) {
    const nlohmann::json& fits = member(toolkit, "fits");
    const std::string text = text_at(fits, "text");
    const State state = state_of(text_at(fits, "state"));
    return text.empty() || state == State::Unknown ? text : tick(style, state) + ' ' + text;
}

std::vector<std::string> toolkit_cells(const nlohmann::json& toolkit, const Style& style) {
    const std::string version = text_at(toolkit, "version");
    const std::string problem = text_at(toolkit, "problem");
    std::vector<std::string> cells = {version.empty() ? "?" : version,
                                      short_path(style, text_at(toolkit, "path"))};
    if (!problem.empty()) {
        cells.insert(cells.end(), {"", "", tick(style, State::Breaks) + ' ' + problem});
        return cells;
    }
    const std::string header = text_at(toolkit, "cudnn");
    const std::string library = text_at(toolkit, "cudnn_library");
    std::string cudnn = header.empty() && library.empty()
                            ? "no cuDNN"
                            : "cuDNN " + (header.empty() ? library : header);
    // The library's version has one more part than the header's: 9.19.0.56 agrees with 9.19.0.
    if (!header.empty() && !library.empty() && !(library + '.').starts_with(header + '.')) {
        cudnn += " (library " + library + ')';
    }
    cells.push_back(range_of("gcc", member(toolkit, "gcc_min"), member(toolkit, "gcc_max")));
    cells.push_back(cudnn);
    cells.push_back(fit_of(toolkit, style));
    return cells;
}

std::string render_host(const nlohmann::json& host, const Style& style) {
    Page page(style);
    const std::string glibc = text_at(host, "glibc");
    const std::string kernel = kernel_release(text_at(host, "kernel"));
    page.row("host", joined({text_at(host, "hostname"), text_at(host, "distribution"),
                             text_at(host, "machine"), glibc.empty() ? "" : "glibc " + glibc,
                             kernel.empty() ? "" : "Linux " + kernel, platform_of(host)},
                            " · "));
    driver_row(host, page);
    gpu_rows(host, page);
    probe_row(host, style, page);
    if (const nlohmann::json& toolkits = member(host, "toolkits"); toolkits.is_array()) {
        std::vector<std::vector<std::string>> rows;
        for (const nlohmann::json& toolkit : toolkits) {
            rows.push_back(toolkit_cells(toolkit, style));
        }
        if (rows.empty()) {
            page.row("toolkits", "none found");
        } else {
            page.table("toolkits", rows);
        }
    }
    compiler_row(host, page);
    conda_row(host, style, page);
    if (style.verbose) {
        source_rows(host, style, page);
    }
    return page.text();
}

// Each toolkit in two or three lines: what it is, what it accepts and has here, where that is from.
std::string render_toolkits(const nlohmann::json& object, const Style& style) {
    Page page(style);
    const nlohmann::json& toolkits = member(object, "toolkits");
    if (!toolkits.is_array() || toolkits.empty()) {
        page.row("toolkits", "none found");
        return page.text();
    }
    for (const nlohmann::json& toolkit : toolkits) {
        const std::string version = text_at(toolkit, "version");
        const std::string problem = text_at(toolkit, "problem");
        page.row(version.empty() ? "?" : version, short_path(style, text_at(toolkit, "path")),
                 text_at(toolkit, "source"));
        if (!problem.empty()) {
            page.row("", tick(style, State::Breaks) + ' ' + problem);
            continue;
        }
        const std::string nccl = text_at(toolkit, "nccl");
        const auto cells = toolkit_cells(toolkit, style);
        page.row("", joined({flag_at(toolkit, "nvcc") ? "nvcc" : "no nvcc", cells[3],
                             nccl.empty() ? "" : "NCCL " + nccl},
                            " · "));
        std::string here;
        if (const nlohmann::json& compilers = member(toolkit, "compilers_here");
            compilers.is_array()) {
            for (const nlohmann::json& compiler : compilers) {
                here += (here.empty() ? "" : " · ") + compiler_of(compiler);
            }
        }
        const std::string accepts =
            joined({cells[2],
                    range_of("clang", member(toolkit, "clang_min"), member(toolkit, "clang_max"))},
                   " · ");
        if (!accepts.empty()) {
            page.row("", "accepts " + accepts + "; here: " + (here.empty() ? "none" : here));
        }
        page.row_if("", fit_of(toolkit, style));
    }
    return page.text();
}

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
