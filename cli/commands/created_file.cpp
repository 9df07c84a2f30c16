#include "cli/commands/created_file.hpp"

#include <charconv>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

constexpr std::string_view k_note = "# There was no such file before";
constexpr std::string_view k_directories = "; directories created with it: ";

std::string above(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

std::optional<std::string_view> note_in(std::string_view text) {
    const std::size_t at = text.find(k_note);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    return text.substr(at, text.find('\n', at) - at);
}

} // namespace

std::string creation_note(const std::string& path, const std::optional<std::string>& before) {
    if (before) {
        const auto note = note_in(*before);
        return note ? std::string(*note) + '\n' : std::string();
    }
    int count = 0;
    for (std::string directory = above(path);
         !directory.empty() && ::access(directory.c_str(), F_OK) != 0;
         directory = above(directory)) {
        ++count;
    }
    return std::string(k_note) +
           (count == 0 ? "" : std::string(k_directories) + std::to_string(count)) + ".\n";
}

std::optional<int> created_directories(std::string_view text) {
    const auto note = note_in(text);
    if (!note) {
        return std::nullopt;
    }
    int count = 0;
    if (note->substr(k_note.size()).starts_with(k_directories)) {
        std::from_chars(note->data() + k_note.size() + k_directories.size(),
                        note->data() + note->size(), count);
    }
    return count;
}

void remove_directories_above(std::string path, int count) {
    for (; count > 0; --count) {
        path = above(path);
        if (::rmdir(path.c_str()) != 0) {
            return;
        }
    }
}

} // namespace cudaenv::cli
