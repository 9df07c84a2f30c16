#include "cli/run.hpp"

#include "base/own_limits.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"

#include <unistd.h>

namespace cudaenv::cli {

namespace {

Result<int> carry_out(std::span<const char* const> words, const Result<void>& limits) {
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

} // namespace

int run(std::span<const char* const> words, const Result<void>& limits) {
    const auto status = carry_out(words, limits);
    if (status) {
        return *status;
    }
    const ReportWishes wishes = report_wishes(words);
    const int reported = report_failure(status.error(), wishes.json);
    return wishes.runs_command ? k_run_failed : reported;
}

} // namespace cudaenv::cli
