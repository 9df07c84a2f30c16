#include "kernels/judge/scene.hpp"

#include "base/driver_file.hpp"
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "solver/knowledge/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::judge {

namespace {

constexpr auto k_verdicts = std::to_array<std::string_view>(
    {"ok", "warns", "fails", "no-driver", "no-gpu", "driver-broken", "busy", "crashed", "timeout"});

// 11.8 of libcudart.so.11.8.89; none of libcudart.so.12.
std::optional<DottedVersion> version_in_name(std::string_view path) {
    const std::string name = file_name(path);
    const auto at = name.find(".so.");
    if (at == std::string::npos) {
        return std::nullopt;
    }
    auto version = DottedVersion::parse(std::string_view(name).substr(at + 4));
    return version && version->parts().size() >= 2 ? std::optional(*version) : std::nullopt;
}

std::optional<ProbeVersion> runtime_of(const facts::ProbeRung& rung) {
    // A file that did not load has no version; its name is the soname of a whole major.
    if (!rung.version && (rung.call == "dlopen" || rung.result == facts::ProbeResult::Unfinished)) {
        return std::nullopt;
    }
    // 0 is what libcudart 11.8 says where there is no driver.
    if (rung.version && rung.version->major() > 0) {
        return ProbeVersion{*rung.version, rung.path};
    }
    if (auto version = version_in_name(rung.path)) {
        return ProbeVersion{DottedVersion::of(version->major_minor()), rung.path};
    }
    return std::nullopt;
}

// Without colours and other control characters.
std::string without_controls(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
            // ESC [ parameters letter
            i += 2;
            while (i < text.size() && (text[i] < '@' || text[i] > '~')) {
                ++i;
            }
        } else if (byte == 0xc2 && i + 1 < text.size() &&
                   static_cast<unsigned char>(text[i + 1]) < 0xa0) {
            ++i; // U+0080 to U+009F are controls too
        } else if (text[i] == '\t') {
            plain += ' ';
        } else if (byte >= 0x20 && byte != 0x7f) {
            plain += text[i];
        }
    }
    return plain;
}

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Of UTF-8.
std::size_t characters_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

std::string first_characters(std::string_view text, std::size_t most) {
    if (characters_of(text) <= most) {
        return std::string(text);
    }
    std::size_t end = 0;
    for (std::size_t count = 0; end < text.size(); ++end) {
        if (!is_continuation(text[end]) && ++count > most - 3) {
            break;
        }
    }
    return std::string(text.substr(0, end)) + "...";
}

} // namespace

std::string_view name_of(ProbeVerdict verdict) {
    return k_verdicts.at(static_cast<std::size_t>(verdict));
}

bool Scene::in_container() const {
    return context->host != nullptr && !context->host->platform.container.empty();
}

bool Scene::on_wsl() const {
    return context->host != nullptr && context->host->platform.wsl;
}

std::string Scene::driver() const {
    const auto& version = library ? library : module;
    return version ? "driver " + version->str() : std::string("the driver");
}

std::optional<ComputeCapability> Scene::capability(std::optional<int> ordinal) const {
    const auto found = gpus.find(ordinal.value_or(0));
    return found == gpus.end() ? std::nullopt : found->second->compute_capability;
}

std::string Scene::gpu(std::optional<int> ordinal) const {
    const auto found = gpus.find(ordinal.value_or(0));
    if (found == gpus.end()) {
        return "the GPU";
    }
    const facts::ProbeRung& rung = *found->second;
    const std::string name =
        rung.name.empty() ? "GPU " + std::to_string(found->first) : one_line(rung.name, 40);
    return rung.compute_capability ? fmt::format("{} ({})", name, rung.compute_capability->sm())
                                   : name;
}

const facts::FrameworkBuild* Scene::framework() const {
    if (context->environment == nullptr) {
        return nullptr;
    }
    for (const facts::FrameworkBuild& build : context->environment->frameworks) {
        if (build.cuda) {
            return &build;
        }
    }
    return nullptr;
}

facts::Host Scene::host() const {
    facts::Host host = context->host != nullptr ? *context->host : facts::Host();
    if (const auto& version = library ? library : module; version || driver_cuda) {
        if (!host.driver) {
            host.driver.emplace();
        }
        host.driver->version = version;
        if (driver_cuda) {
            host.driver->cuda = driver_cuda;
            host.driver->measured = true;
        }
    }
    return host;
}

knowledge::Target Scene::target() const {
    using Kind = knowledge::Target::Kind;
    const auto* const environment = context->environment;
    const Kind kind = environment == nullptr                               ? Kind::None
                      : environment->kind == facts::EnvironmentKind::Conda ? Kind::Conda
                                                                           : Kind::Venv;
    knowledge::Target target =
        knowledge::target_of(context->host != nullptr ? *context->host : facts::Host(), kind,
                             environment == nullptr ? std::string() : environment->prefix);
    target.active = context->environment_is_active;
    return target;
}

std::string Scene::newest_cuda() const {
    const auto newest = knowledge::newest_cuda_in_full(host());
    return newest ? newest->major_minor() : std::string();
}

Scene look_at(const facts::ProbeReport& report, const ProbeContext& context) {
    Scene scene;
    scene.report = &report;
    scene.context = &context;
    if (context.host != nullptr && context.host->driver) {
        scene.module = context.host->driver->version;
    }
    for (const facts::ProbeRung& rung : report.rungs) {
        switch (rung.step) {
        case facts::ProbeStep::Library:
            if (rung.result == facts::ProbeResult::Unfinished || rung.call == "dlopen") {
                break; // its path is what did not load
            }
            scene.libcuda = rung.path;
            scene.library = driver_of_file(rung.path);
            if (!scene.library) {
                scene.library = rung.version;
            }
            break;
        case facts::ProbeStep::Driver:
            scene.driver_cuda = rung.cuda;
            break;
        case facts::ProbeStep::Gpu:
            if (rung.gpu || rung.result != facts::ProbeResult::Skipped) {
                scene.gpus.emplace(rung.gpu.value_or(0), &rung);
            }
            break;
        case facts::ProbeStep::Runtime:
            scene.runtime = runtime_of(rung);
            break;
        case facts::ProbeStep::Kernel:
            scene.machine_code_ran =
                scene.machine_code_ran || (rung.result == facts::ProbeResult::Ok &&
                                           !rung.architecture.starts_with("compute_"));
            break;
        default:
            break;
        }
    }
    return scene;
}

Finding found(std::string_view code, std::string_view situation, facts::Arguments arguments) {
    const knowledge::FindingCase& row = knowledge::finding_case(code, situation);
    Finding finding;
    finding.text = knowledge::finding(code, situation, std::move(arguments));
    switch (row.severity) {
    case facts::Severity::Error:
        break;
    case facts::Severity::Warning:
        finding.status = StepStatus::Warns;
        finding.verdict = ProbeVerdict::Warns;
        break;
    case facts::Severity::Note:
        finding.status = StepStatus::Skipped;
        finding.verdict = ProbeVerdict::Ok;
        break;
    }
    if (const auto* const known = std::ranges::find(k_verdicts, row.verdict);
        known != k_verdicts.end()) {
        finding.verdict = static_cast<ProbeVerdict>(known - k_verdicts.begin());
    }
    finding.of_the_moment = row.passes;
    return finding;
}

Finding as_warning(Finding finding) {
    finding.status = StepStatus::Warns;
    return with_verdict(std::move(finding), ProbeVerdict::Warns);
}

Finding with_verdict(Finding finding, ProbeVerdict verdict) {
    finding.verdict = verdict;
    return finding;
}

Finding or_because(Finding finding, const Finding& other) {
    finding.text.cause += "; or " + other.text.cause;
    finding.text.fix = other.text.fix;
    finding.of_the_moment = finding.of_the_moment || other.of_the_moment;
    return finding;
}

Arguments operator+(Arguments left, const Arguments& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

std::string file_name(std::string_view path) {
    return one_line(path.substr(path.rfind('/') + 1));
}

std::string directory_of(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

bool has_component(std::string_view path, std::string_view name) {
    for (const std::string_view piece : split(path, '/')) {
        if (piece == name || (name.ends_with('-') && piece.starts_with(name))) {
            return true;
        }
    }
    return false;
}

bool is_compat(std::string_view path) {
    return has_component(path, "compat") || has_component(path, "cuda-compat") ||
           has_component(path, "cuda-compat-");
}

bool is_stub(std::string_view path) {
    return has_component(path, "stubs");
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string one_line(std::string_view text, std::size_t most) {
    std::string plain;
    for (const char c : trim(text)) {
        const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (!is_blank) {
            plain += c;
        } else if (!plain.ends_with(' ')) {
            plain += ' ';
        }
    }
    plain = printable(plain);
    if (plain.size() <= most) {
        return plain;
    }
    std::size_t end = most - 3;
    while (end > 0 && (static_cast<unsigned char>(plain[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return plain.substr(0, end) + "...";
}

std::string last_words(const facts::ProbeReport& report) {
    constexpr std::size_t k_most = 200;
    std::vector<std::string> lines;
    for (const std::string_view line : split(report.words, '\n')) {
        const std::string plain = without_controls(line);
        if (const auto trimmed = trim(plain); !trimmed.empty()) {
            lines.push_back(printable(trimmed));
        }
    }
    if (lines.empty()) {
        return {};
    }
    const auto names_library = [](const std::string& line) {
        return contains(line, "oad librar") || contains(line, "nable to load") ||
               contains(line, "cannot open shared object") || contains(line, "undefined symbol");
    };
    const auto naming = std::ranges::find_if(lines, names_library);
    std::string said;
    const auto has_room = [&](const std::string& line) {
        return said.empty() || characters_of(said) + 3 + characters_of(line) <= k_most;
    };
    if (naming != lines.end()) {
        for (auto line = naming; line != lines.end() && has_room(*line); ++line) {
            said += (said.empty() ? "" : " / ") + *line;
        }
    } else {
        for (auto line = lines.rbegin(); line != lines.rend() && has_room(*line); ++line) {
            said = said.empty() ? *line : *line + " / " + said;
        }
    }
    return first_characters(said, k_most);
}

std::string telling_line(std::string_view text, std::initializer_list<std::string_view> words,
                         std::size_t most) {
    const auto lines = split(text, '\n');
    for (const std::string_view word : words) {
        for (const std::string_view line : lines) {
            if (contains(line, word)) {
                return one_line(line, most);
            }
        }
    }
    for (const std::string_view line : lines) {
        if (!trim(line).empty()) {
            return one_line(line, most);
        }
    }
    return {};
}

std::string library_path_without(const ProbeContext& context,
                                 const std::vector<std::string>& entries) {
    std::vector<std::string> rest;
    for (const std::string& entry : context.library_path) {
        if (!is_one_of(entry, entries)) {
            rest.push_back(entry);
        }
    }
    return rest.empty() ? "unset LD_LIBRARY_PATH"
                        : "export LD_LIBRARY_PATH=" + shell_word(join(rest, ":"));
}

std::string refusal(const facts::ProbeRung& rung) {
    std::string said;
    const auto error = cuda_error(rung);
    const bool is_library_status =
        !rung.error_name.empty() && !rung.error_name.starts_with("CUDA_ERROR_") &&
        (!rung.error_name.starts_with("cudaError") || error != rung.error);
    if (is_library_status) {
        said = one_line(rung.error_name, 48) +
               (rung.error ? fmt::format(" ({})", *rung.error) : std::string());
    } else if (rung.error) {
        said = fmt::format("error {}", *rung.error);
    } else {
        said = rung.message.empty() ? "refused" : one_line(rung.message, 60);
    }
    return rung.call.empty() ? said : fmt::format("{}: {}", one_line(rung.call, 40), said);
}

std::string loader_words(const facts::ProbeRung& rung) {
    constexpr std::size_t most = 64;
    if (rung.reason == facts::RungReason::CutShort) {
        return one_line(file_name(rung.broken), most - 13) + " is cut short";
    }
    const std::string_view message = rung.message;
    const auto cannot = message.find(": cannot open shared object file: No such file");
    if (cannot != std::string_view::npos) {
        const auto before = message.substr(0, cannot);
        return one_line(before.substr(before.find_last_of(" \n/") + 1), most - 13) +
               " is not found";
    }
    // It begins with a path, whose directories would fill the line.
    const auto colon = message.find(':');
    const auto slash = colon == std::string_view::npos ? colon : message.rfind('/', colon);
    const auto said = slash == std::string_view::npos ? message : message.substr(slash + 1);
    return one_line(said, most);
}

} // namespace cudaenv::judge
