#include "shellhooks/hooks/prompt_watch.hpp"

#include "base/percent.hpp"

#include <array>
#include <charconv>

namespace cudaenv::hooks {

// 1;DIRECTORY;v:NAME=VALUE;u:NAME;f:PATH:NANOSECONDS:STAMP;a:PATH: fields end with ; and all
// characters but letters, digits and _ . / + - , are written as % and two hexadecimal digits.
namespace {

constexpr std::string_view k_version = "1";

constexpr std::string_view k_plain = "_./+-,"; // beside letters and digits

std::string escaped(std::string_view text) {
    return percent_encode(text, k_plain);
}

std::optional<std::string> unescaped(std::string_view text) {
    return percent_restore(text, k_plain);
}

// Removes and returns the text up to the mark, and removes the mark; nothing without a mark.
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
    for (const patch::Change& variable : watch.variables) {
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

} // namespace cudaenv::hooks
