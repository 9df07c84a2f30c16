#include "host/probe/build_trial.hpp"

#include "base/fd.hpp"
#include "base/raw_bytes.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>
#include <utility>

namespace cudaenv::probe {

extern const std::string_view k_trial_program_cu;
extern const std::string_view k_trial_extension_cu;
extern const std::string_view k_trial_extension_cpp;
extern const std::string_view k_trial_extension_py;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// nvcc prints its version in 20 ms.
constexpr milliseconds k_longest_version{10'000};

// The rung as `work` leaves it, with what that took, whatever way it ended.
template <typename Work>
facts::ProbeRung timed(facts::ProbeRung rung, Work&& work) {
    const auto begun = Clock::now();
    work(rung);
    rung.took_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    return rung;
}

// 0 or an errno.
int write_text(const std::string& path, std::string_view text) {
    Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file) {
        return errno;
    }
    if (!write_full(file.get(), text)) {
        return errno;
    }
    return ::close(file.release()) == 0 ? 0 : errno; // some file systems report errors only then
}

void cannot_write(facts::ProbeRung& rung, const std::string& why) {
    rung.result = facts::ProbeResult::Failed;
    rung.call = facts::k_write_call;
    rung.message = why;
}

// The directory that contains the trial's, which is removed afterwards.
std::string place_of(const BuildTrial& trial) {
    return trial.directory.substr(0, std::max<std::size_t>(trial.directory.rfind('/'), 1));
}

// Writes them all, or says in the rung that it could not.
bool write_sources(const BuildTrial& trial, facts::ProbeRung& rung,
                   std::initializer_list<std::pair<const char*, std::string_view>> sources) {
    for (const auto& [name, text] : sources) {
        if (const int error = write_text(trial.directory + '/' + name, text); error != 0) {
            cannot_write(rung, place_of(trial) + ": " + std::strerror(error));
            return false;
        }
    }
    return true;
}

void skip(facts::ProbeRung& rung, std::string why) {
    rung.result = facts::ProbeResult::Skipped;
    rung.message = std::move(why);
}

// What became of a compile: a place that is full, an nvcc that cannot even say what it is (a
// wrapper that fails, half an installation), or what it says of the source.
void fail_to_build(facts::ProbeRung& rung, const BuildTrial& trial, const host::ChildOutcome& built,
                   host::ProcessRunner& processes) {
    if (const auto words = no_room(built); !words.empty()) {
        cannot_write(rung, place_of(trial) + ": " + std::string(words));
        return;
    }
    fail(rung, "nvcc", built);
    if (built.timed_out) {
        return;
    }
    const std::string ended = trial.nvcc + ": " + built.failure;
    constexpr int k_cannot_start = 126; // a shell's words for it; 127: what it wanted is not there
    const bool is_broken =
        built.exit_status < 0 || built.exit_status == k_cannot_start ||
        built.exit_status == k_cannot_start + 1 || !are_compilers_words(built) ||
        !processes.run({{trial.nvcc, "--version"}, trial.environment}, k_longest_version)
             .failure.empty();
    if (!is_broken) {
        rung.message += '\n' + ended;
        return;
    }
    rung.call = facts::k_nvcc_call;
    rung.message = built.started ? ended : built.failure;
    if (built.started) {
        const std::string words = last_words(built, 1);
        rung.message += (words.empty() ? "" : ": ") + std::string(trim(words));
    }
}

// "nvcc 12.4.131 with g++-12".
std::string tools_of(const BuildTrial& trial) {
    std::string text = "nvcc";
    if (trial.version) {
        text += ' ' + trial.version->str();
    }
    return trial.host_compiler
               ? text + " with " + std::string(host::base_name(trial.host_compiler->path))
               : text;
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
        rung.name = host::base_name(trial.host_compiler->path);
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

void build_program(facts::ProbeRung& rung, const BuildTrial& trial, host::ProcessRunner& processes,
                   milliseconds deadline) {
    const auto until = Clock::now() + deadline;
    const std::string source = trial.directory + "/program.cu";
    const std::string program = trial.directory + "/program";
    if (!write_sources(trial, rung, {{"program.cu", k_trial_program_cu}})) {
        return;
    }
    const auto built =
        processes.run({compile_command(trial, source, program), trial.environment}, deadline);
    if (!built.failure.empty()) {
        fail_to_build(rung, trial, built, processes);
        return;
    }
    if (::access(program.c_str(), F_OK) != 0) { // a wrapper that swallows its arguments
        rung.result = facts::ProbeResult::Failed;
        rung.call = facts::k_nvcc_call;
        rung.message = trial.nvcc + ": it succeeded, but wrote no program";
        return;
    }
    if (!trial.not_run.empty()) {
        skip(rung, tools_of(trial) + " compiles and links; not run: " + trial.not_run);
        return;
    }
    const auto ran = processes.run({{program}, trial.environment},
                                   std::min(trial.longest_run, left_until(until)));
    const auto said = last_line(ran.output);
    if (ran.failure.empty() && said == "ok") {
        rung.message = tools_of(trial);
        return;
    }
    if (!take_refusal(rung, said) && !take_wrong(rung, said)) {
        fail(rung, std::string(facts::k_program_call), ran);
    }
}

void build_extension(facts::ProbeRung& rung, const BuildTrial& trial, const std::string& python,
                     host::ProcessRunner& processes, milliseconds deadline) {
    const std::string script = trial.directory + "/extension.py";
    if (!write_sources(trial, rung,
                       {{"extension.py", k_trial_extension_py},
                        {"extension.cpp", k_trial_extension_cpp},
                        {"extension.cu", k_trial_extension_cu}})) {
        return;
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
        host::ChildOutcome warned;
        warned.error = outcome.error;
        rung.message = last_words(warned); // torch warns of other minors there
    } else if (outcome.failure.empty() && said.starts_with("built ")) {
        const std::string why = trial.not_run.empty() ? std::string(said.substr(6)) : trial.not_run;
        skip(rung, tools_of(trial) + " builds it; not run: " + why);
    } else if (outcome.failure.empty() && said.starts_with("skipped ")) {
        skip(rung, std::string(said.substr(8)));
        rung.reason = facts::RungReason::CpuBuild; // the only reason that the script has
    } else if (said.starts_with("no-import ")) {
        rung.result = facts::ProbeResult::Failed;
        rung.call = facts::k_import_call;
        rung.message = said.substr(10);
    } else if (const auto words = no_room(outcome); !outcome.failure.empty() && !words.empty()) {
        cannot_write(rung, place_of(trial) + ": " + std::string(words));
    } else if (!take_wrong(rung, said)) {
        fail(rung, "torch.utils.cpp_extension.load", outcome);
    }
}

bool ran_a_kernel(const facts::ProbeReport& report, std::optional<int> ordinal) {
    return std::ranges::any_of(report.rungs, [&](const facts::ProbeRung& rung) {
        return rung.step == facts::ProbeStep::Kernel && rung.gpu == ordinal &&
               rung.result == facts::ProbeResult::Ok;
    });
}

// As CUDA_VISIBLE_DEVICES takes it; empty where the driver gave no UUID.
std::string name_to_show(const facts::ProbeRung& gpu) {
    return gpu.mig && !gpu.uuid.starts_with("MIG-") ? std::string() : gpu.uuid;
}

// Why what was built does not run on that one, on which a kernel of the probe's did; empty: it
// does.
std::string why_not_on(const facts::ProbeRung& gpu) {
    const std::string name = "GPU " + std::to_string(gpu.gpu.value_or(0));
    const int mode = gpu.compute_mode.value_or(0);
    if (mode == 1 || mode == 3) {
        return name + " is in exclusive mode, so only the quick probe ran";
    }
    if (gpu.reason == facts::RungReason::Busy) {
        return name + " is " + gpu.message;
    }
    // What was built takes the first that it sees.
    return name_to_show(gpu).empty() && gpu.gpu.value_or(0) != 0
               ? "the driver gives " + name + " no UUID, so it cannot be selected"
               : std::string();
}

constexpr std::size_t k_longest_message = 4096; // as facts::ProbeRung says

using Lines = std::vector<std::string>;

Lines lines_of(const host::ChildOutcome& outcome) {
    // ninja prints the compilers' output on its standard output.
    const std::string_view text = trim(outcome.error).empty() ? outcome.output : outcome.error;
    Lines lines;
    for (const std::string_view line : split(text, '\n')) {
        const auto words = trim(line);
        if (!words.empty() && !words.starts_with("ninja: build stopped") &&
            !words.starts_with("compilation terminated")) {
            lines.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
        }
    }
    return lines;
}

// The compilers' words for an error, in the order in which they are preferred.
Lines::const_iterator line_of_cause(const Lines& lines) {
    for (const std::string_view word :
         {"cannot open", "cannot find", "fatal", "error:", "Error:", "nsupported", "ndefined"}) {
        const auto found = std::ranges::find_if(
            lines, [&](const std::string& line) { return line.find(word) != std::string::npos; });
        if (found != lines.end()) {
            return found;
        }
    }
    return lines.end();
}

} // namespace

std::optional<facts::ProbeRung> unfit_place(const std::string& directory) {
    struct Breaking {
        char character;
        const char* name;
    };
    constexpr auto k_breaking = std::to_array<Breaking>({{'"', "a double quote"},
                                                         {'$', "a $"},
                                                         {'`', "a backquote"},
                                                         {'\n', "a line break"},
                                                         {',', "a comma"}});
    for (const auto& [character, name] : k_breaking) {
        if (directory.find(character) != std::string::npos) {
            facts::ProbeRung rung;
            rung.step = facts::ProbeStep::Build;
            rung.result = facts::ProbeResult::Failed;
            rung.call = facts::k_place_call;
            rung.message = std::string(name) + " in its name: " + directory;
            return rung;
        }
    }
    return std::nullopt;
}

facts::ProbeRung unwritten_trial(const std::string& why) {
    facts::ProbeRung rung;
    rung.step = facts::ProbeStep::Build;
    cannot_write(rung, why);
    return rung;
}

facts::ProbeRung try_program(const BuildTrial& trial, host::ProcessRunner& processes,
                             milliseconds deadline) {
    return timed(rung_of(facts::ProbeStep::Build, trial), [&](facts::ProbeRung& rung) {
        if (trial.nvcc.empty()) {
            skip(rung, trial.no_nvcc);
        } else {
            build_program(rung, trial, processes, deadline);
        }
    });
}

facts::ProbeRung try_torch_extension(const BuildTrial& trial, const std::string& python,
                                     host::ProcessRunner& processes, milliseconds deadline) {
    return timed(rung_of(facts::ProbeStep::TorchExtension, trial), [&](facts::ProbeRung& rung) {
        if (trial.nvcc.empty()) {
            skip(rung, trial.no_nvcc);
        } else {
            build_extension(rung, trial, python, processes, deadline);
        }
    });
}

void aim(BuildTrial& trial, const facts::ProbeReport& report) {
    for (const facts::ProbeRung& rung : report.rungs) {
        if (rung.step == facts::ProbeStep::Gpu && rung.compute_capability &&
            std::ranges::find(trial.gpus, *rung.compute_capability) == trial.gpus.end()) {
            trial.gpus.push_back(*rung.compute_capability);
        }
    }
    std::ranges::sort(trial.gpus);
    trial.not_run = trial.gpus.empty() ? "no GPU was found here" : "no GPU here ran a kernel";
    std::optional<std::string> shown; // none: as the caller has it
    for (const facts::ProbeRung& gpu : report.rungs) {
        if (gpu.step != facts::ProbeStep::Gpu || !ran_a_kernel(report, gpu.gpu)) {
            continue;
        }
        trial.not_run = why_not_on(gpu);
        if (trial.not_run.empty()) {
            shown = name_to_show(gpu);
            break;
        }
    }
    if (!trial.not_run.empty()) {
        shown = ""; // torch's own extension runs where it sees any
    } else if (shown->empty()) {
        return;
    }
    std::erase_if(trial.environment, [](const std::string& variable) {
        return variable.starts_with("CUDA_VISIBLE_DEVICES=");
    });
    trial.environment.push_back("CUDA_VISIBLE_DEVICES=" + *shown);
}

std::string_view no_room(const host::ChildOutcome& outcome) {
    for (const std::string_view words :
         {"No space left on device", "Disk quota exceeded", "File size limit exceeded",
          "File too large", "Read-only file system"}) {
        if (outcome.error.find(words) != std::string::npos ||
            outcome.output.find(words) != std::string::npos) {
            return words;
        }
    }
    return {};
}

void fail(facts::ProbeRung& rung, std::string call, const host::ChildOutcome& outcome) {
    rung.result = facts::ProbeResult::Failed;
    rung.call = std::move(call);
    if (outcome.exit_status > 0) {
        rung.error = outcome.exit_status;
    }
    rung.message = last_words(outcome);
    rung.cause = cause_line(outcome);
    if (rung.message.empty() || outcome.exit_status < 0) {
        // Killed, timed out, never started, or silent: what the process did is the reason.
        rung.message = outcome.failure + (rung.message.empty() ? "" : ": " + rung.message);
    }
}

bool are_compilers_words(const host::ChildOutcome& built) {
    return std::ranges::any_of(
        std::to_array<std::string_view>({"program.cu", "nvcc fatal", "nvcc error", "nvcc warning",
                                         "ptxas", "nvlink", "fatbinary", "collect2", "ld: "}),
        [&](std::string_view words) {
            return built.error.find(words) != std::string::npos ||
                   built.output.find(words) != std::string::npos;
        });
}

std::string_view last_line(std::string_view text) {
    text = trim(text);
    const auto at = text.rfind('\n');
    return at == std::string_view::npos ? text : text.substr(at + 1);
}

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

std::string cause_line(const host::ChildOutcome& outcome) {
    const auto lines = lines_of(outcome);
    const auto cause = line_of_cause(lines);
    if (cause == lines.end()) {
        return {};
    }
    const std::string_view line = *cause;
    const std::size_t word = std::min(line.find("error"), line.find("fatal"));
    // "ptxas /tmp/tmpxft_0000/program.ptx, line 9; fatal   : ..." spends the line on a file that is
    // gone by now.
    const bool is_of_ptxas = line.starts_with("ptxas ") && word != std::string_view::npos;
    return redact_secrets(is_of_ptxas ? "ptxas " + std::string(line.substr(word))
                                      : std::string(trim(line)));
}

std::string last_words(const host::ChildOutcome& outcome, std::size_t most) {
    auto lines = lines_of(outcome);
    if (lines.size() > most) {
        const auto cause = line_of_cause(lines);
        const auto end = lines.end() - static_cast<std::ptrdiff_t>(most);
        std::string above = cause < end && most > 1 ? *cause : std::string();
        lines.erase(lines.begin(), end);
        if (!above.empty()) {
            lines.insert(lines.begin(), {std::move(above), "..."});
        }
    }
    // Before the text is cut: of half a URL it is unknown that it was one.
    const std::string words = redact_secrets(join(lines, "\n"));
    if (words.size() <= k_longest_message) {
        return words;
    }
    const std::string cause = cause_line(outcome);
    constexpr std::size_t k_longest_cause = 400;
    if (cause.empty() || cause.size() > k_longest_cause) {
        return std::string(last_bytes(words, k_longest_message));
    }
    const std::string above = cause + "\n...\n";
    return above + std::string(last_bytes(words, k_longest_message - above.size()));
}

} // namespace cudaenv::probe
