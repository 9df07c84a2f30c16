#include "cli/commands/environment_formats.hpp"

#include <algorithm>
#include <string_view>

namespace cudaenv::cli {

namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t';
}

// Whether all readers read the unquoted value as it is: compose and python-dotenv expand `$`, cut
// at ` #` and strip the ends; a quote at the start opens a quoted value.
bool means_itself(std::string_view value) {
    if (value.empty()) {
        return true;
    }
    constexpr std::string_view k_never = "$`\n\r\\";
    constexpr std::string_view k_not_first = "'\"#";
    const bool has_control = std::ranges::any_of(value, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
    return !has_control && value.find_first_of(k_never) == std::string_view::npos &&
           k_not_first.find(value.front()) == std::string_view::npos && !is_space(value.front()) &&
           !is_space(value.back()) && value.find(" #") == std::string_view::npos &&
           value.find("\t#") == std::string_view::npos;
}

// A line that the value does not have, whatever it is.
std::string delimiter_for(std::string_view value) {
    std::string delimiter = "CUDAENV_END";
    while (value.find(delimiter) != std::string_view::npos) {
        delimiter += '_';
    }
    return delimiter;
}

} // namespace

Result<std::string> dotenv_text(std::span<const patch::SetVariable> values) {
    std::string text;
    for (const patch::SetVariable& variable : values) {
        if (!means_itself(variable.value)) {
            return unavailable("no-dotenv",
                               "the value of " + variable.name +
                                   " cannot be written into a .env "
                                   "file that docker, compose and python-dotenv read alike",
                               "use `cudaenv env --json`, or `cudaenv run`, which needs no file");
        }
        text += variable.name + '=' + variable.value + '\n';
    }
    return text;
}

Result<GithubText> github_text(std::span<const patch::SetVariable> values,
                               const std::vector<std::string>& front) {
    GithubText text;
    for (const patch::SetVariable& variable : values) {
        if (variable.name == "PATH" && !front.empty()) {
            continue;
        }
        const std::string delimiter = delimiter_for(variable.value);
        text.environment +=
            variable.name + "<<" + delimiter + '\n' + variable.value + '\n' + delimiter + '\n';
    }
    for (auto directory = front.rbegin(); directory != front.rend(); ++directory) {
        if (directory->find_first_of("\r\n") != std::string::npos) {
            return unavailable("no-github", "a directory for PATH has a newline in its name", {});
        }
        text.path += *directory + '\n';
    }
    return text;
}

} // namespace cudaenv::cli
