// `__cudaenv_stale` of bash and zsh. It runs at every prompt, so its form follows what these shells
// are quick at; tests/bench/bench_prompt.py measures it. One look at a file is about 0.8
// microseconds in both.
#include "shellhooks/quote.hpp"
#include "shellhooks/renderers.hpp"
#include "solver/plan/activation/managed.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cudaenv::shellhooks {

namespace {

// No `return`: the hooks put the body of the function into another.
constexpr std::string_view k_always = "function __cudaenv_stale {\n:\n}\n";

// One comparison of all variables and the directory costs half of one each: their values in a row,
// between marks that none of the recorded ones holds. Equal rows have equally many marks, so that
// no mark is in a new value either, and the parts are the same one by one.
struct Row {
    std::string expansions; // "$PWD,${A+x}${B-}"
    std::string value;      // what it was
};

// Unquoted on the left of != in both shells, and nothing that a pattern knows.
constexpr std::string_view k_marks = ",:%@=";

// How a value is read: `$A` costs half of `${A-}`, and under `set -u` ends the prompt's command
// where A is unset.
enum class Read : std::uint8_t { Plain, UnsetToo };

// What expands to nothing as long as what was unset or empty still is. `read`: where both mean the
// same, the shorter form that cannot tell them apart.
std::string expansion_of_empty(const plan::Change& variable, Read read = Read::UnsetToo) {
    if (read == Read::Plain && plan::empty_means_unset(variable.name)) {
        return '$' + variable.name;
    }
    return "${" + variable.name + (variable.value ? "-x}" : "+x}");
}

std::string expansion_of(const std::string& name, Read read) {
    return read == Read::Plain ? '$' + name : "${" + name + "-}";
}

// One row; or, where every mark is in some value, one for each part. `empty`: what is to expand to
// nothing.
std::vector<Row> rows(const Watch& watch, const std::string& empty, Read read) {
    std::vector<Row> parts;
    parts.push_back({expansion_of("PWD", read), watch.directory});
    if (!empty.empty()) {
        parts.push_back({empty, ""});
    }
    for (const plan::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value && !variable.value->empty()) {
            parts.push_back({expansion_of(variable.name, read), *variable.value});
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

// The words that bash's comparisons name, as variables of the shell: a variable is read faster than
// a word in quotes.
class BashWords {
public:
    std::string variable(const std::string& value) {
        const std::string name = "__cudaenv_" + std::to_string(m_names.size());
        define(name, value);
        return '$' + name;
    }
    void define(const std::string& name, const std::string& value) {
        m_names.push_back(name);
        m_text += name + '=' + quote_word(Shell::Bash, value) + '\n';
    }
    // Where set -a is on, an assignment exports.
    [[nodiscard]] std::string text() const {
        std::string out = m_text + "\\command export -n";
        for (const std::string& name : m_names) {
            out += ' ' + name;
        }
        return out + '\n';
    }

private:
    std::vector<std::string> m_names;
    std::string m_text;
};

// As a pattern it means itself, so that it needs no quotes, which cost a microsecond.
bool is_plain_pattern(std::string_view value) {
    return std::ranges::all_of(value, [](char c) {
        return c > ' ' && c < '\x7F' && std::string_view("*?[]\\()").find(c) == std::string::npos;
    });
}

// The row has told that this is still the directory: a short path is found faster, by 0.1
// microseconds for each directory above.
std::string path_from_here(const Watch& watch, const WatchedFile& file) {
    const std::string here = watch.directory + '/';
    return file.path.starts_with(here) ? "./" + file.path.substr(here.size()) : file.path;
}

std::string condition_of(const std::vector<std::string>& differences) {
    std::string out = "[[ ";
    std::string between;
    for (const std::string& difference : differences) {
        out += between + difference;
        between = " ||\n";
    }
    return out + " ]]";
}

std::string function_of(const std::string& condition) {
    return "function __cudaenv_stale {\n" + condition + "\n}\n";
}

} // namespace

// Two forms of one check. `__cudaenv_check` is what a prompt does: as short as can be, since bash
// copies a function's body at each call, and stale where a shell's options make it inexact (with
// nocasematch its first pattern matches nothing). `__cudaenv_stale` is right with `set -u` too.
std::string render_watch_bash(const Watch& watch) {
    if (!is_comparable(watch, &WatchedFile::stamp)) {
        return "__cudaenv_check=:\n" + std::string(k_always);
    }
    BashWords words;
    std::string empty;
    std::string plain_empty;
    for (const plan::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value.value_or("").empty()) {
            empty += expansion_of_empty(variable);
            plain_empty += expansion_of_empty(variable, Read::Plain);
        }
    }
    std::vector<std::string> quick{"-o nounset"};
    std::vector<std::string> differences;
    std::string subject = "a";
    std::string pattern = "[!A]";
    const std::vector<Row> plain = rows(watch, plain_empty, Read::Plain);
    const std::vector<Row> guarded = rows(watch, empty, Read::UnsetToo);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        std::string value = words.variable(plain[i].value);
        if (!is_plain_pattern(plain[i].value)) {
            value = '"' + value + '"';
        }
        value.insert(0, " != " + pattern);
        quick.push_back(subject + plain[i].expansions + value);
        differences.push_back(subject + guarded[i].expansions + value);
        subject.clear();
        pattern.clear();
    }
    const auto add = [&](const std::string& difference) {
        quick.push_back(difference);
        differences.push_back(difference);
    };
    const bool alone = std::ranges::count_if(watch.files, [](const WatchedFile& file) {
                           return !file.stamp.empty() && file.seen != WatchedFile::Seen::WhereFree;
                       }) < 2;
    for (const WatchedFile& file : watch.files) {
        if (file.seen == WatchedFile::Seen::WhereFree) {
            continue;
        }
        const std::string path = words.variable(path_from_here(watch, file));
        if (!file.exists || file.seen == WatchedFile::Seen::Existence) {
            add((file.exists ? "! -e " : "-e ") + path);
            continue;
        }
        // Where one of the two is gone, the other one is the newer. Where both are, none is: that
        // is told by any other file there is, which is then newer than its own stamp, since stamps
        // go together.
        const std::string stamp = words.variable(file.stamp);
        add(path + " -nt " + stamp);
        if (file.seen == WatchedFile::Seen::Time) {
            add(path + " -ot " + stamp);
        }
        if (alone) {
            add("! -e " + path);
        }
    }
    words.define("__cudaenv_check", condition_of(quick));
    return words.text() + function_of(condition_of(differences));
}

std::string render_watch_zsh(const Watch& watch) {
    if (!is_comparable(watch, &WatchedFile::stamp_after)) {
        return std::string(k_always);
    }
    std::vector<std::string> differences;
    std::string empty;
    for (const plan::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value && variable.value->empty()) {
            empty += expansion_of_empty(variable);
        } else if (is_variable_name(variable.name) && !variable.value) {
            differences.push_back("-v " + variable.name); // a quarter of ${NAME+x}
        }
    }
    for (const Row& row : rows(watch, empty, Read::UnsetToo)) {
        differences.push_back(row.expansions + " != " + quote_word(Shell::Zsh, row.value));
    }
    for (const WatchedFile& file : watch.files) {
        if (file.seen == WatchedFile::Seen::WhereFree) {
            continue;
        }
        const std::string path = quote_word(Shell::Zsh, path_from_here(watch, file));
        if (!file.exists || file.seen == WatchedFile::Seen::Existence) {
            differences.push_back((file.exists ? "! -e " : "-e ") + path);
            continue;
        }
        // False as well where one of the two is gone.
        differences.push_back("! " + quote_word(Shell::Zsh, file.stamp_after) + " -nt " + path);
        if (file.seen == WatchedFile::Seen::Time) {
            differences.push_back("! " + path + " -nt " +
                                  quote_word(Shell::Zsh, file.stamp_before));
        }
    }
    return function_of(condition_of(differences));
}

} // namespace cudaenv::shellhooks
