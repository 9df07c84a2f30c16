#include "cli/prompt.hpp"

#include "base/file_identity.hpp"
#include "base/fingerprint.hpp"
#include "base/own_limits.hpp"
#include "base/own_path.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/connection.hpp"
#include "cli/progress_line.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "shellhooks/patch/update.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// How long a prompt waits when the question has changed: the next command may be a build.
constexpr std::chrono::milliseconds k_prompt_deadline{2000};
// How long it waits when the same question has timed out before. Each prompt waits twice as long as
// the one before, or a machine that is always busy would never get an answer.
constexpr std::chrono::milliseconds k_repeated_deadline{40};
constexpr std::chrono::milliseconds k_script_deadline{5000};
// After this silence of the daemon a child is started beside it.
constexpr std::chrono::milliseconds k_prompt_patience{15};
// After this the terminal shows that cudaenv is working.
constexpr std::chrono::milliseconds k_silence{150};

constexpr int k_status_ask_again = 4;
// Prints nothing, since a shell that stops at the interrupt would drop it. The hook asks again with
// --cut-off: at once, or if the shell stopped, before the next command.
constexpr int k_status_interrupted = 5;

struct PromptWords {
    std::string_view shell_name;
    const hooks::Shell* shell = nullptr;
    bool say = false;
    bool leave = false;
    bool whole_seconds = false; // the shell compares files' times by the second
    std::string_view watch;
    std::string_view keep;
    std::string_view was;    // the journal that was undone before this question
    std::string_view waited; // the question that timed out; may be empty
    std::chrono::milliseconds next_wait = k_repeated_deadline; // for that question
    bool cut_off = false;                                      // the last wait was interrupted
    bool take_back_first = false; // the shell cannot undo our changes after a wait
};

// The word that one prompt passes to the next: the question, and the milliseconds of the next wait.
std::string waited_word(const std::string& question, std::chrono::milliseconds next_wait) {
    return question + '.' + std::to_string(next_wait.count());
}

void read_waited(std::string_view word, PromptWords& read) {
    const auto dot = std::min(word.find('.'), word.size());
    const std::string_view digits = word.substr(std::min(dot + 1, word.size()));
    int wait = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), wait).ec == std::errc()) {
        read.waited = word.substr(0, dot);
        read.next_wait = std::min(std::chrono::milliseconds(wait), k_prompt_deadline);
    }
}

std::optional<PromptWords> read_words(std::span<const char* const> words) {
    PromptWords read;
    if (words.empty()) {
        return std::nullopt;
    }
    read.shell_name = words[0];
    read.shell = hooks::shell_named(read.shell_name);
    if (read.shell == nullptr) {
        return std::nullopt;
    }
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const bool more = i + 1 < words.size();
        if (word == "--say") {
            read.say = true;
        } else if (word == "--leave") {
            read.leave = true;
        } else if (word == "--whole-seconds") {
            read.whole_seconds = true;
        } else if (word == "--watch" && more) {
            read.watch = words[++i];
        } else if (word == "--keep" && more) {
            read.keep = words[++i];
        } else if (word == "--was" && more) {
            read.was = words[++i];
        } else if (word == "--waited" && more) {
            read_waited(words[++i], read);
        } else if (word == "--cut-off") {
            read.cut_off = true;
        } else if (word == "--take-back-first") {
            read.take_back_first = true;
        } else {
            return std::nullopt;
        }
    }
    return read;
}

bool is_unchanged(const hooks::WatchedFile& file) {
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0) {
        return !file.exists;
    }
    return file.exists && file.modified_ns == nanoseconds(status.st_mtim);
}

// Whether nothing that the shell watches since the last answer has changed.
bool holds(std::string_view word, const protocol::Caller& caller) {
    const auto watch = hooks::read_watch(word);
    if (!watch || watch->directory != caller.cwd) {
        return false;
    }
    for (const patch::Change& variable : watch->variables) {
        if (caller.variable(variable.name) != variable.value) {
            return false;
        }
    }
    return std::ranges::all_of(watch->files, is_unchanged);
}

bool print_text(const hooks::Shell& shell, const std::string& text) {
    if (!shell.answers_in_file || text.empty()) {
        return write_all(STDOUT_FILENO, text).has_value();
    }
    take_file_size_as_error();
    const auto script = write_private_script(text);
    return script && write_all(STDOUT_FILENO, *script + '\n').has_value();
}

// Undoes our changes, for which the client needs no daemon. The watch never matches, so the next
// prompt asks; it gets `waited`.
bool take_back(const PromptWords& words, const protocol::Caller& caller, std::string waited) {
    hooks::Watch watch;
    watch.waited = std::move(waited);
    return print_text(*words.shell, words.shell->render_changes(patch::difference(
                                        caller.environment, patch::undo(caller.environment))) +
                                        words.shell->render_watch(watch));
}

int leave(const PromptWords& words, const protocol::Caller& caller) {
    return take_back(words, caller, {}) ? 0 : 3;
}

bool is_quiet() {
    const char* quiet = std::getenv("CUDAENV_QUIET");
    return quiet != nullptr && *quiet != '\0';
}

// Whether a person reads a line on standard error.
bool is_heard(const PromptWords& words) {
    return words.say && !is_quiet() && ::isatty(STDERR_FILENO) != 0;
}

void say(const PromptWords& words, const std::string& line) {
    if (!is_heard(words)) {
        return;
    }
    // If it cannot be written, nothing can be reported.
    static_cast<void>(write_all(STDERR_FILENO, "cudaenv: " + line + '\n'));
}

// The question as one word: the directory and the watched variables, without our own changes. Files
// are not part of it.
std::string question_of(const protocol::Caller& caller) {
    const patch::Variables base = patch::undo(caller.environment);
    std::string text = caller.cwd;
    for (const std::string_view name : watched_variables()) {
        const auto found = base.find(name);
        text += '\n';
        text += found == base.end() ? "-" : '=' + found->second;
    }
    return fingerprint(text);
}

// The directory of the nearest project file upwards, trusted or not; may be empty.
std::string nearest_project(std::string directory) {
    while (!directory.empty()) {
        if (::access((directory + "/cudaenv.toml").c_str(), F_OK) == 0) {
            return directory;
        }
        directory.resize(directory.rfind('/'));
    }
    return {};
}

// The user's configuration is watched too, but may be on a file server that does not answer.
bool is_project_file(std::string_view path) {
    return path.ends_with("/cudaenv.toml") || path.ends_with("/cudaenv.local.toml");
}

// As far as the client can tell, our changes are still right here; or there are none.
bool is_still_there(const PromptWords& words, const protocol::Caller& caller) {
    const auto text = caller.variable(patch::k_journal_variable);
    const auto journal = text ? patch::read_journal(*text) : bad_input("none", "");
    if (!journal) {
        return true;
    }
    const auto watch = hooks::read_watch(words.watch);
    const bool edited =
        watch && std::ranges::any_of(watch->files, [](const hooks::WatchedFile& file) {
            return is_project_file(file.path) && !is_unchanged(file);
        });
    return !edited &&
           patch::still_in(journal->context, caller.environment, nearest_project(caller.cwd));
}

std::chrono::milliseconds deadline_for(const PromptWords& words, bool repeated) {
    return words.cut_off ? k_repeated_deadline
           : !words.say  ? k_script_deadline
           : repeated    ? words.next_wait
                         : k_prompt_deadline;
}

std::string reason_without_answer(const PromptWords& words, const Error& error) {
    const std::string what = words.cut_off               ? "Interrupted"
                             : error.code == "timed-out" ? "Machine is busy"
                                                         : one_line(error);
    return what + ": CUDA is not set" + (words.say ? " yet, retrying at the next prompt" : "");
}

// Without an answer our changes are undone if they may be wrong here, for instance because a pin
// has changed. Reports that once for each question; in a script on standard error.
int without_answer(const PromptWords& words, const protocol::Caller& caller, const Error& error) {
    const std::string question = question_of(caller);
    const bool repeated = words.waited == question;
    if (!repeated && (is_heard(words) || (!words.say && !is_quiet()))) {
        // If it cannot be written, nothing can be reported.
        static_cast<void>(
            write_all(STDERR_FILENO, "cudaenv: " + reason_without_answer(words, error) + '\n'));
    }
    const auto next_wait =
        repeated && error.code == "timed-out" ? words.next_wait * 2 : k_repeated_deadline;
    return take_back(words, caller, waited_word(question, next_wait)) ? 0 : 3;
}

volatile std::sig_atomic_t g_interrupted = 0;

// From now on an interrupt ends the wait, and the shell still gets an answer; Ctrl-Z cannot stop
// this process, for which the shell would wait for ever.
void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupted = 1; };
    ::sigaction(SIGINT, &action, nullptr);
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGTSTP, &action, nullptr);
}

// The answer, and the connection it came from.
struct Conversation {
    Connection connection;
    protocol::Reply reply;
};

// `line` must live as long as the connection, which shows it when an answer takes long.
Result<Conversation> ask(nlohmann::json params, const protocol::Caller& caller,
                         const PromptWords& words, std::chrono::milliseconds deadline,
                         ProgressLine& line) {
    ConnectWishes wishes;
    wishes.start = words.say ? StartDaemon::Interactive : StartDaemon::Never;
    wishes.patience = k_prompt_patience;
    wishes.silent_daemon = SilentDaemon::IsRaced;
    wishes.let_finish = true;
    wishes.slow_after = k_silence;
    wishes.on_slow = [&words, &line] {
        if (is_heard(words) && ProgressLine::can_be_shown()) {
            line.show("cudaenv: working out which CUDA fits ...");
        }
    };
    wishes.is_interrupted = [] { return g_interrupted != 0; };
    CUDAENV_TRY(auto daemon, Connection::open(wishes));
    CUDAENV_TRY(auto reply, daemon.ask({0, "activate", std::move(params), caller}, deadline));
    return Conversation{std::move(daemon), std::move(reply)};
}

// What an install has mixed up is reported once, by the first shell: recorded as reported here.
void confirm_said(Conversation& conversation, const protocol::Caller& caller) {
    const auto said = conversation.reply.object.find("installs_said");
    if (said != conversation.reply.object.end()) {
        static_cast<void>(conversation.connection.tell({0, "activate.said", *said, caller}));
    }
}

} // namespace

int run_prompt(std::span<const char* const> arguments, const Result<void>& limits) {
    const auto words = read_words(arguments);
    if (!words) {
        static_cast<void>(write_all(STDERR_FILENO, "cudaenv: \"prompt\" is for shell hooks: "
                                                   "prompt SHELL [--say] [--leave] ...\n"));
        return 2;
    }
    const protocol::Caller caller = this_caller(Terminal{});
    if (!words->leave && !words->watch.empty() && holds(words->watch, caller)) {
        return 0;
    }
    const char* disabled = std::getenv("CUDAENV_DISABLE");
    if (words->leave || (disabled != nullptr && *disabled != '\0')) {
        return leave(*words, caller);
    }
    if (!limits) {
        return without_answer(*words, caller, limits.error());
    }
    nlohmann::json params = {
        {"shell", words->shell_name}, {"watch", true}, {"program", own_path()}};
    if (!words->keep.empty()) {
        nlohmann::json kept = nlohmann::json::array();
        for (const std::string_view name : split(words->keep, ',')) {
            kept.push_back(name);
        }
        params["keep"] = std::move(kept);
    }
    if (is_heard(*words)) {
        params["tell_installs"] = true;
    }
    if (words->was.size() > 1) { // tcsh has no empty words
        params["was"] = words->was;
    }
    if (words->whole_seconds) {
        params["whole_seconds"] = true;
    }
    const bool repeated = words->cut_off || words->waited == question_of(caller);
    if (words->take_back_first && !repeated && !is_still_there(*words, caller)) {
        return take_back(*words, caller, {}) ? k_status_ask_again : 3;
    }
    catch_interrupts();
    ProgressLine progress;
    auto conversation =
        ask(std::move(params), caller, *words, deadline_for(*words, repeated), progress);
    progress.clear();
    if (!conversation && conversation.error().code == "interrupted" && !words->cut_off) {
        return k_status_interrupted;
    }
    if (!conversation) {
        return without_answer(*words, caller, conversation.error());
    }
    const nlohmann::json& object = conversation->reply.object;
    const auto text = protocol::bytes_from_json(object.value("text", nlohmann::json()), "text");
    if (!text || !print_text(*words->shell, *text)) {
        return 3;
    }
    nlohmann::json lines = object.value("say", nlohmann::json::array());
    if (const auto installs = object.find("installs");
        installs != object.end() && !installs->is_null()) {
        lines.push_back(*installs);
    }
    for (const nlohmann::json& line : lines) {
        if (const auto words_of_line = protocol::bytes_from_json(line, "say")) {
            say(*words, *words_of_line);
        }
    }
    confirm_said(*conversation, caller);
    return 0;
}

} // namespace cudaenv::cli
