#include "host/probe/build_trial.hpp"

#include "base/fd.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "host/probe/trial_words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <string_view>
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

} // namespace cudaenv::probe
