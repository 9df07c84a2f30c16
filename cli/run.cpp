#include "cli/run.hpp"

#include "base/own_limits.hpp"
#include "cli/ask.hpp"
#include "cli/caller.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/commands.hpp"
#include "cli/completions.hpp"
#include "cli/oracle_stream.hpp"
#include "cli/output.hpp"
#include "cli/progress_line.hpp"
#include "cli/render/field.hpp"
#include "cli/render/render.hpp"
#include "cli/report.hpp"
#include "cli/terminal.hpp"
#include "cli/usage_error.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

Result<int> export_facts(const Invocation& invocation, const protocol::Reply& reply,
                         const protocol::Caller& caller) {
    const std::string text = as_json(reply.object);
    if (invocation.export_file == "-") {
        CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, text));
        return reply.status;
    }
    CUDAENV_TRY_VOID(write_file(invocation.export_file, text));
    if (invocation.output.json) {
        CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, text));
    } else if (!invocation.output.quiet) {
        Style style;
        style.cwd = caller.cwd;
        CUDAENV_TRY_VOID(write_all(STDERR_FILENO, "cudaenv: facts written to " +
                                                      message_path(style, invocation.export_file) +
                                                      '\n'));
    }
    return reply.status;
}

Result<int> ask_and_show(Invocation invocation) {
    const Terminal terminal = terminal_of(STDOUT_FILENO);
    const protocol::Caller caller = this_caller(terminal);
    const bool exports = !invocation.export_file.empty();
    if (exports) {
        invocation.params["facts_only"] = true; // nothing that is derived from the facts
    }
    if (invocation.alone) {
        invocation.params["alone"] = true;
    }
    AskWishes wishes;
    wishes.tell = invocation.output.verbose ? TellWay::Yes : TellWay::No;
    ProgressLine progress;
    if (!invocation.output.quiet && ProgressLine::can_be_shown()) {
        wishes.on_progress = [&progress](const protocol::Progress& far) { progress.show(far); };
    }
    auto answer =
        ask_daemon(invocation.command->method, std::move(invocation.params), caller, wishes);
    progress.clear();
    CUDAENV_TRY(const auto reply, std::move(answer));
    if (exports) {
        return export_facts(invocation, reply, caller);
    }
    Style style = style_for(terminal, invocation.output.colour, caller);
    style.verbose = invocation.output.verbose;
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, invocation.output.json
                                                  ? as_json(reply.object)
                                                  : render(reply.object, style)));
    if (!invocation.output.quiet) {
        for (const std::string& file : texts_at(reply.object, "skipped")) {
            say(file);
        }
    }
    return reply.status;
}

Result<int> print_completions(Invocation& invocation) {
    const auto shell = invocation.params["arguments"][0].get<std::string>();
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, completions_for(shell)));
    return 0;
}

Result<int> debug(Invocation& /*invocation*/) {
    CUDAENV_TRY_VOID(stream_oracle(this_caller(Terminal{})));
    return 0;
}

Result<int> show_schema(Invocation& invocation) {
    invocation.params["schema"] = invocation.params["arguments"][0];
    return ask_and_show(std::move(invocation));
}

// For a person or a program the object is shown; for shells, files and CI it is written.
Result<int> env(Invocation& invocation) {
    for (const char* form : {"shell", "dotenv", "github", "leave"}) {
        if (invocation.params.contains(form)) {
            return write_environment(invocation);
        }
    }
    return ask_and_show(std::move(invocation));
}

// A ladder that is climbed once, or a look at what the GPUs do.
Result<int> probe(Invocation& invocation) {
    return invocation.params.contains("watch") ? watch_usage(invocation)
                                               : ask_and_show(std::move(invocation));
}

// What was found, or what is done about it.
Result<int> check(Invocation& invocation) {
    return invocation.params.contains("fix") ? fix_environment(invocation)
                                             : ask_and_show(std::move(invocation));
}

// Commands that are more than a question to the daemon and its answer laid out.
struct OwnCommand {
    std::string_view name;
    Result<int> (*function)(Invocation&);
};
constexpr auto k_own_commands = std::to_array<OwnCommand>({
    {"attach", attach},
    {"check", check},
    {"completions", print_completions},
    {"daemon", daemon_command},
    {"debug", debug},
    {"detach", detach},
    {"env", env},
    {"hook", print_hook},
    {"init", init},
    {"probe", probe},
    {"run", run_command},
    {"schema", show_schema},
    {"use", use},
});

Result<int> carry_out(Invocation invocation) {
    const auto own = std::ranges::find(k_own_commands, invocation.command->name, &OwnCommand::name);
    if (own != k_own_commands.end() || !invocation.export_file.empty()) {
        take_file_size_as_error();
    }
    return own == k_own_commands.end() ? ask_and_show(std::move(invocation))
                                       : own->function(invocation);
}

Result<int> carry_out_words(std::span<const char* const> words, const Result<void>& limits) {
    CUDAENV_TRY(auto parsed, parse_command_line(words));
    if (const auto* printed = std::get_if<PrintedText>(&parsed)) {
        CUDAENV_TRY_VOID(
            write_all(printed->for_person ? STDERR_FILENO : STDOUT_FILENO, printed->text));
        return 0;
    }
    CUDAENV_TRY_VOID(limits);
    return carry_out(std::get<Invocation>(std::move(parsed)));
}

// Its exit statuses are those of the command that it runs, but for a few of its own.
bool is_run_command(std::span<const char* const> words) {
    const auto at = command_word(words);
    return at && *at && std::string_view(words[**at]) == "run";
}

} // namespace

int run(std::span<const char* const> words, const Result<void>& limits) {
    const auto status = carry_out_words(words, limits);
    if (status) {
        return *status;
    }
    const int told = report_failure(status.error(), asks_for_json(words));
    return is_run_command(words) ? k_run_failed : told;
}

} // namespace cudaenv::cli
