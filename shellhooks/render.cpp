#include "shellhooks/render.hpp"

#include "shellhooks/renderers.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace cudaenv::shellhooks {

std::string render_changes(Shell shell, std::span<const plan::Change> changes) {
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh:
        break;
    case Shell::Fish:
        return render_changes_fish(changes);
    case Shell::Tcsh:
        return render_changes_tcsh(changes);
    case Shell::Xonsh:
        return render_changes_xonsh(changes);
    }
    return render_changes_posix(shell, changes);
}

namespace {

// The variable of the shell that keeps `Watch::waited`; it is not exported.
std::string render_waited(Shell shell, const std::string& waited) {
    const std::string assignment = "__cudaenv_waited=" + waited;
    switch (shell) {
    case Shell::Posix:
        break;
    case Shell::Bash:
        return assignment + "\n\\command export -n __cudaenv_waited\n";
    case Shell::Zsh:
        return "typeset -g +x " + assignment + '\n';
    case Shell::Fish:
        return "set -g __cudaenv_waited " + waited + '\n';
    case Shell::Tcsh:
        return "set " + assignment + " ;\n";
    case Shell::Xonsh:
        return "__cudaenv_waited = '" + waited + "'\n";
    }
    return {};
}

std::string render_what_to_compare(Shell shell, const Watch& watch) {
    switch (shell) {
    case Shell::Posix: // has no prompt to compare at
        break;
    case Shell::Bash:
        return render_watch_bash(watch);
    case Shell::Zsh:
        return render_watch_zsh(watch);
    case Shell::Fish:
        return render_watch_fish(watch);
    case Shell::Tcsh:
        return render_watch_tcsh(watch);
    case Shell::Xonsh:
        return render_watch_xonsh(watch);
    }
    return {};
}

} // namespace

std::string render_watch(Shell shell, const Watch& watch) {
    std::string text = render_what_to_compare(shell, watch);
    return watch.waited.empty() ? text : text + render_waited(shell, watch.waited);
}

bool is_variable_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// 1;DIRECTORY;v:NAME=VALUE;u:NAME;f:PATH:NANOSECONDS:STAMP;a:PATH: fields end with ; and all else
// but letters, digits and _ . / + - , is a % with two hexadecimal digits.
namespace {

constexpr std::string_view k_version = "1";

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./+-,").find(c) != std::string_view::npos;
}

std::string escaped(std::string_view text) {
    constexpr std::string_view k_digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        if (is_plain(c)) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += k_digits[byte >> 4U];
        out += k_digits[byte & 0xFU];
    }
    return out;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_plain(text[i])) {
            out += text[i];
            continue;
        }
        unsigned value = 0;
        if (text[i] != '%' || text.size() - i < 3) {
            return std::nullopt;
        }
        const char* const digits = text.data() + i + 1;
        if (std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2 || value == 0) {
            return std::nullopt;
        }
        out += static_cast<char>(value);
        i += 2;
    }
    return out;
}

// Up to the mark, which is taken off as well; nothing where there is no mark.
std::optional<std::string_view> take_until(std::string_view& text, char mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view out = text.substr(0, at);
    text.remove_prefix(at + 1);
    return out;
}

bool read_variable(std::string_view field, bool set, Watch& watch) {
    std::optional<std::string> value;
    if (set) {
        const auto name = take_until(field, '=');
        if (!name || !(value = unescaped(field))) {
            return false;
        }
        field = *name;
    }
    const auto name = unescaped(field);
    if (!name || name->empty()) {
        return false;
    }
    watch.variables.push_back({*name, value});
    return true;
}

bool read_file(std::string_view field, bool exists, Watch& watch) {
    WatchedFile file;
    file.exists = exists;
    std::string_view path = field;
    if (exists) {
        const auto before = take_until(field, ':');
        const auto time = take_until(field, ':');
        if (!before || !time) {
            return false;
        }
        path = *before;
        const auto [end, error] =
            std::from_chars(time->data(), time->data() + time->size(), file.modified_ns);
        const auto stamp = unescaped(field);
        if (error != std::errc() || end != time->data() + time->size() || !stamp) {
            return false;
        }
        file.stamp = *stamp;
    }
    const auto read = unescaped(path);
    if (!read || read->empty()) {
        return false;
    }
    file.path = *read;
    watch.files.push_back(file);
    return true;
}

bool read_field(std::string_view field, Watch& watch) {
    if (field.size() < 2 || field[1] != ':') {
        return false;
    }
    const std::string_view rest = field.substr(2);
    switch (field.front()) {
    case 'v':
        return read_variable(rest, true, watch);
    case 'u':
        return read_variable(rest, false, watch);
    case 'f':
        return read_file(rest, true, watch);
    case 'a':
        return read_file(rest, false, watch);
    default:
        return false;
    }
}

} // namespace

std::string write_watch(const Watch& watch) {
    std::string out = std::string(k_version) + ';' + escaped(watch.directory) + ';';
    for (const plan::Change& variable : watch.variables) {
        out += variable.value ? "v:" + escaped(variable.name) + '=' + escaped(*variable.value)
                              : "u:" + escaped(variable.name);
        out += ';';
    }
    for (const WatchedFile& file : watch.files) {
        if (!file.exists) {
            out += "a:" + escaped(file.path) + ';';
            continue;
        }
        std::array<char, 24> digits{};
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), file.modified_ns).ptr;
        out += "f:" + escaped(file.path) + ':' + std::string(digits.data(), end) + ':' +
               escaped(file.stamp) + ';';
    }
    return out;
}

std::optional<Watch> read_watch(std::string_view text) {
    Watch watch;
    if (take_until(text, ';') != k_version) {
        return std::nullopt;
    }
    const auto directory = take_until(text, ';');
    const auto read = directory ? unescaped(*directory) : std::nullopt;
    if (!read) {
        return std::nullopt;
    }
    watch.directory = *read;
    while (!text.empty()) {
        const auto field = take_until(text, ';');
        if (!field || !read_field(*field, watch)) {
            return std::nullopt;
        }
    }
    return watch;
}

} // namespace cudaenv::shellhooks
