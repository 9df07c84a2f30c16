// Layout of text: colour, characters, width. Pure values and functions.
//
// Law: colour only repeats a state that the text shows too; a line of a Page is at most `columns`
// wide unless one word or one command is wider.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

struct Style {
    bool colour = false;
    bool utf8 = true;
    bool verbose = false;
    int columns = 100;
    std::string home; // paths below it are shown as ~/...; empty = none
    std::string cwd;  // paths below it are shown as ./... in messages; empty = none
};

enum class State { Fits, Warns, Breaks, Unknown };
State state_of(std::string_view name); // "ok"; "warns", "warning"; "fails", "error"; else Unknown

// ✓ ! ✗ in green, yellow, red; "ok", "!", "x" where the locale is not UTF-8; "?" for Unknown.
std::string tick(const Style& style, State state);
// "text" in the state's colour.
std::string coloured(const Style& style, State state, std::string_view text);
// Columns that a terminal shows: code points, escape sequences left out.
int width_of(std::string_view text);
std::string spaces(int count); // none for a negative count
// " · " and the like as the locale can show them.
std::string in_locale(const Style& style, std::string_view text);
// ~/miniforge3 for a path in the home directory.
std::string short_path(const Style& style, std::string_view path);
// ./cudaenv.toml for a path below the current directory, else short_path.
std::string message_path(const Style& style, std::string_view path);
// Pieces that are not empty, joined.
std::string joined(std::initializer_list<std::string> pieces, std::string_view separator);
// Broken at spaces to `width` columns, never within a word.
std::vector<std::string> wrapped(std::string_view text, int width);

// Rows under a label, as all the objects are shown: "driver     470.199.02, proprietary".
class Page {
public:
    static constexpr int k_label_width = 11;
    explicit Page(const Style& style, int label_width = k_label_width)
        : m_style(style), m_label_width(label_width) {}
    // A label narrower than the label column and its text; longer texts go on under the text.
    // `note` is set apart on the right where there is room.
    void row(std::string_view label, std::string_view text, std::string_view note = {});
    // The same, unless the text is empty.
    void row_if(std::string_view label, std::string_view text);
    // On one line, however long, since it will be pasted; nothing where it is empty.
    void command(std::string_view label, std::string_view text);
    // Rows whose cells line up; the label stands at the first. A last cell that is too wide goes on
    // under itself.
    void table(std::string_view label, const std::vector<std::vector<std::string>>& rows);
    // Broken to `indent` columns from the left, the first line at `first`.
    void paragraph(int first, int indent, std::string_view text);
    // A line as it is, for instance a command: never broken.
    void line(std::string_view text);
    // A pip or conda command, broken before options with a backslash where it is too wide;
    // nothing where it is empty.
    void command(int indent, std::string_view text);
    void blank() { m_text += '\n'; }
    [[nodiscard]] std::string text() const { return m_text; }

private:
    const Style& m_style;
    int m_label_width;
    std::string m_text;
};

} // namespace cudaenv::cli
