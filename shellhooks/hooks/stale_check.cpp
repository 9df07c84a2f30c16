// The parts of `__cudaenv_stale` that bash and zsh share. It runs at every prompt, so its form
// follows what these shells are fast at; tests/bench/bench_prompt.py measures it. Looking at one
// file costs about 0.8 microseconds in both.
#include "base/variables.hpp"
#include "shellhooks/hooks/posix.hpp"

#include <algorithm>

namespace cudaenv::hooks {

namespace {

// Neither needs quotes on the left of != nor means anything in a pattern.
constexpr std::string_view k_marks = ",:%@=";

std::string expansion_of(const std::string& name, Expand expand) {
    return expand == Expand::Plain ? '$' + name : "${" + name + "-}";
}

} // namespace

std::string expansion_of_empty(const patch::Change& variable, Expand expand) {
    if (expand == Expand::Plain && empty_means_unset(variable.name)) {
        return '$' + variable.name;
    }
    return "${" + variable.name + (variable.value ? "-x}" : "+x}");
}

std::vector<Row> rows(const Watch& watch, const std::string& empty, Expand expand) {
    std::vector<Row> parts;
    parts.push_back({expansion_of("PWD", expand), watch.directory});
    if (!empty.empty()) {
        parts.push_back({empty, ""});
    }
    for (const patch::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value && !variable.value->empty()) {
            parts.push_back({expansion_of(variable.name, expand), *variable.value});
        }
    }
    const auto mark = std::ranges::find_if(k_marks, [&](char c) {
        return std::ranges::all_of(
            parts, [&](const Row& part) { return part.value.find(c) == std::string::npos; });
    });
    if (mark == k_marks.end()) {
        return parts;
    }
    Row row = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        row.expansions += *mark + parts[i].expansions;
        row.value += *mark + parts[i].value;
    }
    return {row};
}

bool is_comparable(const Watch& watch, std::string WatchedFile::*stamp) {
    return !watch.directory.empty() &&
           std::ranges::all_of(watch.files, [&](const WatchedFile& file) {
               return !file.exists || !(file.*stamp).empty() ||
                      file.seen == WatchedFile::Seen::Existence ||
                      file.seen == WatchedFile::Seen::WhereFree;
           });
}

std::string path_from_here(const Watch& watch, const WatchedFile& file) {
    const std::string here = watch.directory + '/';
    return file.path.starts_with(here) ? "./" + file.path.substr(here.size()) : file.path;
}

std::string any_of(const std::vector<std::string>& differences) {
    std::string out = "[[ ";
    std::string between;
    for (const std::string& difference : differences) {
        out += between + difference;
        between = " ||\n";
    }
    return out + " ]]";
}

std::string stale_function(const std::string& condition) {
    return "function __cudaenv_stale {\n" + condition + "\n}\n";
}

} // namespace cudaenv::hooks
