#include "protocol/error_json.hpp"

#include "base/text.hpp"
#include "protocol/json_field.hpp"

#include <limits>

namespace cudaenv::protocol {

namespace {

nlohmann::json number_or_null(int number) {
    return number == 0 ? nlohmann::json() : nlohmann::json(number);
}

} // namespace

// The door of every error: texts of the user's and of files are in them.
nlohmann::json error_to_json(const Error& error) {
    return {{"schema", "cudaenv.error/1"},
            {"code", error.code},
            {"message", redact_secrets(error.message)},
            {"path", text_or_null(redact_secrets(error.path))},
            {"line", number_or_null(error.line)},
            {"column", number_or_null(error.column)},
            {"hint", text_or_null(redact_secrets(error.hint))}};
}

Error error_from_json(const nlohmann::json& object, ErrorKind kind) {
    const auto text = [&](std::string_view name) {
        auto value = string_field(object, name);
        return value && value->has_value() ? **std::move(value) : std::string();
    };
    const auto number = [&](std::string_view name) {
        const auto value = integer_field(object, name, 0, std::numeric_limits<int>::max(), 0);
        return value ? static_cast<int>(*value) : 0;
    };
    return Error{kind,           text("code"),     text("message"), text("path"),
                 number("line"), number("column"), text("hint")};
}

int exit_status(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::BadInput:
        return 2;
    case ErrorKind::Unavailable:
        return 3;
    case ErrorKind::Defect:
        break;
    }
    return 70;
}

} // namespace cudaenv::protocol
