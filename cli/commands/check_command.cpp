// `cudaenv check --fix`: shows the steps, asks, has the daemon apply them, runs what needs the
// user's own environment, and checks again.
#include "base/json_members.hpp"
#include "base/own_limits.hpp"
#include "cli/ask.hpp"
#include "cli/commands/commands.hpp"
#include "cli/progress_line.hpp"
#include "cli/render/render.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "protocol/json_field.hpp"

#include <cerrno>
#include <cstring>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cudaenv::cli {

namespace {

// The command of one step; may be empty.
Result<std::vector<std::string>> command_of(const nlohmann::json& step) {
    std::vector<std::string> words;
    for (const nlohmann::json& word : list_at(step, "command")) {
        CUDAENV_TRY(words.emplace_back(), protocol::bytes_from_json(word, "command"));
    }
    return words;
}

// Runs it with standard output on standard error, so that only the object goes to standard output.
// Returns what went wrong; empty if nothing.
std::string run_program(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str())); // execvp does not change them
    }
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child < 0) {
        return std::string("cannot be started: ") + std::strerror(errno);
    }
    if (child == 0) {
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        give_back_limits();
        ::execvp(arguments[0], arguments.data());
        ::_exit(k_run_not_found);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return std::string("cannot be waited for: ") + std::strerror(errno);
        }
    }
    if (WIFSIGNALED(status)) {
        return words[0] + " was killed by signal " + std::to_string(WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0
               ? std::string()
               : words[0] + " ended with status " + std::to_string(WEXITSTATUS(status));
}

void run_commands(nlohmann::json& object) {
    for (nlohmann::json& step : object["steps"]) {
        const auto words = command_of(step);
        if (!words || words->empty() || !step["error"].is_null()) {
            continue;
        }
        const std::string failure = run_program(*words);
        step["done"] = failure.empty();
        if (!failure.empty()) {
            step["error"] = protocol::bytes_to_json(failure);
        }
    }
}

bool all_done(const nlohmann::json& object) {
    for (const nlohmann::json& step : list_at(object, "steps")) {
        if (!flag_at(step, "done")) {
            return false;
        }
    }
    return true;
}

bool is_yes(std::string_view line) {
    return line.starts_with('y') || line.starts_with('Y');
}

// Anything but yes is no.
bool asked_and_agreed(std::size_t steps) {
    const std::string question =
        std::string("cudaenv: ") +
        (steps == 1 ? "apply this fix? [y/N] " : "apply these fixes? [y/N] ");
    if (!write_all(STDERR_FILENO, question)) {
        return false;
    }
    std::string line;
    for (char c = 0; c != '\n' && line.size() < 100;) {
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            static_cast<void>(write_all(STDERR_FILENO, "\n"));
            return false;
        }
        line += c;
    }
    return is_yes(line);
}

class FixCommand {
public:
    explicit FixCommand(Invocation& invocation)
        : m_output(invocation.output), m_terminal(terminal_of(STDOUT_FILENO)),
          m_caller(this_caller(m_terminal)), m_params(std::move(invocation.params)) {
        m_agreed = m_params.value("yes", false);
        m_params.erase("fix");
    }

    Result<int> run() {
        CUDAENV_TRY(const auto planned, ask(m_params));
        const auto& steps = list_at(planned.object, "steps");
        if (steps.empty()) {
            return show(planned.object, planned.status);
        }
        if (!m_output.json) {
            CUDAENV_TRY_VOID(print(STDOUT_FILENO, planned.object));
        }
        if (!m_agreed) {
            if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
                return bad_input(
                    "not-asked",
                    "nothing was changed: there is no terminal to ask for confirmation",
                    "add -y to apply these steps without asking");
            }
            if (m_output.json) {
                CUDAENV_TRY_VOID(print(STDERR_FILENO, planned.object));
            }
            if (!asked_and_agreed(steps.size())) {
                say("nothing was changed");
                return m_output.json ? show(planned.object, 1) : 1;
            }
        }
        return carry_out(planned.object);
    }

private:
    Result<int> carry_out(const nlohmann::json& planned) {
        nlohmann::json params = m_params;
        params["carry_out"] = true;
        params["plan"] = planned.value("plan", "");
        CUDAENV_TRY(auto done, ask(params));
        run_commands(done.object);
        const bool whole = all_done(done.object);
        params.erase("carry_out");
        const auto after = ask(params);
        if (!after) {
            static_cast<void>(print(STDERR_FILENO, without_plan(done.object)));
            return tl::unexpected(after.error());
        }
        done.object["left"] = after->object.value("left", nlohmann::json::array());
        return show(done.object, whole ? after->status : 3);
    }

    // All questions over one connection: the daemon keeps what it has read.
    Result<protocol::Reply> ask(const nlohmann::json& params) {
        if (!m_conversation) {
            AskWishes wishes;
            wishes.explain = m_output.verbose ? ExplainNoDaemon::Yes : ExplainNoDaemon::No;
            if (!m_output.quiet && ProgressLine::can_be_shown()) {
                wishes.on_progress = [this](const protocol::Progress& far) {
                    m_progress.show(far);
                };
            }
            CUDAENV_TRY(auto conversation, Conversation::open("check.fix", params, wishes));
            m_conversation.emplace(std::move(conversation));
        }
        auto reply = m_conversation->ask(params, m_caller);
        m_progress.clear();
        return reply;
    }

    static nlohmann::json without_plan(nlohmann::json object) {
        object.erase("plan");
        return object;
    }

    Result<void> print(int fd, const nlohmann::json& object) const {
        Style style = style_for(fd == STDOUT_FILENO ? m_terminal : terminal_of(fd), m_output.colour,
                                m_caller);
        style.verbose = m_output.verbose;
        return write_all(fd, render(object, style));
    }

    [[nodiscard]] Result<int> show(const nlohmann::json& object, int status) const {
        const nlohmann::json shown = without_plan(object);
        CUDAENV_TRY_VOID(m_output.json ? write_all(STDOUT_FILENO, as_json(shown))
                                       : print(STDOUT_FILENO, shown));
        return status;
    }

    OutputWishes m_output;
    Terminal m_terminal;
    protocol::Caller m_caller;
    nlohmann::json m_params;
    bool m_agreed = false;
    ProgressLine m_progress;
    std::optional<Conversation> m_conversation;
};

} // namespace

Result<int> check(Invocation& invocation) {
    return invocation.params.contains("fix") ? FixCommand(invocation).run()
                                             : ask_and_show(invocation);
}

} // namespace cudaenv::cli
