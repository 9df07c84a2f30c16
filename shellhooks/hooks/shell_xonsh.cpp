#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/hooks/quote.hpp"
#include "shellhooks/hooks/shell.hpp"

extern "C" const char cudaenv_hook_xonsh[];

namespace cudaenv::hooks {

extern const Shell k_xonsh;

namespace {

// Changes xonsh's environment, whose values are objects, so that a child sees exactly our text. A
// user's own object (a path with `~` in it, a number) is saved and restored with its text. xonsh
// expands `~` and `$NAME` in each entry of a path when it exports it; where that would change our
// text, ExactPath passes the entries on as they are. The hook provides the list in which vox keeps
// PATH as __cudaenv_kept_path.
constexpr std::string_view k_change = R"py(def __cudaenv_change(changes):
    import os
    from xonsh.built_ins import XSH
    from xonsh.tools import EnvPath

    env = XSH.env
    replaced = XSH.__dict__.setdefault("_cudaenv_replaced", {})

    def exact(text):
        entries = text.split(os.pathsep)

        class ExactPath(EnvPath):
            def __getitem__(self, item):
                if isinstance(item, slice):
                    return [self[i] for i in range(len(self))[item]]
                entry = self._l[item]
                return entry if entry in entries else super().__getitem__(item)

        return ExactPath(text)

    kept_path = globals().get("__cudaenv_kept_path")
    for name, value in changes:
        if name == "_OLD_VIRTUAL_PATH" and kept_path is not None:
            kept_path[:] = os.fsdecode(value).split(os.pathsep) if value else []
            continue
        theirs, ours = replaced.pop(name, (None, None))
        if value is None:
            if name in env.detype():
                del env[name]
            continue
        text = os.fsdecode(value)
        current = env[name] if name in env.detype() else None
        if current is None or current is not ours:
            theirs = current
        if theirs is not None and env.get_detyper(name)(theirs) == text:
            env[name] = theirs
            continue
        env[name] = text
        if env.detype().get(name) != text:
            env[name] = exact(text)
        replaced[name] = (theirs, env[name])


)py";

// The inside of a literal of Python. `ascii`: bytes above 127 are escaped too.
std::string escaped(std::string_view text, bool ascii) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\' || c == '\'') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7F || (ascii && byte > 0x7F)) {
            out += "\\x";
            out += k_digits[byte >> 4U];
            out += k_digits[byte & 0xFU];
        } else {
            out += c;
        }
    }
    return out;
}

// @(...) is an expression of Python, in which the shell expands nothing (variables, globs).
std::string quote(std::string_view word) {
    return "@('" + escaped(word, false) + "')";
}

std::string bytes_literal(std::string_view bytes) {
    return "b'" + escaped(bytes, true) + '\'';
}

std::string pair_of(const patch::Change& change) {
    return "('" + change.name + "', " + (change.value ? bytes_literal(*change.value) : "None") +
           "),\n";
}

std::string render_changes(std::span<const patch::Change> changes) {
    if (changes.empty()) {
        return {};
    }
    std::string out(k_change);
    out += "__cudaenv_change([\n";
    for (const patch::Change& change : changes) {
        out += pair_of(change);
    }
    return out + "])\ndel __cudaenv_change\n";
}

// The hook compares by itself: (directory, variables, files with the time of each or None).
std::string render_watch(const Watch& watch) {
    std::string out = "__cudaenv_watch = (\n" + bytes_literal(watch.directory) + ",\n[\n";
    for (const patch::Change& variable : watch.variables) {
        out += pair_of(variable);
    }
    out += "],\n[\n";
    for (const WatchedFile& file : watch.files) {
        out += '(' + bytes_literal(file.path) + ", " +
               (file.exists ? std::to_string(file.modified_ns) : "None") + "),\n";
    }
    out += "],\n)\n";
    return watch.waited.empty() ? out : out + "__cudaenv_waited = '" + watch.waited + "'\n";
}

std::string start_lines(const std::string& program) {
    const std::string literal = '\'' + escaped(program, false) + '\'';
    // Not $(...): in a start-up file it was seen to give nothing on a loaded machine.
    return "if __import__('os').access(" + literal +
           ", 1):\n    execx(__import__('subprocess').check_output([" + literal +
           ", 'hook', 'xonsh'], text=True,\n          env=__xonsh__.env.detype()))\n";
}

} // namespace

constinit const Shell k_xonsh{
    .name = "xonsh",
    // xonsh reads `a=b`, `a,b`, `@` and `%` as Python in some places.
    .plain_marks = "",
    .quote = quote,
    .render_changes = render_changes,
    .hook = cudaenv_hook_xonsh,
    .render_watch = render_watch,
    .evaluate_hook = "execx($(cudaenv hook xonsh))",
    // xonsh reads both, .xonshrc last.
    .start_files = {"~/.xonshrc", "$XDG_CONFIG_HOME/xonsh/rc.xsh"},
    .start_lines = start_lines,
};

} // namespace cudaenv::hooks
