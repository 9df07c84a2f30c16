#include "base/printable.hpp"
#include "base/runtime_directory.hpp"
#include "base/variables.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/check/installs.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/probe/background_probe.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "daemon/service.hpp"
#include "host/project/project.hpp"
#include "host/silent_paths.hpp"
#include "host/watch/path_state.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "shellhooks/patch/journal_compare.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>

namespace cudaenv::daemon {

namespace {

// What a shell has to watch so that it asks again when, and only when, another answer is possible.

// How a shell compares files. `asked` is when the request was begun, in nanoseconds since the
// epoch: what changed since then is left without a stamp, so that the shell asks once more. Stamps
// are made in `runtime_directory`; empty: none are. `clock`: what of a time the shell sees.
struct Comparing {
    std::string runtime_directory;
    std::int64_t asked = 0;
    watch::Clock clock = watch::Clock::Nanoseconds;
};

// A project file that appears further up is noticed when the shell next asks.
constexpr std::size_t k_most_directories = 8;

// Where a project file counts for `directory`: itself and those above it, up to the one that has
// it, the home directory or the root.
std::vector<std::string> project_places(const std::string& directory, const std::string& found,
                                        const std::string& home) {
    std::vector<std::string> places;
    std::string at = directory;
    while (places.size() < k_most_directories && at.size() > 1) {
        places.push_back(at);
        if (at == found || at == home) {
            break;
        }
        at.resize(std::max<std::size_t>(at.rfind('/'), 1));
    }
    return places;
}

// A shell that looks at a file server which does not answer is stuck, at a prompt at which nothing
// changed. On one it looks only at what says which CUDA is wanted: the project and the environment.
bool is_local(const std::string& path) {
    return !host::may_be_silent(path);
}

std::vector<std::string> watched_paths(const Activation& activation, const protocol::Caller& caller,
                                       const std::string& program) {
    std::vector<std::string> paths;
    const auto& found = activation.project.search.found;
    const std::string home = caller.variable("HOME").value_or("");
    for (const std::string& place :
         project_places(activation.project.search.start, found ? found->directory : "", home)) {
        paths.push_back(place + '/' + project::k_project_file);
    }
    if (found) {
        // Also where it lies further up than places are looked at.
        if (std::ranges::find(paths, found->file) == paths.end()) {
            paths.push_back(found->file);
        }
        paths.push_back(found->local_file());
    }
    const auto& environment = activation.situation.environment;
    if (environment) {
        const bool conda = environment->kind == facts::EnvironmentKind::Conda;
        for (const std::string& path : environment->watch) {
            if (!(conda && path.ends_with("/pyvenv.cfg"))) {
                paths.push_back(path);
            }
        }
        // In a conda environment its appearing changes conda-meta, which is watched.
        const auto own = project::pin_file_of(activation.project.prefix);
        if (own && (!conda || activation.project.environment)) {
            paths.push_back(*own);
        }
    } else if (!activation.project.prefix.empty()) {
        paths.push_back(activation.project.prefix);
    }
    // A new toolkit is a reason to ask where there may be a better one.
    if (!activation.choice.none() &&
        (!activation.choice.toolkit ||
         activation.choice.match == activation::ToolkitMatch::SameMajor)) {
        std::vector<std::string> directories = activation.project.config.toolkit_directories();
        directories.emplace_back("/usr/local");
        std::ranges::copy_if(directories, std::back_inserter(paths), is_local);
    }
    if (!program.empty() && is_local(program)) {
        paths.push_back(program);
    }
    return paths;
}

// A change of these may change the decision: whatever the decision read. Where it is for
// building, also whatever is set now: a list that the user takes away would be set again.
std::set<std::string_view> names_to_watch(const Activation& activation) {
    const auto watched = watched_variables();
    std::set<std::string_view> names(watched.begin(), watched.end());
    if (activation.situation.config.compilers() && activation.choice.toolkit) {
        names.insert({"CC", "CXX"}); // the user's own decide about the rest
    }
    if (activation.situation.config.purpose() != pins::Purpose::Build) {
        return names;
    }
    names.insert("CUDA_VISIBLE_DEVICES"); // which GPUs are built for
    for (const patch::SetVariable& variable : activation.composition.patch.variables) {
        names.insert(variable.name);
    }
    for (const patch::AddEntry& entry : activation.composition.patch.entries) {
        names.insert(entry.list);
    }
    return names;
}

hooks::WatchedFile watched_file(const std::string& path, const Comparing& comparing) {
    host::DiskFileSystem files;
    const watch::PathState state = watch::observe(files, path);
    hooks::WatchedFile file{path, state.modified_ns.has_value(), {}, state.modified_ns.value_or(0)};
    if (state.modified_ns && !watch::is_settled(state, comparing.asked, comparing.clock)) {
        // It changed while it was being read, or so shortly before that another change could leave
        // the same time. Zero is no time that a file has: the shell asks again.
        file.modified_ns = 0;
    } else if (state.modified_ns && !comparing.runtime_directory.empty()) {
        const auto stamp_at = [&](std::int64_t ns) {
            return watch::stamp_of(comparing.runtime_directory, {path, ns}).value_or("");
        };
        file.stamp = stamp_at(*state.modified_ns);
        file.stamp_before = stamp_at(*state.modified_ns - 1);
        file.stamp_after = stamp_at(*state.modified_ns + 1);
    }
    return file;
}

// The shell asks at its next prompt as well, whatever changes.
void ask_again(hooks::Watch& watch) {
    // Zero is no time that a file has.
    for (hooks::WatchedFile& file : watch.files) {
        if (file.exists && file.seen == hooks::WatchedFile::Seen::Newer) {
            file.modified_ns = 0;
            file.stamp.clear();
            file.stamp_before.clear();
            file.stamp_after.clear();
            return;
        }
    }
}

// `program` is the client's own path: a new binary is a reason to ask.
hooks::Watch watch_of(const Activation& activation, const protocol::Caller& caller,
                      const std::string& program, const Comparing& comparing) {
    hooks::Watch watch;
    watch.directory = caller.cwd;
    for (const std::string_view name : names_to_watch(activation)) {
        if (std::ranges::find(activation.situation.kept, name) != activation.situation.kept.end()) {
            continue; // the shell has it, and the environment has not
        }
        const auto value = activation.applied.environment.find(name);
        watch.variables.push_back({std::string(name), value == activation.applied.environment.end()
                                                          ? std::nullopt
                                                          : std::optional(value->second)});
    }
    if (activation.disabled) {
        return watch;
    }
    for (const std::string& path : watched_paths(activation, caller, program)) {
        watch.files.push_back(watched_file(path, comparing));
        // The kernel only ever sets a directory's time to now, and a program's successor is newer
        // but for a downgrade, which shows with the next change of anything: half the price at
        // every prompt. A file of the user's may be replaced by an older one.
        if (!path.ends_with(".toml") && !path.ends_with("/pyvenv.cfg")) {
            watch.files.back().seen = hooks::WatchedFile::Seen::Newer;
        }
    }
    // `cudaenv config` is followed by an update in every shell; what an editor writes, and what the
    // administrator's file says, shows in bash and zsh with the next change of anything: looking at
    // a file that hardly ever changes would cost them up to 3 microseconds at every prompt.
    if (const auto config = project::config_paths(caller.environment);
        !config.user.empty() && is_local(config.user)) {
        watch.files.push_back(watched_file(config.user, comparing));
        watch.files.back().seen = hooks::WatchedFile::Seen::WhereFree;
    }
    const Comparing existence{{}, comparing.asked, comparing.clock};
    if (activation.choice.toolkit && is_local(activation.choice.toolkit->path)) {
        // What matters of a toolkit that was chosen is that it is there.
        const std::string nvcc = activation.choice.toolkit->path + "/bin/nvcc";
        watch.files.push_back(watched_file(nvcc, existence));
        watch.files.back().seen = hooks::WatchedFile::Seen::Existence;
    }
    // An upgrade of the driver takes libcuda.so.580.95.05 away; the prompt that misses it asks, and
    // reports that the loaded module is another.
    if (!activation.driver.library.empty()) {
        watch.files.push_back(watched_file(activation.driver.library, existence));
        watch.files.back().seen = hooks::WatchedFile::Seen::Existence;
    }
    return watch;
}

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
