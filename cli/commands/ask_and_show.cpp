// Commands that ask the daemon and show its answer, and two that print a text.
#include "base/json_members.hpp"
#include "cli/ask.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/commands.hpp"
#include "cli/progress_line.hpp"
#include "cli/render/render.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "shellhooks/hooks/shell.hpp"

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

} // namespace

Result<int> ask_and_show(Invocation& invocation) {
    const Terminal terminal = terminal_of(STDOUT_FILENO);
    const protocol::Caller caller = this_caller(terminal);
    const bool exports = !invocation.export_file.empty();
    if (exports) {
        invocation.params["facts_only"] = true; // without what is derived from the facts
    }
    if (invocation.alone) {
        invocation.params["alone"] = true;
    }
    AskWishes wishes;
    wishes.explain = invocation.output.verbose ? ExplainNoDaemon::Yes : ExplainNoDaemon::No;
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

Result<int> show_schema(Invocation& invocation) {
    invocation.params["schema"] = invocation.params["arguments"][0];
    return ask_and_show(invocation);
}

Result<int> print_completions(Invocation& invocation) {
    const auto* const shell =
        hooks::shell_named(invocation.params["arguments"][0].get<std::string>());
    if (shell == nullptr) {
        return defect("unknown shell");
    }
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, completions_for(*shell)));
    return 0;
}

} // namespace cudaenv::cli
