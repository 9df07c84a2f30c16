#include "shellhooks/quote.hpp"

#include <algorithm>
#include <cassert>

namespace cudaenv::shellhooks {

namespace {

bool is_plain(Shell shell, char c) {
    // Not the locale's isalnum: a byte above 127 is not plain in any shell we write for.
    const bool alphanumeric =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (alphanumeric || std::string_view("_+:./-").find(c) != std::string_view::npos) {
        return true;
    }
    // xonsh reads `a=b`, `a,b`, `@` and `%` as Python now and then.
    return shell != Shell::Xonsh && std::string_view("@%=,").find(c) != std::string_view::npos;
}

bool is_plain_word(Shell shell, std::string_view word) {
    // zsh expands =word to the path of a command; fish expands a leading % to a process in old
    // versions.
    return !word.empty() && word.front() != '=' && word.front() != '%' &&
           std::ranges::all_of(word, [&](char c) { return is_plain(shell, c); });
}

std::string posix(std::string_view word) {
    std::string out = "'";
    for (const char c : word) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + '\'';
}

// Inside fish's single quotes only \\ and \' are escapes.
std::string fish(std::string_view word) {
    std::string out = "'";
    for (const char c : word) {
        if (c == '\\' || c == '\'') {
            out += '\\';
        }
        out += c;
    }
    return out + '\'';
}

// csh replaces history marks and ends a line even inside single quotes: both need a backslash
// there.
std::string tcsh(std::string_view word) {
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (c == '!' || c == '\n') {
            out += '\\';
        }
        out += c;
    }
    return out + '\'';
}

// @(...) is an expression of Python, so that nothing of the shell (variables, globs) is expanded.
std::string xonsh(std::string_view word) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string out = "@('";
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\' || c == '\'') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\x";
            out += k_digits[byte >> 4U];
            out += k_digits[byte & 0xFU];
        } else {
            out += c;
        }
    }
    return out + "')";
}

} // namespace

std::string quote_word(Shell shell, std::string_view word) {
    assert(word.find('\0') == std::string_view::npos);
    if (is_plain_word(shell, word)) {
        return std::string(word);
    }
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh:
        break;
    case Shell::Fish:
        return fish(word);
    case Shell::Tcsh:
        return tcsh(word);
    case Shell::Xonsh:
        return xonsh(word);
    }
    return posix(word);
}

} // namespace cudaenv::shellhooks
