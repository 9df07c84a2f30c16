// `cudaenv run`: this process becomes the command, so that its status, signals and terminal are the
// command's own.

#include "base/directory_names.hpp"
#include "base/fd.hpp"
#include "base/own_limits.hpp"
#include "base/real_path.hpp"
#include "base/result.hpp"
#include "cli/commands/activation_answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cudaenv::cli {

namespace {

// `--usr-local-cuda`: a mount namespace of this process alone, in which /usr/local/cuda is another
// toolkit. Nothing outside this process and its children changes; user and group stay what they
// are. An ordinary user's process is alone in a user namespace, too, where it has no right over
// anything but its own mounts; after exec it has not even those.

constexpr const char* k_parent = "/usr/local";
constexpr const char* k_name = "cuda";
constexpr const char* k_place = "/usr/local/cuda";

// The first character of a small file of /proc/sys; 0 if there is no such file.
char setting(const char* path) {
    const Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
    char first = 0;
    return fd && ::read(fd.get(), &first, 1) == 1 ? first : '\0';
}

tl::unexpected<Error> forbidden(const std::string& step, int problem) {
    std::string message =
        "this system forbids private mount namespaces: " + step + ": " + std::strerror(problem);
    if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == '1') {
        message += " (kernel.apparmor_restrict_unprivileged_userns is 1)";
    } else if (setting("/proc/sys/kernel/unprivileged_userns_clone") == '0') {
        message += " (kernel.unprivileged_userns_clone is 0)";
    } else if (setting("/proc/sys/user/max_user_namespaces") == '0') {
        message += " (user.max_user_namespaces is 0)";
    }
    return unavailable(
        "namespace-forbidden", message,
        "without --usr-local-cuda, `cudaenv run` sets CUDA_HOME, CUDA_PATH and PATH, "
        "which most builds follow");
}

tl::unexpected<Error> no_mount(const std::string& path) {
    const int problem = errno;
    if (problem == EPERM || problem == EACCES) {
        return forbidden("mounting on " + path, problem);
    }
    return unavailable("no-mount",
                       std::string("cannot be shown in a namespace: ") + std::strerror(problem), {},
                       path);
}

bool write_once(const char* path, const std::string& text) {
    const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// The same ids inside as outside: `id -u` does not change.
Result<void> keep_ids(uid_t user, gid_t group) {
    // The kernel requires it: otherwise a process could drop a group that denies it access.
    static_cast<void>(write_once("/proc/self/setgroups", "deny")); // missing before Linux 3.19
    const std::string uid = std::to_string(user);
    const std::string gid = std::to_string(group);
    if (!write_once("/proc/self/uid_map", uid + ' ' + uid + " 1\n")) {
        return forbidden("/proc/self/uid_map", errno);
    }
    if (!write_once("/proc/self/gid_map", gid + ' ' + gid + " 1\n")) {
        return forbidden("/proc/self/gid_map", errno);
    }
    return {};
}

Result<void> enter_private_namespace() {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    // Who may mount needs no user namespace; root in a container may not.
    if (::unshare(CLONE_NEWNS) != 0) {
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
            return forbidden("unshare", errno);
        }
        CUDAENV_TRY_VOID(keep_ids(user, group));
    }
    // Our mounts are not visible outside; later mounts from outside (automounted homes) still come
    // in.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
        return no_mount("/");
    }
    return {};
}

Result<void> show_at(const std::string& from, const std::string& onto) {
    if (::mount(from.c_str(), onto.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
        return no_mount(onto);
    }
    return {};
}

// One entry of the directory `original`, shown again in the new one of the same name.
Result<void> show_again(const Fd& original, const std::string& name, const std::string& shown) {
    struct stat status {};
    if (::fstatat(original.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return no_mount(shown);
    }
    if (S_ISLNK(status.st_mode)) {
        std::array<char, 4096> target{};
        const ssize_t size =
            ::readlinkat(original.get(), name.c_str(), target.data(), target.size() - 1);
        if (size < 0 || ::symlink(target.data(), shown.c_str()) != 0) {
            return no_mount(shown);
        }
        return {};
    }
    if (S_ISDIR(status.st_mode)) {
        if (::mkdir(shown.c_str(), 0755) != 0) {
            return no_mount(shown);
        }
    } else if (!Fd(::open(shown.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644))) {
        return no_mount(shown);
    }
    return show_at("/proc/self/fd/" + std::to_string(original.get()) + '/' + name, shown);
}

// A directory in memory over /usr/local with all its entries in it, but `cuda` as we want it. A
// bind mount would not do: over a symlink it would change what the link leads to, and with it the
// meaning of a name such as /usr/local/cuda-13.0; over nothing there can be none.
Result<void> replace_link(const std::string& toolkit) {
    const std::string parent = resolved_path(k_parent);
    const Fd original(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (parent.empty() || !original) {
        return no_mount(k_parent);
    }
    const auto names = names_in(parent);
    if (!names) {
        return no_mount(parent);
    }
    if (::mount("cudaenv", parent.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0) {
        return no_mount(parent);
    }
    for (const std::string& name : *names) {
        if (name != k_name) {
            CUDAENV_TRY_VOID(show_again(original, name, parent + '/' + name));
        }
    }
    if (::symlink(toolkit.c_str(), (parent + '/' + k_name).c_str()) != 0) {
        return no_mount(parent);
    }
    // Read-only, since a file created in /usr/local itself would vanish with the namespace.
    if (::mount(nullptr, parent.c_str(), nullptr,
                MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0) {
        return no_mount(parent);
    }
    return {};
}

// From here on the path /usr/local/cuda leads to `toolkit` (absolute). Where it does already,
// nothing is done. The process must have one thread. Errors (Unavailable): "namespace-forbidden",
// with what the user can do; "no-mount".
Result<void> enter_namespace_with_toolkit(const std::string& toolkit) {
    const std::string wanted = resolved_path(toolkit);
    if (wanted.empty()) {
        errno = ENOENT;
        return no_mount(toolkit);
    }
    if (resolved_path(k_place) == wanted) {
        return {};
    }
    std::array<char, 4096> here{};
    const bool is_somewhere = ::getcwd(here.data(), here.size()) != nullptr;
    CUDAENV_TRY_VOID(enter_private_namespace());
    struct stat status {};
    const bool is_directory = ::lstat(k_place, &status) == 0 && S_ISDIR(status.st_mode);
    if (is_directory) {
        CUDAENV_TRY_VOID(show_at(wanted, k_place));
    } else {
        CUDAENV_TRY_VOID(replace_link(wanted));
    }
    // Enter the directory again: below a covered one, `..` would lead to the old parent. If that
    // fails (it was deleted), staying in it is right.
    if (is_somewhere) {
        static_cast<void>(::chdir(here.data()));
    }
    return {};
}

Error no_toolkit(const std::string& why, const std::string& remedy) {
    return unavailable("no-toolkit", why, remedy).value();
}

// Returns only if the command cannot be run: the exit status.
int become(const std::vector<const char*>& words, EnvironmentBlock& environment) {
    std::vector<char*> arguments;
    for (const char* word : words) {
        arguments.push_back(const_cast<char*>(word)); // exec takes, but does not change them
    }
    arguments.push_back(nullptr);
    std::vector<char*> variables;
    for (std::string& entry : environment) {
        variables.push_back(entry.data());
    }
    variables.push_back(nullptr);
    ::environ = variables.data(); // execvp looks the command up on this PATH
    give_back_limits();
    ::execvp(arguments.front(), arguments.data());
    const int problem = errno;
    const std::string name = words.front();
    if (problem == ENOENT || problem == ENOTDIR) {
        struct stat status {};
        const bool there =
            name.find('/') != std::string::npos && ::stat(name.c_str(), &status) == 0;
        say('"' + name + "\" " +
            (there                                 ? "needs an interpreter that does not exist"
             : name.find('/') != std::string::npos ? "does not exist"
                                                   : "is not on PATH"));
        return there ? k_run_not_executable : k_run_not_found;
    }
    say('"' + name + "\" cannot be executed: " + std::strerror(problem));
    return k_run_not_executable;
}

} // namespace

Result<int> run_command(Invocation& invocation) {
    const nlohmann::json& params = invocation.params;
    EnvironmentBlock environment = own_environment();
    protocol::Caller caller = this_caller(Terminal{});
    caller.environment.erase("CUDAENV_DISABLE"); // for shells only; here the user has asked
    CUDAENV_TRY(const auto answer,
                ask_activation(question_of(params), std::move(caller), environment));
    if (params.contains("cuda") && (answer.toolkit.empty() || answer.is_same_major)) {
        return tl::unexpected(no_toolkit(
            "no toolkit for CUDA " + params["cuda"].get<std::string>() + " was found here",
            answer.remedy.empty() ? "`cudaenv toolkits` lists those that are installed"
                                  : answer.remedy));
    }
    environment = with_changes(std::move(environment), answer.changes);
    if (params.contains("usr_local_cuda")) {
        if (answer.toolkit.empty()) {
            return tl::unexpected(no_toolkit("no toolkit was chosen for /usr/local/cuda",
                                             answer.remedy.empty() ? "--cuda V or a pin chooses one"
                                                                   : answer.remedy));
        }
        CUDAENV_TRY_VOID(enter_namespace_with_toolkit(answer.toolkit));
    }
    if (!invocation.output.quiet) {
        for (const std::string& file : answer.skipped) {
            say(file);
        }
        for (const std::string& warning : answer.warnings) {
            say(warning);
        }
        if (invocation.output.verbose && !answer.line.empty()) {
            say(answer.line);
        }
    }
    return become(invocation.command_words, environment);
}

} // namespace cudaenv::cli
