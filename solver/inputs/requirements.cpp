#include "base/ascii.hpp"
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/inputs/readers.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::inputs {

namespace {

constexpr std::size_t k_deepest_include = 16;
constexpr int k_most_files = 200; // a few files that include each other twice are many

// A line as pip sees it: continued lines joined, each piece with its place in the file.
struct LogicalLine {
    struct Piece {
        std::size_t begin = 0; // in `text`
        int line = 0;
        std::size_t column = 0; // from 0
    };
    std::string text;
    std::vector<Piece> pieces;

    void add(std::string_view piece, int line, std::size_t column) {
        pieces.push_back({text.size(), line, column});
        text += piece;
    }
};

// Where a comment begins: # at the start or behind a blank.
std::size_t comment_at(std::string_view line) {
    for (std::size_t at = line.find('#'); at != k_npos; at = line.find('#', at + 1)) {
        if (at == 0 || is_space(line[at - 1])) {
            return at;
        }
    }
    return k_npos;
}

std::vector<LogicalLine> logical_lines(std::string_view text) {
    std::vector<LogicalLine> lines;
    LogicalLine current;
    int number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        const std::size_t comment = comment_at(line);
        const bool goes_on = line.ends_with('\\') && comment == k_npos;
        if (goes_on) {
            line.remove_suffix(1);
        }
        current.add(line.substr(0, comment), number, 0);
        if (!goes_on) {
            lines.push_back(std::exchange(current, {}));
        }
    }
    lines.push_back(std::move(current)); // continued at the end of the file
    return lines;
}

enum class Option {
    Requirement,
    Constraint,
    Editable,
    Index,
    Links,
    Flag,    // without a value
    Setting, // with one that decides nothing here
    PerRequirement
};
struct OptionName {
    std::string_view name;
    char letter;
    Option option;
};
constexpr std::array<OptionName, 20> k_options = {{
    {"--requirement", 'r', Option::Requirement},
    {"--constraint", 'c', Option::Constraint},
    {"--editable", 'e', Option::Editable},
    {"--index-url", 'i', Option::Index},
    {"--pypi-url", 0, Option::Index},
    {"--extra-index-url", 0, Option::Index},
    {"--find-links", 'f', Option::Links},
    {"--no-index", 0, Option::Flag},
    {"--prefer-binary", 0, Option::Flag},
    {"--require-hashes", 0, Option::Flag},
    {"--pre", 0, Option::Flag},
    {"--always-unzip", 'Z', Option::Flag},
    {"--no-binary", 0, Option::Setting},
    {"--only-binary", 0, Option::Setting},
    {"--trusted-host", 0, Option::Setting},
    {"--use-feature", 0, Option::Setting},
    {"--hash", 0, Option::PerRequirement},
    {"--global-option", 0, Option::PerRequirement},
    {"--install-option", 0, Option::PerRequirement},
    {"--config-settings", 'C', Option::PerRequirement},
}};

// pip takes the beginning of a name too, where it is the beginning of one.
const OptionName* option_named(std::string_view name) {
    const OptionName* found = nullptr;
    for (const OptionName& option : k_options) {
        if (option.name == name) {
            return &option;
        }
        if (option.name.starts_with(name) && name.size() > 2) {
            if (found != nullptr) {
                return nullptr;
            }
            found = &option;
        }
    }
    return found;
}

struct Word {
    std::string text; // quotes resolved
    std::size_t at = 0;
};

// As a shell splits, as far as pip's option values need it.
std::vector<Word> words_of(std::string_view text) {
    std::vector<Word> words;
    std::size_t at = 0;
    while (at < text.size()) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        Word word{{}, at};
        for (char quote = 0; at < text.size() && (quote != 0 || !is_space(text[at])); ++at) {
            const char c = text[at];
            if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == quote) {
                quote = 0;
            } else {
                word.text += c;
            }
        }
        words.push_back(std::move(word));
    }
    return words;
}

class RequirementsParser {
public:
    RequirementsParser(Input& input, const ReadFile& read, const Target& target)
        : m_input(input), m_read(read), m_target(target) {}

    Result<void> file(std::string_view text, const std::string& path, Strength strength) {
        constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
        text.remove_prefix(text.starts_with(k_byte_order_mark) ? k_byte_order_mark.size() : 0);
        m_open.push_back(path);
        for (const LogicalLine& line : logical_lines(text)) {
            CUDAENV_TRY_VOID(logical_line(line, path, strength));
        }
        m_open.pop_back();
        return {};
    }

    Result<void> logical_line(const LogicalLine& line, const std::string& path, Strength strength) {
        m_line = &line;
        m_path = &path;
        m_strength = strength;
        const std::string_view text = line.text;
        const std::size_t begin = text.find_first_not_of(" \t\r\v\f");
        if (begin == k_npos) {
            return {};
        }
        // A word that begins with a dash ends the requirement.
        std::size_t options = begin;
        if (text[begin] != '-') {
            for (options = text.find(" -", begin);
                 options != k_npos && text.find_first_not_of("-", options + 1) == k_npos;
                 options = text.find(" -", options + 1)) {
            }
        }
        const std::string_view requirement =
            text[begin] == '-' ? std::string_view{}
                               : trim(text.substr(begin, std::min(options, text.size()) - begin));
        if (requirement.starts_with("@EXPLICIT")) {
            return error_at(place(begin), "not-an-input-file",
                            "this is conda's list of exact builds",
                            "nothing is left to resolve: conda create --file installs it");
        }
        if (requirement.starts_with('.') && requirement.find(".whl") == k_npos) {
            CUDAENV_TRY_VOID(project(std::string(requirement), place(begin)));
        } else if (!requirement.empty()) {
            if (auto added =
                    add_requirement(m_input, requirement, place(begin), m_target, strength);
                !added) {
                return replaced(std::move(added).error(), begin);
            }
        }
        if (options == k_npos) {
            return {};
        }
        return option_words(words_of(text.substr(options)), options, !requirement.empty());
    }

private:
    [[nodiscard]] FilePlace place(std::size_t at) const {
        const auto& pieces = m_line->pieces;
        const auto after = std::ranges::find_if(
            pieces, [&](const LogicalLine::Piece& piece) { return piece.begin > at; });
        const LogicalLine::Piece& piece = *(after - 1);
        return {*m_path, piece.line, static_cast<int>(at - piece.begin + piece.column) + 1};
    }
    // An error within the requirement at `begin`, which may go over several lines.
    [[nodiscard]] tl::unexpected<Error> replaced(Error error, std::size_t begin) const {
        const FilePlace start = place(begin);
        if (error.path == printable(start.path) && error.line == start.line) {
            const FilePlace exact =
                place(begin + static_cast<std::size_t>(error.column - start.column));
            error.line = exact.line;
            error.column = exact.column;
        }
        return tl::unexpected(std::move(error));
    }

    Result<void> option_words(const std::vector<Word>& words, std::size_t offset,
                              bool of_requirement) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string_view word = words[i].text;
            const std::size_t at = offset + words[i].at;
            const OptionName* known = nullptr;
            std::string value;
            bool has_value = false;
            if (word.starts_with("--")) {
                const std::size_t equals = word.find('=');
                const std::string_view name = word.substr(0, equals);
                known = option_named(name);
                has_value = equals != k_npos;
                value = has_value ? word.substr(equals + 1) : "";
            } else if (word.size() > 1 && word[0] == '-') {
                const auto found = std::ranges::find(k_options, word[1], &OptionName::letter);
                known = found == k_options.end() ? nullptr : &*found;
                has_value = word.size() > 2;
                value = word.substr(std::min<std::size_t>(2, word.size()));
            }
            if (known == nullptr && !word.starts_with('-')) {
                m_input.notes.push_back(place(at).origin() + ": pip ignores " + quoted(word) +
                                        " behind an option");
                continue;
            }
            if (known == nullptr) {
                return unknown_option(word, at);
            }
            if (known->option == Option::Flag) {
                continue;
            }
            std::size_t value_at = has_value ? at + word.size() - value.size() : at;
            if (!has_value) {
                if (i + 1 >= words.size()) {
                    return error_at(place(at), "bad-option",
                                    std::string(known->name) + " needs a value", hint_of(*known));
                }
                value = words[++i].text;
                value_at = offset + words[i].at;
            }
            CUDAENV_TRY_VOID(take(*known, value, value_at, of_requirement));
        }
        return {};
    }

    static std::string hint_of(const OptionName& option) {
        switch (option.option) {
        case Option::Requirement:
            return "as in -r base.txt";
        case Option::Constraint:
            return "as in -c constraints.txt";
        case Option::Editable:
            return "as in -e . or -e git+https://host/project";
        default:
            return "as in " + std::string(option.name) + "=VALUE";
        }
    }

    [[nodiscard]] tl::unexpected<Error> unknown_option(std::string_view word,
                                                       std::size_t at) const {
        std::vector<std::string> names;
        for (const OptionName& option : k_options) {
            names.emplace_back(option.name);
        }
        const auto near = nearest(word.substr(0, word.find('=')), names);
        return error_at(place(at), "bad-option",
                        "pip does not know " + quoted(word) + " in a requirements file",
                        near ? "did you mean " + *near + "?"
                             : "a line is a requirement, as in torch==2.4.1, or an option, as "
                               "in -r base.txt");
    }

    Result<void> take(const OptionName& known, const std::string& value, std::size_t at,
                      bool of_requirement) {
        if (of_requirement) {
            return {}; // hashes and build settings: which version they go with is in the line
        }
        switch (known.option) {
        case Option::Requirement:
            return include(value, at, m_strength);
        case Option::Constraint:
            return include(value, at, Strength::Bound);
        case Option::Index:
        case Option::Links:
            add_index(m_input, value, place(at));
            return {};
        case Option::Editable:
            return project(value, place(at));
        default:
            return {};
        }
    }

    // Beside the path of this file.
    [[nodiscard]] std::string relative(const std::string& name) const {
        const std::size_t slash = m_path->rfind('/');
        return name.starts_with('/') || slash == std::string::npos
                   ? name
                   : m_path->substr(0, slash + 1) + name;
    }

    // "-e ." and "./other[gpu]": a project's own requirements, where its pyproject.toml says them.
    Result<void> project(const std::string& value, const FilePlace& here) {
        const InputWord word = split_input_word(value);
        const auto noted = [&]() -> Result<void> {
            m_input.notes.push_back(here.origin() + ": what " + printable(redact_secrets(value)) +
                                    " itself depends on is not read");
            return {};
        };
        if (value.find("://") != std::string::npos) {
            return noted();
        }
        const std::string path =
            word.path == "." ? relative("pyproject.toml") : relative(word.path) + "/pyproject.toml";
        if (++m_files > k_most_files) {
            return noted();
        }
        const auto text = m_read(path);
        if (!text) {
            return noted();
        }
        CUDAENV_TRY(const auto entries, pins::parse_toml(*text, path));
        if (find_entry(entries, "project") == nullptr) {
            return noted();
        }
        return parse_pyproject(m_input, entries, path, word.extras, m_target);
    }

    Result<void> include(const std::string& name, std::size_t at, Strength strength) {
        const FilePlace here = place(at);
        if (name.find("://") != std::string::npos) {
            m_input.notes.push_back(here.origin() + ": " + printable(redact_secrets(name)) +
                                    " is on the network and is not read");
            return {};
        }
        const std::string path = relative(name);
        if (is_one_of(path, m_open) || m_open.size() > k_deepest_include ||
            ++m_files > k_most_files) {
            return error_at(here, "bad-requirement", quoted(name) + " includes this file again",
                            "remove one of the two lines");
        }
        auto text = m_read(path);
        if (!text) {
            Error error = std::move(text).error();
            return tl::unexpected(Error{error.kind, error.code,
                                        "cannot read " + quoted(path) + ": " + error.message,
                                        printable(here.path), here.line, here.column,
                                        "included files are relative to this one"});
        }
        const LogicalLine* const line = m_line;
        const std::string* const outer = m_path;
        const Strength outer_strength = m_strength;
        CUDAENV_TRY_VOID(file(*text, path, strength));
        m_line = line;
        m_path = outer;
        m_strength = outer_strength;
        return {};
    }

    Input& m_input;
    const ReadFile& m_read;
    const Target& m_target;
    std::vector<std::string> m_open; // from the first file to the one being read
    int m_files = 0;                 // read so far
    const LogicalLine* m_line = nullptr;
    const std::string* m_path = nullptr;
    Strength m_strength = Strength::Wanted;
};

} // namespace

Result<void> parse_requirements(Input& input, std::string_view text, const std::string& path,
                                const ReadFile& read, const Target& target) {
    return RequirementsParser(input, read, target).file(text, path, Strength::Wanted);
}

Result<void> parse_requirement_line(Input& input, std::string_view text, const FilePlace& place,
                                    const ReadFile& read, const Target& target) {
    LogicalLine line;
    line.add(text.substr(0, comment_at(text)), place.line,
             static_cast<std::size_t>(place.column) - 1);
    return RequirementsParser(input, read, target).logical_line(line, place.path, Strength::Wanted);
}

} // namespace cudaenv::inputs
