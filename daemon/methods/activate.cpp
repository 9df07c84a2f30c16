#include "base/printable.hpp"
#include "base/runtime_directory.hpp"
#include "base/variables.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/activation/watch_of.hpp"
#include "daemon/check/installs.hpp"
#include "daemon/control.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/probe/background_probe.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "shellhooks/patch/journal_compare.hpp"

#include <algorithm>
#include <chrono>

namespace cudaenv::daemon {

namespace {

using Lines = std::vector<std::string>;

// For what an install has mixed, which a prompt does not wait for as it does for CUDA; a child has
// to be started first where no daemon listens. The last is for scripts.
constexpr std::chrono::milliseconds k_prompt_patience{22};
constexpr std::chrono::milliseconds k_childs_patience{8};
constexpr std::chrono::milliseconds k_script_patience{2000};

std::int64_t now_in_nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string runtime_directory_of(const protocol::Caller& caller) {
    const auto xdg = caller.variable("XDG_RUNTIME_DIR");
    const auto directory =
        open_runtime_directory(xdg ? xdg->c_str() : nullptr, caller.uid, IfMissing::Make);
    // Without one there are no stamps, and the shell asks at every prompt.
    return directory ? directory->path : std::string();
}

bool only_the_journal(const std::vector<patch::Change>& changes) {
    return std::ranges::all_of(changes, [](const patch::Change& change) {
        return change.name == patch::k_journal_variable || patch::is_snapshot(change.name);
    });
}

// Something put directories of ours elsewhere on a list, or took them off it.
bool only_lists(const std::vector<patch::Change>& changes) {
    return std::ranges::all_of(changes, [](const patch::Change& change) {
        return change.name == patch::k_journal_variable || patch::is_snapshot(change.name) ||
               is_managed_list(change.name);
    });
}

// What the shell's last answer was; an empty one where there was none. `was`: what was taken back
// since, before a wrapped command or a wait.
patch::Journal journal_before(const protocol::Caller& caller,
                              const std::optional<std::string>& was) {
    const auto text = was ? was : caller.variable(patch::k_journal_variable);
    return (text ? patch::read_journal(*text) : bad_input("none", "")).value_or(patch::Journal{});
}

// What the user should know of a change beside it, the most important first.
Lines concerns_of(const Activation& activation, const nlohmann::json& object,
                  const protocol::Caller& caller, bool entered, bool heard) {
    Lines concerns;
    const auto journal = caller.variable(patch::k_journal_variable);
    if (journal && !patch::read_journal(*journal)) {
        concerns.emplace_back("__CUDAENV_UNDO was changed by another program: earlier changes stay "
                              "in this shell; a new shell is clean");
    }
    if (entered) {
        Lines notes = activation.project.notes;
        std::string skipped;
        for (const trusted::SkippedFile& file : activation.project.skipped) {
            skipped += file.text() + '\n';
        }
        // Below /tmp, say, it would be repeated at each `cd`.
        if (heard && !skipped.empty() &&
            !is_news(runtime_directory_of(caller), "skipped", skipped)) {
            std::erase_if(notes, [&](const std::string& note) {
                return skipped.find(note + '\n') != std::string::npos;
            });
        }
        concerns.insert(concerns.end(), notes.begin(), notes.end());
    }
    for (const nlohmann::json& warning : object["warnings"]) {
        concerns.push_back(protocol::bytes_from_json(warning, "warning").value_or(""));
    }
    if (!activation.choice.none() && !activation.choice.remedy.empty()) {
        concerns.push_back("nvcc without root: " + activation.choice.remedy);
    }
    return concerns;
}

// What is said at the prompt: one line for what changed and at most one of what speaks against it;
// `cudaenv status` has the rest. Nothing where the shell has what it had, though something put its
// lists in another order, as the start-up files of a nested shell do.
nlohmann::json lines_to_say(const Activation& activation, const nlohmann::json& object,
                            const protocol::Caller& caller, const std::optional<std::string>& was,
                            bool heard) {
    nlohmann::json say = nlohmann::json::array();
    const patch::Journal before = journal_before(caller, was);
    const bool entered = activation.applied.journal.context != before.context;
    const bool is_same = patch::is_same_patch(before, activation.applied.journal);
    const bool has_it = only_lists(activation.changes) && is_same;
    const bool changed =
        was ? !is_same : !only_the_journal(activation.changes) && (entered || !has_it);
    if (activation.choice.none()) {
        if (changed) {
            say.push_back("off, the shell is as it was");
        }
    } else if ((changed || (entered && !activation.choice.toolkit)) && !object["line"].is_null()) {
        say.push_back(object["line"]);
    }
    const auto journal = caller.variable(patch::k_journal_variable);
    if (changed || entered || (journal && !patch::read_journal(*journal))) {
        const Lines concerns = concerns_of(activation, object, caller, entered, heard);
        if (!concerns.empty()) {
            const std::string more = caller.utf8 ? " · cudaenv status" : " - cudaenv status";
            say.push_back(
                protocol::bytes_to_json(concerns.front() + (concerns.size() > 1 ? more : "")));
        }
        if (const std::string& inherited = activation.choice.inherited;
            heard && !inherited.empty() &&
            is_news(runtime_directory_of(caller), "cuda-home", inherited)) {
            say.push_back(protocol::bytes_to_json(inherited));
        }
    } else if (const std::string driver = probe::tell_change(activation.driver);
               !driver.empty() && is_news(runtime_directory_of(caller), "driver", driver)) {
        say.push_back(protocol::bytes_to_json(driver)); // upgraded while the shell stood here
    }
    return say;
}

// A pin or project file that cannot be read: nothing is decided from it and what was active is
// taken back, because it may no longer be what is meant.
protocol::Reply refused(const Error& error, const nlohmann::json& params,
                        const protocol::Caller& caller, const hooks::Shell& shell,
                        const std::string& program, const Comparing& comparing) {
    Activation activation;
    activation.disabled = true;
    activation.situation.kept = protocol::strings_field(params, "keep").value_or(Lines());
    activation.applied.environment = patch::undo(caller.environment);
    activation.changes = patch::difference(caller.environment, activation.applied.environment);
    const std::string line = one_line(error);
    hooks::Watch watch = watch_of(activation, caller, program, comparing);
    if (error.path.starts_with('/')) {
        watch.files.push_back(watched_file(error.path, comparing));
    }
    return {0,
            {{"schema", "cudaenv.env/1"},
             {"text", protocol::bytes_to_json(shell.render_changes(activation.changes) +
                                              shell.render_watch(watch))},
             {"say", nlohmann::json::array({protocol::bytes_to_json(line)})}}};
}

// Params beside those of activation_of: `shell`, for whom the text is to be; `program`, the
// client's path; `tell_installs`: somebody hears what an install has mixed. With `watch`: true the
// text ends with what the shell is to watch; `was`: the journal of what was taken back before, of
// which nothing is said again; `whole_seconds`: the shell sees of files' times no
// more.
Result<protocol::Reply> activate(const nlohmann::json& params, const protocol::Caller& caller,
                                 const std::shared_ptr<Machine>& machine, Installs& installs,
                                 BackgroundProbe* background) {
    Comparing comparing{{}, now_in_nanoseconds()};
    CUDAENV_TRY(const auto shell_name, protocol::string_field(params, "shell"));
    CUDAENV_TRY(const auto program, protocol::string_field(params, "program"));
    CUDAENV_TRY(const bool watches, protocol::bool_field(params, "watch", false));
    CUDAENV_TRY(const bool tells_installs, protocol::bool_field(params, "tell_installs", false));
    CUDAENV_TRY(const auto was, protocol::string_field(params, "was"));
    CUDAENV_TRY(const bool whole_seconds, protocol::bool_field(params, "whole_seconds", false));
    if (watches) {
        comparing.runtime_directory = runtime_directory_of(caller);
        comparing.clock = whole_seconds ? watch::Clock::Seconds : watch::Clock::Nanoseconds;
    }
    const hooks::Shell* const shell = shell_name ? hooks::shell_named(*shell_name) : nullptr;
    if (shell_name && shell == nullptr) {
        return bad_input("bad-shell", "cudaenv does not support the shell \"" + *shell_name + '"',
                         "expected one of " + std::string(hooks::names_of_all_shells()));
    }
    auto activation = activation_of(params, caller, *machine);
    if (!activation) {
        if (watches && shell != nullptr && activation.error().kind == ErrorKind::BadInput) {
            return refused(activation.error(), params, caller, *shell, program.value_or(""),
                           comparing);
        }
        return tl::unexpected(std::move(activation).error());
    }
    // Before the watch is made: what changes from here on is seen at the next prompt.
    InstallNews news;
    if (tells_installs) {
        news = installs.news(*activation, caller,
                             !watches                ? k_script_patience
                             : background == nullptr ? k_childs_patience
                                                     : k_prompt_patience);
    }
    nlohmann::json object = activation_to_json(*activation, caller.utf8);
    if (shell != nullptr) {
        std::string text = shell->render_changes(activation->changes);
        if (watches) {
            auto watch = watch_of(*activation, caller, program.value_or(""), comparing);
            if (news.pending) {
                ask_again(watch);
            }
            text += shell->render_watch(watch);
        }
        object["text"] = protocol::bytes_to_json(text);
    }
    object["say"] = lines_to_say(*activation, object, caller, was, tells_installs);
    object["installs"] = bytes_or_null(news.line);
    if (!news.line.empty()) {
        object["installs_said"] = {{"prefix", protocol::bytes_to_json(activation->project.prefix)},
                                   {"stamp", news.stamp}};
    }
    if (background != nullptr) {
        background->consider(params, caller, *activation, machine);
    }
    return protocol::Reply{0, std::move(object)};
}

} // namespace

Handler activate_method(const std::shared_ptr<Machine>& machine,
                        const std::shared_ptr<Installs>& installs, Control* control) {
    BackgroundProbe* const background = control == nullptr ? nullptr : &control->background_probe();
    return [=](const nlohmann::json& params, const protocol::Caller& caller, Machine&,
               const Waiter&) { return activate(params, caller, machine, *installs, background); };
}

Handler said_method(const std::shared_ptr<Installs>& installs) {
    return [installs](const nlohmann::json& params, const protocol::Caller& caller, Machine&,
                      const Waiter&) -> Result<protocol::Reply> {
        CUDAENV_TRY(const auto prefix,
                    protocol::bytes_from_json(params.value("prefix", nlohmann::json()), "prefix"));
        CUDAENV_TRY(const auto stamp, protocol::string_field(params, "stamp"));
        installs->said(prefix, stamp.value_or(""), caller);
        return protocol::Reply{0, nlohmann::json::object()};
    };
}

} // namespace cudaenv::daemon
