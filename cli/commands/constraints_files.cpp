#include "cli/commands/constraints_files.hpp"

#include "base/environment_files.hpp"
#include "base/json_members.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/ask.hpp"
#include "cli/commands/pip_conf.hpp"
#include "protocol/json_field.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

constexpr std::string_view k_why =
    "# Written by `cudaenv attach`, because activate.constraints is \"env\". pip.conf of this\n"
    "# environment names this file, so pip installs nothing that contradicts it: instead of\n"
    "# replacing torch, it installs a partner that fits this torch, or none.\n"
    "# The clause !=0+kept.by.cudaenv... excludes a version that does not exist; pip quotes it\n"
    "# when it refuses another version.\n"
    "#\n"
    "# To install another torch on purpose, and then update this file:\n"
    "#   PIP_CONSTRAINT=/dev/null pip install torch==X\n"
    "#   cudaenv attach\n"
    "# (pip install -c FILE does not help: it adds to these constraints.)\n"
    "# To remove the constraints: cudaenv detach\n";

constexpr std::string_view k_pip_conf_comment =
    "# Written by `cudaenv attach`, because activate.constraints is \"env\"; `cudaenv detach` "
    "removes "
    "it.\n"
    "# The file lists the constraints, and says how to install something else on purpose.\n";

struct Paths {
    explicit Paths(const std::string& prefix)
        : constraints(prefix + "/etc/cudaenv/constraints.txt"), pip_conf(prefix + "/pip.conf"),
          pinned(prefix + "/conda-meta/pinned") {}
    std::string constraints;
    std::string pip_conf;
    std::string pinned;
};

tl::unexpected<Error> refused(std::string code, const std::string& path, std::string message,
                              std::string hint) {
    return unavailable(std::move(code), std::move(message), std::move(hint), path);
}

// The files without our lines, to which new lines are added.
struct Plain {
    FileText constraints;
    FileText pip_conf;
    FileText pinned;
    bool pip_conf_made = false;
    bool constraints_made = false;
    bool pinned_made = false;
};

// Nothing if only our lines are left in a file that we created.
std::optional<std::string> left_of(const FileText& file, std::string text, bool made) {
    return !file.before || (made && trim(text).empty()) ? std::nullopt
                                                        : std::optional(std::move(text));
}

bool says_made(const FileText& file) {
    return file.before && created_directories(*file.before);
}

Result<Plain> plain_files(const NamedEnvironment& environment) {
    const Paths paths(environment.prefix);
    CUDAENV_TRY(const auto files, EnvironmentFiles::open(environment.prefix));
    Plain plain;
    for (auto [file, path] :
         {std::pair(&plain.constraints, &paths.constraints),
          std::pair(&plain.pip_conf, &paths.pip_conf), std::pair(&plain.pinned, &paths.pinned)}) {
        file->path = *path;
        CUDAENV_TRY(file->before, files.read(*path));
    }
    plain.constraints_made = says_made(plain.constraints);
    plain.pip_conf_made = says_made(plain.pip_conf);

    auto constraints = without_block(plain.constraints.before.value_or(""));
    if (!constraints) {
        return at_path(paths.constraints, std::move(constraints).error());
    }
    plain.constraints.after = left_of(plain.constraints, *constraints, plain.constraints_made);

    const auto value = pip_path(paths.constraints);
    auto pip_conf = without_constraint(plain.pip_conf.before.value_or(""), value.value_or(""));
    if (!pip_conf) {
        return at_path(paths.pip_conf, std::move(pip_conf).error());
    }
    // Only the section's name is left, for lines that have been removed since.
    const bool nothing = trim(*pip_conf) == "[global]" && plain.pip_conf_made;
    plain.pip_conf.after =
        left_of(plain.pip_conf, nothing ? std::string() : *pip_conf, plain.pip_conf_made);

    const PinnedRecord record = pinned_record(plain.constraints.before.value_or(""));
    plain.pinned_made = record.made;
    plain.pinned.after = left_of(
        plain.pinned, without_pinned(plain.pinned.before.value_or(""), record), record.made);
    return plain;
}

ConstraintsFiles taken_out(Plain plain) {
    ConstraintsFiles files;
    files.files = {std::move(plain.pip_conf), std::move(plain.pinned),
                   std::move(plain.constraints)};
    return files;
}

bool is_writable(const std::string& path) {
    return ::access(path.c_str(), W_OK) == 0 || errno == ENOENT;
}

std::string variable_or(const protocol::Caller& caller, const char* name, std::string otherwise) {
    const std::string value = caller.variable(name).value_or("");
    return value.empty() ? std::move(otherwise) : value;
}

// pip's configuration files besides the environment's own; of an option the last one counts.
std::vector<std::string> other_pip_confs(const protocol::Caller& caller) {
    const std::string home = caller.variable("HOME").value_or("");
    const std::string config = variable_or(caller, "XDG_CONFIG_HOME", home + "/.config");
    return {"/etc/pip.conf", "/etc/xdg/pip/pip.conf", home + "/.pip/pip.conf",
            config + "/pip/pip.conf"};
}

Result<void> check_pip(const NamedEnvironment& environment, const nlohmann::json& pip) {
    const std::string python = shell_word(environment.prefix + "/bin/python");
    if (pip.is_null()) {
        return refused(
            "no-pip", environment.prefix,
            "has no pip, and activate.constraints works only with pip: uv does not read pip.conf",
            "`" + python +
                " -m ensurepip` installs one; for uv, UV_CONSTRAINT names such a "
                "file; `cudaenv config set activate.constraints off` attaches without");
    }
    if (text_at(pip, "builds_apart") == "never") {
        return refused("old-pip", environment.prefix,
                       "has pip " + printable(text_at(pip, "version")) +
                           ", which applies the environment's constraints to isolated builds as "
                           "well; activate.constraints needs pip 25.3 or newer",
                       "`" + python +
                           " -m pip install --upgrade pip`, then `cudaenv attach` again; `cudaenv "
                           "config set activate.constraints off` attaches without");
    }
    return {};
}

// The setting in pip's configuration that conflicts with one of ours.
Result<void> check_configuration(const Plain& plain, const protocol::Caller& caller,
                                 bool by_feature) {
    const auto taken = [&](const std::string& path, std::string_view text,
                           bool own) -> Result<void> {
        for (const PipOption& option : pip_options(text)) {
            if (own && option.value == pip_path(plain.constraints.path)) {
                continue; // ours; `pip config` removed its marks
            }
            if (option.name == "constraint") {
                return tl::unexpected(Error{
                    ErrorKind::Unavailable, "constraint-taken",
                    "names a constraint already, and pip reads only one", path, option.line, 0,
                    "remove that line, so that `cudaenv attach` can write its own; "
                    "`cudaenv pin` pins frameworks"});
            }
            if (own && by_feature && option.name == "use-feature") {
                return tl::unexpected(
                    Error{ErrorKind::Unavailable, "constraint-taken",
                          "has a use-feature already, and this pip needs one to keep constraints "
                          "out of isolated builds",
                          path, option.line, 0,
                          "pip 26.2 needs none: `pip install --upgrade pip`, then `cudaenv "
                          "attach` again"});
            }
        }
        return {};
    };
    CUDAENV_TRY_VOID(taken(plain.pip_conf.path, plain.pip_conf.before.value_or(""), true));
    for (const std::string& path : other_pip_confs(caller)) {
        // pip cannot read it either.
        if (const auto text = read_whole(path); text && *text) {
            CUDAENV_TRY_VOID(taken(path, **text, false));
        }
    }
    return {};
}

Result<void> check_writable(const NamedEnvironment& environment) {
    const Paths paths(environment.prefix);
    const std::string prefix = environment.prefix;
    for (const std::string& path :
         {prefix, prefix + "/etc", prefix + "/etc/cudaenv", prefix + "/conda-meta", paths.pip_conf,
          paths.constraints, paths.pinned}) {
        if (!is_writable(path)) {
            return refused("read-only-environment", path,
                           std::string("cannot be written: ") + std::strerror(errno),
                           "ask the owner of the environment to attach it, or set PIP_CONSTRAINT "
                           "for yourself, which also applies to isolated builds");
        }
    }
    return {};
}

Result<ConstraintsFiles> with_lines(const NamedEnvironment& environment, Plain plain,
                                    const nlohmann::json& answer) {
    const auto value = pip_path(plain.constraints.path);
    if (!value) {
        return refused("unusable-prefix", environment.prefix,
                       "has a name that is not UTF-8, which pip.conf cannot contain",
                       "move the environment to another path");
    }
    const auto made = [](const FileText& file) {
        return file.after ? std::string() : creation_note(file.path, file.before);
    };
    const PinnedChange pinned = with_pinned(plain.pinned.after, texts_at(answer, "conda_lines"),
                                            environment.kind == EnvironmentKind::Conda);
    std::string lines = std::string(k_why) + made(plain.constraints) + pinned.record;
    for (const std::string& line : texts_at(answer, "pip_lines")) {
        lines += line + '\n';
    }
    std::vector<std::string> options{"constraint = " + *value};
    if (text_at(member(answer, "pip"), "builds_apart") == "by_feature") {
        options.emplace_back("use-feature = build-constraint");
    }
    CUDAENV_TRY(plain.constraints.after, with_block(plain.constraints.after.value_or(""), lines));
    CUDAENV_TRY(plain.pip_conf.after,
                with_constraint(plain.pip_conf.after.value_or(""),
                                std::string(k_pip_conf_comment) + made(plain.pip_conf), options));
    plain.pinned.after = pinned.text;
    ConstraintsFiles files;
    files.wanted = true;
    files.files = {std::move(plain.constraints), std::move(plain.pip_conf),
                   std::move(plain.pinned)};
    return files;
}

} // namespace

Result<ConstraintsFiles> planned_constraints(const NamedEnvironment& environment,
                                             const protocol::Caller& caller) {
    CUDAENV_TRY(const auto reply, ask_daemon("constraints", {{"prefix", environment.prefix}},
                                             caller, {.afterwards = Afterwards::Execs}));
    const nlohmann::json& answer = reply.object;
    CUDAENV_TRY(auto plain, plain_files(environment));
    if (text_at(answer, "setting") != "env") {
        return taken_out(std::move(plain));
    }
    if (list_at(answer, "pip_lines").empty()) {
        ConstraintsFiles files = taken_out(std::move(plain));
        files.wanted = files.nothing = true;
        return files;
    }
    const nlohmann::json& pip = member(answer, "pip");
    CUDAENV_TRY_VOID(check_pip(environment, pip));
    CUDAENV_TRY_VOID(
        check_configuration(plain, caller, text_at(pip, "builds_apart") == "by_feature"));
    CUDAENV_TRY_VOID(check_writable(environment));
    return with_lines(environment, std::move(plain), answer);
}

Result<ConstraintsFiles> without_constraints(const NamedEnvironment& environment) {
    CUDAENV_TRY(auto plain, plain_files(environment));
    return taken_out(std::move(plain));
}

Result<void> write_constraints(const NamedEnvironment& environment, const ConstraintsFiles& planned,
                               FileChanges& changes) {
    CUDAENV_TRY(const auto files, EnvironmentFiles::open(environment.prefix));
    for (const FileText& file : planned.files) {
        if (file.after == file.before) {
            if (planned.wanted && file.after) {
                changes.files.push_back({file.path, FileChange::Kept});
            }
            continue;
        }
        if (file.after) {
            CUDAENV_TRY_VOID(files.write(file.path, *file.after, file.before));
        } else {
            CUDAENV_TRY_VOID(
                files.remove(file.path, created_directories(*file.before).value_or(0)));
        }
        const bool out = !planned.wanted || planned.nothing || !file.after;
        changes.files.push_back({file.path, out ? FileChange::Removed : FileChange::Written});
    }
    return {};
}

} // namespace cudaenv::cli
