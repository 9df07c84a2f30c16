#include "daemon/activation/watch_of.hpp"

#include "base/variables.hpp"
#include "host/project/config_files.hpp"
#include "host/project/project_search.hpp"
#include "host/silent_paths.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace cudaenv::daemon {

namespace {

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

} // namespace

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

} // namespace cudaenv::daemon
