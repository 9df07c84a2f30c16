// `__cudaenv_stale` of bash and zsh. It runs at every prompt, so its form follows what these shells
// are quick at; tests/bench/bench_prompt.py measures it.
#include "shellhooks/quote.hpp"
#include "shellhooks/renderers.hpp"

#include <algorithm>
#include <chrono>
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

// What expands to nothing as long as what was unset or empty still is.
std::string expansion_of_empty(const plan::Change& variable) {
    return "${" + variable.name + (variable.value ? "-x}" : "+x}");
}

// One row; or, where every mark is in some value, one for each part. `empty`: what is to expand to
// nothing.
std::vector<Row> rows(const Watch& watch, const std::string& empty) {
    std::vector<Row> parts;
    parts.push_back({"${PWD-}", watch.directory});
    if (!empty.empty()) {
        parts.push_back({empty, ""});
    }
    for (const plan::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value && !variable.value->empty()) {
            parts.push_back({"${" + variable.name + "-}", *variable.value});
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

std::string function_of(const std::vector<std::string>& differences, const std::string& after) {
    std::string out = "function __cudaenv_stale {\n[[ ";
    std::string between;
    for (const std::string& difference : differences) {
        out += between + difference;
        between = " ||\n";
    }
    return out + " ]]" + after + "\n}\n";
}

// The words that bash's comparisons name, as variables of the shell: a variable is read faster than
// a word in quotes.
class BashWords {
public:
    std::string variable(const std::string& value) {
        m_names.push_back("__cudaenv_" + std::to_string(m_names.size()));
        m_text += m_names.back() + '=' + quote_word(Shell::Bash, value) + '\n';
        return '$' + m_names.back();
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

void add_file_for_bash(const WatchedFile& file, BashWords& words,
                       std::vector<std::string>& differences, bool& first) {
    const std::string path = words.variable(file.path);
    if (!file.exists) {
        differences.push_back("-e " + path);
        return;
    }
    if (file.seen == WatchedFile::Seen::Existence) {
        differences.push_back("! -e " + path);
        return;
    }
    // Where only one of the two is there, it counts as the newer one.
    const std::string stamp = words.variable(file.stamp);
    differences.push_back(path + " -nt " + stamp);
    if (file.seen == WatchedFile::Seen::Time) {
        differences.push_back(path + " -ot " + stamp);
    }
    // Where neither is there they compare as the same. One look is enough: stamps go together, and
    // any file that is left is then newer than its own.
    if (first) {
        differences.push_back("! -e " + path);
    }
    first = false;
}

// "20231114221320123456789", as `zstat -g -F %Y%j%H%M%S%N` has it.
std::string time_in_zsh(long long modified_ns) {
    using namespace std::chrono;
    const sys_time<nanoseconds> time{nanoseconds(modified_ns)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss<nanoseconds> clock(time - day);
    const auto padded = [](long long value, std::size_t width) {
        std::string digits = std::to_string(value);
        return std::string(width - std::min(width, digits.size()), '0') + digits;
    };
    return padded(static_cast<int>(date.year()), 4) +
           padded((day - sys_days(date.year() / January / 1)).count() + 1, 3) +
           padded(clock.hours().count(), 2) + padded(clock.minutes().count(), 2) +
           padded(clock.seconds().count(), 2) + padded(clock.subseconds().count(), 9);
}

} // namespace

std::string render_watch_bash(const Watch& watch) {
    const bool comparable = std::ranges::all_of(watch.files, [](const WatchedFile& file) {
        return !file.exists || !file.stamp.empty() || file.seen == WatchedFile::Seen::Existence;
    });
    if (watch.directory.empty() || !comparable) {
        return std::string(k_always);
    }
    BashWords words;
    // With nocasematch no comparison of bash is exact; the hook switches it off meanwhile.
    std::vector<std::string> differences{"a == A"};
    std::string empty;
    for (const plan::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value.value_or("").empty()) {
            empty += expansion_of_empty(variable);
        }
    }
    for (const Row& row : rows(watch, empty)) {
        const std::string value = words.variable(row.value);
        differences.push_back(row.expansions +
                              " != " + (is_plain_pattern(row.value) ? value : '"' + value + '"'));
    }
    bool first = true;
    for (const WatchedFile& file : watch.files) {
        add_file_for_bash(file, words, differences, first);
    }
    return words.text() + function_of(differences, "");
}

// zsh can read the time of a file, all of them with one command, so it needs no stamps.
std::string render_watch_zsh(const Watch& watch) {
    const bool comparable = std::ranges::all_of(
        watch.files, [](const WatchedFile& file) { return !file.exists || file.modified_ns != 0; });
    if (watch.directory.empty() || !comparable) {
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
    for (const Row& row : rows(watch, empty)) {
        differences.push_back(row.expansions + " != " + quote_word(Shell::Zsh, row.value));
    }
    std::string paths;
    std::string times;
    for (const WatchedFile& file : watch.files) {
        const std::string path = quote_word(Shell::Zsh, file.path);
        if (!file.exists) {
            differences.push_back("-e " + path);
            continue;
        }
        paths += ' ' + path;
        times += (times.empty() ? "" : " ") + time_in_zsh(file.modified_ns);
    }
    if (paths.empty()) {
        return function_of(differences, "");
    }
    // Without the module, and where a file is gone, the status says so.
    return "typeset -ga __cudaenv_times\nzmodload -F zsh/stat b:zstat 2>/dev/null || :\n" +
           function_of(differences,
                       " ||\n! builtin zstat -g -A __cudaenv_times -F %Y%j%H%M%S%N +mtime --" +
                           paths + " 2>/dev/null ||\n[[ \"${(j: :)__cudaenv_times[@]}\" != " +
                           quote_word(Shell::Zsh, times) + " ]]");
}

} // namespace cudaenv::shellhooks
