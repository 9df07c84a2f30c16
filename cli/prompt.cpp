#include "cli/prompt.hpp"

#include "base/text.hpp"
#include "cli/caller.hpp"
#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/own_path.hpp"
#include "cli/private_script.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/render.hpp"
#include "solver/plan/activation/update.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// With this much for the daemon, the shell's own share and a slow machine's, a prompt is back
// within 50 ms. Where nobody waits for a prompt, being right is worth longer.
constexpr std::chrono::milliseconds k_prompt_deadline{40};
constexpr std::chrono::milliseconds k_script_deadline{5000};
// After `conda activate`, which took some hundred itself and may stand before `&& nvcc`.
constexpr std::chrono::milliseconds k_command_deadline{1000};
// For a daemon that is there and does not answer; what is left is for a child.
constexpr std::chrono::milliseconds k_patience{12};

struct PromptWords {
    std::string_view shell_name;
    shellhooks::Shell shell = shellhooks::Shell::Posix;
    bool say = false;
    bool leave = false;
    bool whole_seconds = false; // the shell compares files' times by the second
    std::string_view watch;
    std::string_view keep;
    bool after_command = false; // a command of conda's or ours was run: more than a prompt's time
    std::string_view was;       // the journal before that command; empty: nothing was active
};

std::optional<PromptWords> read_words(std::span<const char* const> words) {
    PromptWords read;
    if (words.empty()) {
        return std::nullopt;
    }
    read.shell_name = words[0];
    const auto shell = shellhooks::shell_named(read.shell_name);
    if (!shell) {
        return std::nullopt;
    }
    read.shell = *shell;
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
            read.after_command = true;
            read.was = words[++i];
        } else {
            return std::nullopt;
        }
    }
    return read;
}

bool is_unchanged(const shellhooks::WatchedFile& file) {
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0) {
        return !file.exists;
    }
    return file.exists &&
           file.modified_ns == status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec;
}

// Whether all that the last answer told the shell to watch is as it was.
bool holds(std::string_view word, const protocol::Caller& caller) {
    const auto watch = shellhooks::read_watch(word);
    if (!watch || watch->directory != caller.cwd) {
        return false;
    }
    for (const plan::Change& variable : watch->variables) {
        if (caller.variable(variable.name) != variable.value) {
            return false;
        }
    }
    return std::ranges::all_of(watch->files, is_unchanged);
}

// tcsh reads the text from a private file, whose path is the answer.
bool print_text(shellhooks::Shell shell, const std::string& text) {
    if (shell != shellhooks::Shell::Tcsh || text.empty()) {
        return write_all(STDOUT_FILENO, text).has_value();
    }
    const auto script = write_private_script(text);
    return script && write_all(STDOUT_FILENO, *script + '\n').has_value();
}

// What the client can say by itself: our changes are taken back.
int leave(const PromptWords& words, const protocol::Caller& caller) {
    const auto changes = plan::difference(caller.environment, plan::undo(caller.environment));
    // A watch that holds nowhere, so that the next prompt asks.
    const std::string text = shellhooks::render_changes(words.shell, changes) +
                             shellhooks::render_watch(words.shell, {});
    return print_text(words.shell, text) ? 0 : 3;
}

// Somebody is there to read a line.
bool is_heard(const PromptWords& words) {
    const char* quiet = std::getenv("CUDAENV_QUIET");
    return words.say && (quiet == nullptr || *quiet == '\0') && ::isatty(STDERR_FILENO) != 0;
}

void say(const PromptWords& words, const std::string& line) {
    if (!is_heard(words)) {
        return;
    }
    // Where it cannot be said there is nobody to hear it.
    static_cast<void>(write_all(STDERR_FILENO, "cudaenv: " + line + '\n'));
}

// Without an answer nothing new is decided; what was set for a place that the shell has left is
// taken back.
int without_answer(const PromptWords& words, const protocol::Caller& caller, const Error& error) {
    say(words, error.message + "; asked again at the next prompt");
    const auto text = caller.variable(plan::k_journal_variable);
    const auto journal = text ? plan::read_journal(*text) : bad_input("none", "");
    if (!journal || plan::still_in(journal->context, caller.environment, caller.cwd)) {
        return 3;
    }
    return leave(words, caller);
}

// A wrapped command that changed nothing of ours: what was taken back before it is there again.
bool is_as_it_was(const nlohmann::json& object, const PromptWords& words) {
    const auto changes = object.find("changes");
    return !words.was.empty() && changes != object.end() &&
           std::ranges::any_of(*changes, [&](const nlohmann::json& change) {
               return change.value("name", "") == plan::k_journal_variable &&
                      change["value"] == words.was;
           });
}

Result<protocol::Reply> ask(nlohmann::json params, const protocol::Caller& caller,
                            const PromptWords& words) {
    ConnectWishes wishes;
    wishes.start = words.say ? StartDaemon::Interactive : StartDaemon::Never;
    wishes.patience = k_patience;
    wishes.let_finish = words.say;
    CUDAENV_TRY(auto daemon, Connection::open(wishes));
    const auto deadline = !words.say            ? k_script_deadline
                          : words.after_command ? k_command_deadline
                                                : k_prompt_deadline;
    return daemon.ask({0, "activate", std::move(params), caller}, deadline);
}

} // namespace

int run_prompt(std::span<const char* const> arguments) {
    const auto words = read_words(arguments);
    if (!words) {
        static_cast<void>(write_all(STDERR_FILENO, "cudaenv: \"prompt\" is what shell hooks call: "
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
    if (words->whole_seconds) {
        params["whole_seconds"] = true;
    }
    const auto reply = ask(std::move(params), caller, *words);
    if (!reply) {
        return without_answer(*words, caller, reply.error());
    }
    const auto text =
        protocol::bytes_from_json(reply->object.value("text", nlohmann::json()), "text");
    if (!text || !print_text(words->shell, *text)) {
        return 3;
    }
    nlohmann::json lines = is_as_it_was(reply->object, *words)
                               ? nlohmann::json::array()
                               : reply->object.value("say", nlohmann::json::array());
    if (const auto installs = reply->object.find("installs");
        installs != reply->object.end() && !installs->is_null()) {
        lines.push_back(*installs);
    }
    for (const nlohmann::json& line : lines) {
        if (const auto words_of_line = protocol::bytes_from_json(line, "say")) {
            say(*words, *words_of_line);
        }
    }
    return 0;
}

} // namespace cudaenv::cli
