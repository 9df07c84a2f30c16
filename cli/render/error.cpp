#include "base/json_members.hpp"
#include "cli/render/render.hpp"

namespace cudaenv::cli {

// cudaenv: "eleven" is not a version: expected digits and dots, as in 11.3 (argument 1, column 6)
// cudaenv: ./cudaenv.toml line 2, column 1: unknown pin "cudaa"; did you mean "cuda"?
std::string render_error(const nlohmann::json& error, const Style& style) {
    const std::string path = text_at(error, "path");
    const long long line = number_at(error, "line");
    const long long column = number_at(error, "column");
    const std::string place = joined({line > 0 ? "line " + std::to_string(line) : "",
                                      column > 0 ? "column " + std::to_string(column) : ""},
                                     ", ");
    const bool is_argument = path.starts_with("argument ");
    std::string text = "cudaenv: ";
    if (!path.empty() && !is_argument) {
        text += message_path(style, path) + (place.empty() ? "" : ' ' + place) + ": ";
    }
    text += text_at(error, "message");
    if (const std::string hint = text_at(error, "hint"); !hint.empty()) {
        // What is expected completes the sentence; anything else is a second one.
        text += (hint.starts_with("expected") ? ": " : "; ") + hint;
    }
    if (is_argument || (path.empty() && !place.empty())) {
        text += " (" + joined({path, place}, ", ") + ')';
    }
    return in_locale(style, text) + '\n';
}

} // namespace cudaenv::cli
