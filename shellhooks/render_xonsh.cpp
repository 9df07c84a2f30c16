#include "shellhooks/renderers.hpp"

namespace cudaenv::shellhooks {

namespace {

// Carries out the changes on xonsh's environment, whose values are objects: what a child sees is
// the text that is asked for. A user's own object (a path with `~` in it, a number) is kept and
// comes back where its text does. xonsh expands `~` and `$NAME` in each entry of a path when it
// exports it; where that would change our text, the entries are handed out as they are. The hook
// leaves the list in which vox keeps PATH as __cudaenv_kept_path.
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

// Python's literal of the bytes.
std::string bytes_literal(std::string_view bytes) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string out = "b'";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\' || c == '\'') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7F) {
            out += "\\x";
            out += k_digits[byte >> 4U];
            out += k_digits[byte & 0xFU];
        } else {
            out += c;
        }
    }
    return out + '\'';
}

std::string pair_of(const plan::Change& change) {
    return "('" + change.name + "', " + (change.value ? bytes_literal(*change.value) : "None") +
           "),\n";
}

} // namespace

std::string render_changes_xonsh(std::span<const plan::Change> changes) {
    if (changes.empty()) {
        return {};
    }
    std::string out(k_change);
    out += "__cudaenv_change([\n";
    for (const plan::Change& change : changes) {
        out += pair_of(change);
    }
    return out + "])\ndel __cudaenv_change\n";
}

// The hook compares by itself: (directory, variables, files with the time of each or None).
std::string render_watch_xonsh(const Watch& watch) {
    std::string out = "__cudaenv_watch = (\n" + bytes_literal(watch.directory) + ",\n[\n";
    for (const plan::Change& variable : watch.variables) {
        out += pair_of(variable);
    }
    out += "],\n[\n";
    for (const WatchedFile& file : watch.files) {
        out += '(' + bytes_literal(file.path) + ", " +
               (file.exists ? std::to_string(file.modified_ns) : "None") + "),\n";
    }
    return out + "],\n)\n";
}

} // namespace cudaenv::shellhooks
