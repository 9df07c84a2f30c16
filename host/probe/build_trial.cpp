#include "host/probe/build_trial.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace cudaenv::host {

extern const std::string_view k_trial_program_cu;
extern const std::string_view k_trial_extension_cu;
extern const std::string_view k_trial_extension_cpp;
extern const std::string_view k_trial_extension_py;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t k_longest_message = 4096; // as facts::ProbeRung says
// What was built runs for a second or two; its first start loads the driver.
constexpr milliseconds k_longest_run{20'000};

// What the rung took, whatever way it ends.
class Watch {
public:
    explicit Watch(facts::ProbeRung& rung) : m_rung(rung) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() {
        m_rung.took_ms = std::chrono::duration<double, std::milli>(Clock::now() - m_begun).count();
    }

private:
    facts::ProbeRung& m_rung;
    Clock::time_point m_begun = Clock::now();
};

bool write_text(const std::string& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return file.good();
}

void skip(facts::ProbeRung& rung, std::string why) {
    rung.result = facts::ProbeResult::Skipped;
    rung.message = std::move(why);
}

void fail(facts::ProbeRung& rung, std::string call, const ChildOutcome& outcome) {
    rung.result = facts::ProbeResult::Failed;
    rung.call = std::move(call);
    if (outcome.exit_status > 0) {
        rung.error = outcome.exit_status;
    }
    rung.message = last_words(outcome);
    if (rung.message.empty() || outcome.exit_status < 0) {
        // Killed, timed out, never started, or silent: what the process did is the reason.
        rung.message = outcome.failure + (rung.message.empty() ? "" : ": " + rung.message);
    }
}

std::string_view last_line(std::string_view text) {
    text = trim(text);
    const auto at = text.rfind('\n');
    return at == std::string_view::npos ? text : text.substr(at + 1);
}

// "failed cudaMalloc 35 cudaErrorInsufficientDriver"
bool take_refusal(facts::ProbeRung& rung, std::string_view line) {
    constexpr std::string_view k_failed = "failed ";
    if (!line.starts_with(k_failed)) {
        return false;
    }
    line.remove_prefix(k_failed.size());
    const auto name = line.rfind(' ');
    const auto number = name == std::string_view::npos ? name : line.rfind(' ', name - 1);
    if (number == std::string_view::npos) {
        return false;
    }
    int error = 0;
    const auto digits = line.substr(number + 1, name - number - 1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), error).ec != std::errc()) {
        return false;
    }
    rung.result = facts::ProbeResult::Failed;
    rung.call = std::string(line.substr(0, number));
    rung.error = error;
    rung.error_name = std::string(line.substr(name + 1));
    return true;
}

bool take_wrong(facts::ProbeRung& rung, std::string_view line) {
    constexpr std::string_view k_wrong = "wrong ";
    if (!line.starts_with(k_wrong)) {
        return false;
    }
    rung.result = facts::ProbeResult::Wrong;
    rung.message = std::string(line.substr(k_wrong.size()));
    return true;
}

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// "nvcc 12.4.131 with g++-12".
std::string tools_of(const BuildTrial& trial) {
    std::string text = "nvcc";
    if (trial.version) {
        text += ' ' + trial.version->str();
    }
    return trial.host_compiler ? text + " with " + file_name(trial.host_compiler->path) : text;
}

std::vector<std::string> compile_command(const BuildTrial& trial, const std::string& source,
                                         const std::string& program) {
    std::vector<std::string> words = {trial.nvcc, source, "-o", program};
    if (trial.host_compiler) {
        words.insert(words.end(), {"-ccbin", trial.host_compiler->path});
    }
    for (const ComputeCapability& gpu : trial.gpus) {
        const std::string number = gpu.sm().substr(3);
        words.insert(words.end(), {"-gencode", "arch=compute_" + number + ",code=sm_" + number});
    }
    return words;
}

facts::ProbeRung rung_of(facts::ProbeStep step, const BuildTrial& trial) {
    facts::ProbeRung rung;
    rung.step = step;
    rung.path = trial.nvcc;
    rung.version = trial.version;
    if (trial.host_compiler) {
        rung.name = file_name(trial.host_compiler->path);
    }
    for (const ComputeCapability& gpu : trial.gpus) {
        rung.architecture += (rung.architecture.empty() ? "" : ",") + gpu.sm();
    }
    return rung;
}

milliseconds left_until(Clock::time_point until) {
    return std::max(milliseconds(1),
                    std::chrono::duration_cast<milliseconds>(until - Clock::now()));
}

bool has(const std::vector<std::string>& environment, std::string_view name) {
    return std::ranges::any_of(environment, [&](const std::string& variable) {
        return variable.size() > name.size() + 1 && variable[name.size()] == '=' &&
               variable.starts_with(name);
    });
}

} // namespace

std::string last_words(const ChildOutcome& outcome, std::size_t most) {
    // ninja tells compilers' words on its standard output.
    const std::string_view text = trim(outcome.error).empty() ? outcome.output : outcome.error;
    std::vector<std::string> lines;
    for (const std::string_view line : split(text, '\n')) {
        const auto said = trim(line);
        if (!said.empty() && !said.starts_with("ninja: build stopped") &&
            !said.starts_with("compilation terminated")) {
            lines.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
        }
    }
    if (lines.size() > most) {
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
    }
    std::string words = join(lines, "\n");
    if (words.size() > k_longest_message) {
        words.erase(0, words.size() - k_longest_message);
    }
    return words;
}

facts::ProbeRung try_program(const BuildTrial& trial, ProcessRunner& processes,
                             milliseconds deadline) {
    facts::ProbeRung rung = rung_of(facts::ProbeStep::Build, trial);
    if (trial.nvcc.empty()) {
        skip(rung, trial.no_nvcc);
        return rung;
    }
    const Watch watch(rung);
    const auto until = Clock::now() + deadline;
    const std::string source = trial.directory + "/program.cu";
    const std::string program = trial.directory + "/program";
    if (!write_text(source, k_trial_program_cu)) {
        skip(rung, source + " cannot be written");
        return rung;
    }
    const auto built =
        processes.run({compile_command(trial, source, program), trial.environment}, deadline);
    if (!built.failure.empty()) {
        fail(rung, "nvcc", built);
        return rung;
    }
    if (!trial.not_run.empty()) {
        skip(rung, tools_of(trial) + " compiles and links; not run: " + trial.not_run);
        return rung;
    }
    const auto ran =
        processes.run({{program}, trial.environment}, std::min(k_longest_run, left_until(until)));
    const auto said = last_line(ran.output);
    if (ran.failure.empty() && said == "ok") {
        rung.message = tools_of(trial);
        return rung;
    }
    if (!take_refusal(rung, said) && !take_wrong(rung, said)) {
        fail(rung, "the program", ran);
    }
    return rung;
}

facts::ProbeRung try_torch_extension(const BuildTrial& trial, const std::string& python,
                                     ProcessRunner& processes, milliseconds deadline) {
    facts::ProbeRung rung = rung_of(facts::ProbeStep::TorchExtension, trial);
    if (trial.nvcc.empty()) {
        skip(rung, trial.no_nvcc);
        return rung;
    }
    const Watch watch(rung);
    const std::string script = trial.directory + "/extension.py";
    if (!write_text(script, k_trial_extension_py) ||
        !write_text(trial.directory + "/extension.cpp", k_trial_extension_cpp) ||
        !write_text(trial.directory + "/extension.cu", k_trial_extension_cu)) {
        skip(rung, script + " cannot be written");
        return rung;
    }
    std::vector<std::string> environment = trial.environment;
    environment.push_back("TORCH_EXTENSIONS_DIR=" + trial.directory);
    environment.emplace_back("PYTHONDONTWRITEBYTECODE=1"); // nothing is left in the environment
    if (!has(environment, "TORCH_CUDA_ARCH_LIST")) {
        std::string architectures;
        for (const ComputeCapability& gpu : trial.gpus) {
            architectures += (architectures.empty() ? "" : ";") + gpu.str();
        }
        // Without a GPU torch would compile for every architecture that it knows.
        const bool knows_turing = trial.version && trial.version->major() >= 10;
        environment.push_back("TORCH_CUDA_ARCH_LIST=" + (architectures.empty()
                                                             ? knows_turing ? "7.5" : "6.0"
                                                             : architectures));
    }
    const auto outcome = processes.run({{python, script}, environment}, deadline);
    const auto said = last_line(outcome.output);
    if (outcome.failure.empty() && said.starts_with("ok ")) {
        ChildOutcome warned;
        warned.error = outcome.error;
        rung.message = last_words(warned); // torch warns of other minors there
    } else if (outcome.failure.empty() && said.starts_with("built ")) {
        const std::string why = trial.not_run.empty() ? std::string(said.substr(6)) : trial.not_run;
        skip(rung, tools_of(trial) + " builds it; not run: " + why);
    } else if (outcome.failure.empty() && said.starts_with("skipped ")) {
        skip(rung, std::string(said.substr(8)));
    } else if (!take_wrong(rung, said)) {
        fail(rung, "torch.utils.cpp_extension.load", outcome);
    }
    return rung;
}

} // namespace cudaenv::host
