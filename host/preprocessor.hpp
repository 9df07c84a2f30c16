// As much of the C preprocessor as compiler checks use: nested #if with integer expressions,
// #define of numbers, #error. Pure. What it cannot evaluate counts as not taken, both ways.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

using Macros = std::map<std::string, long, std::less<>>;

class Preprocessor {
public:
    explicit Preprocessor(std::string_view source);

    // Text of the first #error that is reached with these macros; empty when none is.
    [[nodiscard]] std::string first_error(Macros macros) const;
    // Whether any #error contains `words`, reached or not.
    [[nodiscard]] bool mentions_error(std::string_view words) const;

private:
    enum class Kind { If, Ifdef, Ifndef, Elif, Else, Endif, Define, Undef, Error };
    struct Directive {
        Kind kind;
        std::vector<std::string> tokens; // of the expression or the macro's name and value
        std::string text;                // of an #error
    };
    std::vector<Directive> m_directives;
};

} // namespace cudaenv::host
