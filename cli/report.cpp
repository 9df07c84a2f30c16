#include "cli/report.hpp"

#include "base/printable.hpp"
#include "cli/output.hpp"
#include "cli/render/render.hpp"
#include "cli/this_caller.hpp"
#include "protocol/error_json.hpp"

#include <cstdlib>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

std::string text_of(const nlohmann::json& object, int indent) {
    return printable_json(
               object.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace)) +
           '\n';
}

} // namespace

std::string as_json(const nlohmann::json& object) {
    return text_of(object, 2);
}

std::string as_json_line(const nlohmann::json& object) {
    return text_of(object, -1);
}

Style style_for(const Terminal& terminal, ColourWish wish, const protocol::Caller& caller) {
    Style style;
    style.colour = wants_colour(wish, terminal, ::getenv);
    style.utf8 = caller.utf8;
    style.columns = terminal.columns;
    style.home = caller.variable("HOME").value_or("");
    style.cwd = caller.cwd;
    return style;
}

Style message_style() {
    Style style;
    style.utf8 = locale_is_utf8(::getenv);
    style.cwd = current_directory();
    if (const char* home = std::getenv("HOME"); home != nullptr) {
        style.home = home;
    }
    return style;
}

int report_failure(const Error& error, bool json) {
    const int status = protocol::exit_status(error.kind);
    if (error.code == "reader-gone") {
        return status;
    }
    const nlohmann::json object = protocol::error_to_json(error);
    if (json && write_all(STDOUT_FILENO, as_json(object))) {
        return status;
    }
    // If standard error cannot be written to either, only the status is left.
    static_cast<void>(write_all(STDERR_FILENO, render(object, message_style())));
    return status;
}

void say(const std::string& message) {
    static_cast<void>(report_failure({ErrorKind::BadInput, {}, message, {}, 0, 0, {}}, false));
}

} // namespace cudaenv::cli
