// cudaenv: the thin client. It parses its arguments, asks cudaenvd and prints the answer.
//
// `prompt` is recognized here, since it needs neither the argument parser nor the renderers.
#include "base/own_limits.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/commands.hpp"
#include "cli/prompt.hpp"
#include "cli/report.hpp"

#include <cstddef>
#include <malloc.h>
#include <span>
#include <unistd.h>
#include <variant>

namespace cudaenv::cli {

static Result<int> carry_out(std::span<const char* const> words, const Result<void>& limits) {
    CUDAENV_TRY(auto parsed, parse_command_line(words));
    if (const auto* printed = std::get_if<PrintedText>(&parsed)) {
        CUDAENV_TRY_VOID(
            write_all(printed->for_person ? STDERR_FILENO : STDOUT_FILENO, printed->text));
        return 0;
    }
    CUDAENV_TRY_VOID(limits);
    auto& invocation = std::get<Invocation>(parsed);
    if (invocation.command->run != ask_and_show || !invocation.export_file.empty()) {
        take_file_size_as_error(); // it may write files
    }
    return invocation.command->run(invocation);
}

// The words after the program's name. `limits`: of take_descriptors; if it failed, only help works.
static int run(std::span<const char* const> words, const Result<void>& limits) {
    const auto status = carry_out(words, limits);
    if (status) {
        return *status;
    }
    const ReportWishes wishes = report_wishes(words);
    const int reported = report_failure(status.error(), wishes.json);
    return wishes.runs_command ? k_run_failed : reported;
}

} // namespace cudaenv::cli

int main(int argc, char** argv) {
    // The heap grows in large steps: each is a system call.
    ::mallopt(M_TOP_PAD, 1 << 20);
    const auto limits = cudaenv::take_descriptors();
    const auto count = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
    const std::span<const char* const> words{argv + (argc > 0 ? 1 : 0), count};
    if (!words.empty() && words[0] == cudaenv::cli::k_prompt_command) {
        return cudaenv::cli::run_prompt(words.subspan(1), limits);
    }
    return cudaenv::cli::run(words, limits);
}
