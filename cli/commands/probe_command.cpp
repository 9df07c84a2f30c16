#include "cli/ask.hpp"
#include "cli/commands/commands.hpp"
#include "cli/progress_line.hpp"
#include "cli/render/render.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

// NVML samples over a second or less, and each question starts a child.
constexpr int k_interval_ms = 2000;

volatile std::sig_atomic_t s_ended = 0;

void end(int) {
    s_ended = 1;
}

int rows_of_terminal() {
    struct winsize size {};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

// The terminal's alternate screen, as long as this object lives. No cursor; long lines are cut, so
// that the number of rows is known.
class Screen {
public:
    static Result<Screen> open() {
        Screen screen;
        CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, "\x1b[?1049h\x1b[?25l\x1b[?7l"));
        return screen;
    }
    Screen(Screen&& other) noexcept : m_open(std::exchange(other.m_open, false)) {}
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;
    Screen& operator=(Screen&&) = delete;
    ~Screen() {
        if (m_open) {
            static_cast<void>(write_all(STDOUT_FILENO, "\x1b[?7h\x1b[?25h\x1b[?1049l"));
        }
    }

    // As many lines as fit, each drawn over the old one to avoid flicker.
    static Result<void> draw(std::string_view text) {
        std::string shown = "\x1b[H";
        for (int row = rows_of_terminal(); row > 1 && !text.empty(); --row) {
            const auto line_end = std::min(text.find('\n'), text.size());
            shown += text.substr(0, line_end);
            shown += "\x1b[K\n";
            text.remove_prefix(std::min(line_end + 1, text.size()));
        }
        return write_all(STDOUT_FILENO, shown + "\x1b[J");
    }

private:
    Screen() = default;
    bool m_open = true;
};

void end_on(int signal) {
    struct sigaction action {};
    action.sa_handler = end;
    ::sigaction(signal, &action, nullptr); // no SA_RESTART: the signal ends the wait
}

// Shows this answer and a new one every two seconds, until a signal ends it.
template <typename Show>
Result<void> again(protocol::Reply reply, const protocol::Caller& caller, const Show& show) {
    while (true) {
        CUDAENV_TRY_VOID(show(reply.object));
        if (s_ended == 0) {
            ::poll(nullptr, 0, k_interval_ms);
        }
        if (s_ended != 0) {
            return {};
        }
        CUDAENV_TRY(reply, ask_daemon("usage", nlohmann::json::object(), caller));
    }
}

} // namespace

Result<int> probe(Invocation& invocation) {
    if (!invocation.params.contains("watch")) {
        return ask_and_show(invocation);
    }
    const Terminal terminal = terminal_of(STDOUT_FILENO);
    const protocol::Caller caller = this_caller(terminal);
    const auto explain = invocation.output.verbose ? ExplainNoDaemon::Yes : ExplainNoDaemon::No;
    CUDAENV_TRY(auto reply,
                ask_daemon("usage", nlohmann::json::object(), caller, {.explain = explain}));
    Style style = style_for(terminal, invocation.output.colour, caller);
    const bool json = invocation.output.json;
    if (reply.status != 0 || (!json && !terminal.is_terminal)) {
        CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, json ? as_json_line(reply.object)
                                                       : render(reply.object, style)));
        return reply.status;
    }
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        end_on(signal);
    }
    if (json) {
        CUDAENV_TRY_VOID(again(std::move(reply), caller, [](const nlohmann::json& usage) {
            return write_all(STDOUT_FILENO, as_json_line(usage));
        }));
        return 0;
    }
    CUDAENV_TRY(const Screen screen, Screen::open());
    CUDAENV_TRY_VOID(again(std::move(reply), caller, [&](const nlohmann::json& usage) {
        style.columns = std::min(terminal_of(STDOUT_FILENO).columns, k_most_columns);
        return Screen::draw(render(usage, style) + "\n" +
                            in_locale(style, "every 2 s · Ctrl-C ends it") + '\n');
    }));
    return 0;
}

} // namespace cudaenv::cli
