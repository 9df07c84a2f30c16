// `cudaenv attach` and `detach`: an environment sets up CUDA when it is activated, for scripts,
// batch jobs and kernels, which have no hook.
#include "base/directory_names.hpp"
#include "base/environment_files.hpp"
#include "base/own_path.hpp"
#include "base/shell_word.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/constraints_files.hpp"
#include "cli/commands/file_changes.hpp"
#include "cli/commands/kernelspec.hpp"
#include "cli/commands/named_environment.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "shellhooks/hooks/quote.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::cli {

namespace {

struct AttachScript {
    std::string path; // below the environment: "etc/conda/activate.d/zz-cudaenv.sh"
    std::string text;
};

constexpr std::string_view k_marker = "# Written by `cudaenv attach`";
constexpr std::string_view k_program = "%PROGRAM%";

std::string with_program(std::string_view text, const std::string& word) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = 0; (at = text.find(k_program, from)) != std::string_view::npos;
         from = at + k_program.size()) {
        out.append(text.substr(from, at - from)).append(word);
    }
    return out.append(text.substr(from));
}

// zz: the last to run when an environment is activated, the first when it is deactivated. `program`
// is cudaenv's path.
std::vector<AttachScript> attach_scripts(const std::string& program) {
    std::vector<AttachScript> scripts;
    const auto add = [&](const hooks::Shell& shell, const char* directory, const char* text) {
        scripts.push_back({"etc/conda/" + std::string(directory) + "/zz-cudaenv." +
                               std::string(shell.attach.extension),
                           with_program(text, hooks::quote_word(shell, program))});
    };
    for (const hooks::Shell* const shell : hooks::shells()) {
        if (shell->attach.activate != nullptr) {
            add(*shell, "activate.d", shell->attach.activate);
            add(*shell, "deactivate.d", shell->attach.deactivate);
        }
    }
    return scripts;
}

// Whether cudaenv wrote it; anything else is never overwritten or removed.
bool is_attach_script(std::string_view text) {
    return text.starts_with(k_marker);
}

constexpr const char* k_before = ".before-cudaenv"; // beside a kernel.json: its original

// Nothing is written if one of the files was not written by cudaenv.
Result<void> write_scripts(const NamedEnvironment& environment, FileChanges& changes) {
    if (environment.kind == EnvironmentKind::Venv) {
        return bad_input("no-activate-d", "is a venv, whose activate script runs no other scripts",
                         "use `cudaenv init SHELL` for shells, `cudaenv run` for scripts and jobs, "
                         "`cudaenv attach --kernelspec` for Jupyter",
                         environment.prefix);
    }
    CUDAENV_TRY(const auto program, own_program());
    CUDAENV_TRY(const auto files, EnvironmentFiles::open(environment.prefix));
    const auto scripts = attach_scripts(program);
    std::vector<std::optional<std::string>> before;
    for (const AttachScript& script : scripts) {
        const std::string path = environment.prefix + '/' + script.path;
        CUDAENV_TRY(const auto present, files.read(path));
        if (present && !is_attach_script(*present)) {
            return unavailable("foreign-file", "was not written by cudaenv, so nothing was changed",
                               "move it elsewhere, then attach again", path);
        }
        before.push_back(present);
    }
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const std::string path = environment.prefix + '/' + scripts[i].path;
        const std::string text = scripts[i].text + creation_note(path, before[i]);
        const bool kept = before[i] == text;
        if (!kept) {
            CUDAENV_TRY_VOID(files.write(path, text, before[i]));
        }
        changes.files.push_back({path, kept ? FileChange::Kept : FileChange::Written});
    }
    return {};
}

Result<void> remove_scripts(const NamedEnvironment& environment, FileChanges& changes) {
    CUDAENV_TRY(const auto files, EnvironmentFiles::open(environment.prefix));
    std::vector<ChangedFile> removed;
    const auto scripts = attach_scripts("/");
    // The first file created the directories.
    for (auto script = scripts.rbegin(); script != scripts.rend(); ++script) {
        const std::string path = environment.prefix + '/' + script->path;
        CUDAENV_TRY(const auto present, files.read(path));
        if (!present) {
            continue;
        }
        const bool ours = is_attach_script(*present);
        if (ours) {
            CUDAENV_TRY_VOID(files.remove(path, created_directories(*present).value_or(0)));
        }
        removed.push_back({path, ours ? FileChange::Removed : FileChange::Foreign});
    }
    changes.files.insert(changes.files.end(), removed.rbegin(), removed.rend());
    return {};
}

// Empty if there is no such directory.
std::vector<std::string> subdirectories(const std::string& directory) {
    return names_in(directory).value_or(std::vector<std::string>());
}

// Where Jupyter keeps a user's own kernels; empty if there is no home directory.
std::string users_jupyter() {
    const auto absolute = [](const char* name) {
        const char* const value = std::getenv(name);
        return value != nullptr && *value == '/' ? std::string(value) : std::string();
    };
    std::string own = absolute("JUPYTER_DATA_DIR");
    if (!own.empty()) {
        return own;
    }
    if (const std::string data = absolute("XDG_DATA_HOME"); !data.empty()) {
        return data + "/jupyter";
    }
    const std::string home = absolute("HOME");
    return home.empty() ? home : home + "/.local/share/jupyter";
}

// Every kernel inside the environment, and the user's own kernels that start its programs.
std::vector<std::string> kernels_of(const NamedEnvironment& environment) {
    std::vector<std::string> kernels;
    const std::string inside = environment.prefix + "/share/jupyter/kernels/";
    for (const std::string& name : subdirectories(inside)) {
        const std::string path = inside + name + "/kernel.json";
        if (const auto text = read_whole(path); text && *text && kernel_program(**text)) {
            kernels.push_back(path);
        }
    }
    const std::string jupyter = users_jupyter();
    const std::string users = jupyter + "/kernels/";
    for (const std::string& name :
         jupyter.empty() ? std::vector<std::string>() : subdirectories(users)) {
        const std::string path = users + name + "/kernel.json";
        const auto text = read_whole(path);
        const auto program = text && *text ? kernel_program(**text) : bad_input("none", "");
        if (program && program->starts_with(environment.prefix + '/')) {
            kernels.push_back(path);
        }
    }
    return kernels;
}

Result<void> wrap_kernels(const NamedEnvironment& environment, FileChanges& changes) {
    CUDAENV_TRY(const auto program, own_program());
    const auto kernels = kernels_of(environment);
    if (kernels.empty()) {
        return unavailable("no-kernel", "has no Jupyter kernel",
                           "`" + environment.prefix +
                               "/bin/python -m ipykernel install --user --name " +
                               environment.name + "` creates one if ipykernel is installed",
                           environment.prefix);
    }
    CUDAENV_TRY(const auto files, EnvironmentFiles::open(environment.prefix));
    for (const std::string& path : kernels) {
        CUDAENV_TRY(const auto present, files.read(path));
        const std::string& text = present.value_or("");
        auto wrapped = wrapped_kernel(text, program, environment.prefix);
        if (!wrapped) {
            return at_path(path, std::move(wrapped).error());
        }
        if (*wrapped == text) {
            changes.files.push_back({path, FileChange::Kept});
            continue;
        }
        CUDAENV_TRY(const auto kept, files.read(path + k_before));
        if (!is_wrapped_kernel(text) && !kept) {
            CUDAENV_TRY_VOID(files.write(path + k_before, text, std::nullopt));
        }
        CUDAENV_TRY_VOID(files.write(path, *wrapped, present));
        changes.files.push_back({path, FileChange::Written});
    }
    return {};
}

// Restores the original byte for byte if the file has not changed since; else removes our words.
Result<void> unwrap_kernels(const NamedEnvironment& environment, FileChanges& changes) {
    CUDAENV_TRY(const auto files, EnvironmentFiles::open(environment.prefix));
    for (const std::string& path : kernels_of(environment)) {
        CUDAENV_TRY(const auto present, files.read(path));
        const std::string& text = present.value_or("");
        if (!is_wrapped_kernel(text)) {
            continue;
        }
        CUDAENV_TRY(std::string plain, plain_kernel(text));
        CUDAENV_TRY(const auto before, files.read(path + k_before));
        if (before) {
            const auto rewrapped = wrapped_kernel(*before, "/", "/");
            const auto as_first = rewrapped ? plain_kernel(*rewrapped) : rewrapped;
            if (as_first && *as_first == plain) {
                plain = *before;
            }
        }
        CUDAENV_TRY_VOID(files.write(path, plain, present));
        CUDAENV_TRY_VOID(files.remove(path + k_before));
        changes.files.push_back({path, FileChange::Removed});
    }
    return {};
}

} // namespace

Result<int> attach(Invocation& invocation) {
    const protocol::Caller caller = this_caller(Terminal{});
    CUDAENV_TRY(const auto environment, named_environment(invocation.params, caller));
    FileChanges changes{"attach", {}, {}};
    if (invocation.params.contains("kernelspec")) {
        CUDAENV_TRY_VOID(wrap_kernels(environment, changes));
        changes.next = "takes effect when the next kernel starts";
    } else {
        CUDAENV_TRY(const auto constraints, planned_constraints(environment, caller));
        // A venv has no activate.d, but it has a pip.conf.
        const bool constraints_alone =
            environment.kind == EnvironmentKind::Venv && constraints.wanted && !constraints.nothing;
        if (!constraints_alone) {
            CUDAENV_TRY_VOID(write_scripts(environment, changes));
        }
        CUDAENV_TRY_VOID(write_constraints(environment, constraints, changes));
        if (constraints.nothing) {
            say("no torch is installed or pinned, so nothing is constrained; run `cudaenv attach` "
                "again later");
        }
        if (constraints_alone) {
            return show_file_changes(changes, invocation.output);
        }
        // A name is unambiguous only below an envs directory; a path always is.
        const bool named = environment.prefix.ends_with("/envs/" + environment.name);
        changes.next =
            "conda activate " + shell_word(named ? environment.name : environment.prefix);
    }
    return show_file_changes(changes, invocation.output);
}

Result<int> detach(Invocation& invocation) {
    CUDAENV_TRY(const auto environment,
                named_environment(invocation.params, this_caller(Terminal{})));
    FileChanges changes{"detach", {}, {}};
    CUDAENV_TRY_VOID(unwrap_kernels(environment, changes));
    if (!invocation.params.contains("kernelspec")) {
        CUDAENV_TRY(const auto constraints, without_constraints(environment));
        CUDAENV_TRY_VOID(write_constraints(environment, constraints, changes));
        CUDAENV_TRY_VOID(remove_scripts(environment, changes));
    }
    if (changes.files.empty()) {
        changes.files.push_back({environment.prefix, FileChange::Absent});
    }
    return show_file_changes(changes, invocation.output);
}

} // namespace cudaenv::cli
