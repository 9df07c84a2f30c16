#include "protocol/message.hpp"

#include "base/dotted_version.hpp"
#include "base/text.hpp"
#include "protocol/build_id.hpp"
#include "protocol/frame.hpp"
#include "protocol/json_field.hpp"

#include <limits>
#include <utility>

namespace cudaenv::protocol {

namespace {

RpcCode rpc_code(const Error& error) {
    if (error.code == "no-such-method") {
        return RpcCode::MethodNotFound;
    }
    switch (error.kind) {
    case ErrorKind::BadInput:
        return RpcCode::BadInput;
    case ErrorKind::Unavailable:
        return RpcCode::Unavailable;
    case ErrorKind::Defect:
        break;
    }
    return RpcCode::InternalError;
}

ErrorKind kind_of(long long code) {
    switch (code) {
    case static_cast<int>(RpcCode::BadInput):
        return ErrorKind::BadInput;
    case static_cast<int>(RpcCode::Unavailable):
        return ErrorKind::Unavailable;
    default: // the client itself made a request that the daemon does not take
        return ErrorKind::Defect;
    }
}

std::optional<std::int64_t> id_of(const nlohmann::json& object) {
    const auto id = object.find("id");
    if (id == object.end() || !id->is_number_integer() ||
        (id->is_number_unsigned() && id->get<std::uint64_t>() > INT64_MAX)) {
        return std::nullopt;
    }
    return id->get<std::int64_t>();
}

constexpr const char* k_progress_method = "progress";
constexpr const char* k_part_method = "part";

bool is_version_two(const nlohmann::json& object) {
    const auto version = string_field(object, "jsonrpc");
    return version && *version == "2.0";
}

nlohmann::json number_or_null(int number) {
    return number == 0 ? nlohmann::json() : nlohmann::json(number);
}

std::string_view version_of(std::string_view build) {
    return build.substr(0, build.find('+'));
}

} // namespace

nlohmann::json hello_to_json(const Hello& hello) {
    nlohmann::json object = {{"protocol", hello.protocol},
                             {"build", hello.build},
                             {"built", hello.built},
                             {"capabilities", hello.capabilities}};
    if (hello.listening) {
        object["listening"] = true;
    }
    if (!hello.why_not_listening.empty()) {
        object["why_not_listening"] = hello.why_not_listening;
    }
    return object;
}

Result<Hello> hello_from_json(const nlohmann::json& object) {
    Hello hello;
    CUDAENV_TRY(const long long number, integer_field(object, "protocol", 1, 1'000'000, 0));
    if (number == 0) {
        return bad_input("bad-field", "a hello has no \"protocol\"");
    }
    hello.protocol = static_cast<int>(number);
    CUDAENV_TRY(auto build, string_field(object, "build"));
    hello.build = std::move(build).value_or("");
    CUDAENV_TRY(hello.capabilities, strings_field(object, "capabilities"));
    CUDAENV_TRY(const long long built,
                integer_field(object, "built", 0, std::numeric_limits<long long>::max(), 0));
    hello.built = built;
    CUDAENV_TRY(hello.listening, bool_field(object, "listening", false));
    CUDAENV_TRY(auto why, string_field(object, "why_not_listening"));
    hello.why_not_listening = std::move(why).value_or("");
    return hello;
}

nlohmann::json reply_to_json(const Reply& reply) {
    return {{"status", reply.status}, {"object", reply.object}};
}

Result<Reply> reply_from_json(const nlohmann::json& object) {
    const auto status = integer_field(object, "status", 0, 255, -1);
    const auto value = object.is_object() ? object.find("object") : object.end();
    if (!status || *status < 0 || value == object.end() || !value->is_object()) {
        return bad_input("bad-reply", "a reply is not {status, object}");
    }
    return Reply{static_cast<int>(*status), *value};
}

Result<std::string> encode_request(const Request& request) {
    nlohmann::json params = request.params;
    if (request.caller) {
        params["caller"] = caller_to_json(*request.caller);
    }
    return encode_frame({{"jsonrpc", "2.0"},
                         {"id", request.id},
                         {"method", request.method},
                         {"params", std::move(params)}});
}

namespace {

Result<std::string> encode_in_parts(const Response& response) {
    // As a string in JSON, no byte of a JSON text takes more than two.
    constexpr std::size_t k_part_bytes = k_most_frame_bytes / 3;
    const std::string text =
        response.result->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > k_most_result_bytes) {
        return defect("an answer is longer than " + std::to_string(k_most_result_bytes) + " bytes");
    }
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = std::min(at + k_part_bytes, text.size());
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
            --end; // within a character
        }
        CUDAENV_TRY(const auto line,
                    encode_frame({{"jsonrpc", "2.0"},
                                  {"method", k_part_method},
                                  {"params", {{"text", text.substr(at, end - at)}}}}));
        lines += line;
        at = end;
    }
    CUDAENV_TRY(
        const auto last,
        encode_frame({{"jsonrpc", "2.0"}, {"id", value_or_null(response.id)}, {"parts", true}}));
    return lines + last;
}

} // namespace

Result<std::string> encode_response(const Response& response) {
    if (!response.result) {
        const Error& error = response.result.error();
        return encode_refusal(BadRequest{rpc_code(error), response.id, error});
    }
    auto line = encode_frame(
        {{"jsonrpc", "2.0"}, {"id", value_or_null(response.id)}, {"result", *response.result}});
    return line ? line : encode_in_parts(response);
}

Result<std::string> encode_refusal(const BadRequest& refused) {
    return encode_frame({{"jsonrpc", "2.0"},
                         {"id", value_or_null(refused.id)},
                         {"error",
                          {{"code", static_cast<int>(refused.code)},
                           {"message", refused.error.message},
                           {"data", error_to_json(refused.error)}}}});
}

tl::expected<Request, BadRequest> decode_request(std::string_view line) {
    auto object = parse_json(line);
    if (!object) {
        return tl::unexpected(
            BadRequest{RpcCode::ParseError, std::nullopt, std::move(object).error()});
    }
    const auto refuse = [](RpcCode code, std::optional<std::int64_t> id, std::string message) {
        return tl::unexpected(BadRequest{
            code, id, Error{ErrorKind::BadInput, "bad-request", std::move(message), {}, 0, 0, {}}});
    };
    if (!object->is_object() || !is_version_two(*object)) {
        return refuse(RpcCode::InvalidRequest, std::nullopt,
                      "a request is not an object with \"jsonrpc\": \"2.0\"");
    }
    const auto id = id_of(*object);
    if (!id) {
        return refuse(RpcCode::InvalidRequest, id, "a request has no whole number as its \"id\"");
    }
    auto method = string_field(*object, "method");
    if (!method || !*method || (*method)->empty()) {
        return refuse(RpcCode::InvalidRequest, id, "a request has no \"method\"");
    }
    Request request{*id, **std::move(method), nlohmann::json::object(), std::nullopt};
    if (const auto params = object->find("params"); params != object->end()) {
        if (!params->is_object()) {
            return refuse(RpcCode::InvalidParams, id, "\"params\" is not an object");
        }
        request.params = std::move(*params);
    }
    if (const auto caller = request.params.find("caller"); caller != request.params.end()) {
        auto read = caller_from_json(*caller);
        if (!read) {
            return tl::unexpected(BadRequest{RpcCode::InvalidParams, id, std::move(read).error()});
        }
        request.caller = *std::move(read);
        request.params.erase(caller);
    }
    return request;
}

std::optional<std::string> decode_part(std::string_view line) {
    // Most lines are responses and are not parsed twice. Members are written in the order of their
    // names.
    if (line.substr(0, 64).find(R"("method":"part")") == std::string_view::npos) {
        return std::nullopt;
    }
    const auto object = parse_json(line);
    const auto params =
        object && object->is_object() ? object->find("params") : nlohmann::json::const_iterator();
    if (!object || !object->is_object() || params == object->end()) {
        return std::nullopt;
    }
    auto text = string_field(*params, "text");
    return text ? *std::move(text) : std::nullopt;
}

Result<Response> decode_response(std::string_view line, std::string_view parts) {
    const auto refuse = [](const std::string& why) {
        return bad_input("bad-response", "a line is not a response: " + why);
    };
    auto object = parse_json(line);
    if (!object) {
        return refuse(object.error().message);
    }
    if (!object->is_object() || !is_version_two(*object)) {
        return refuse("it is not an object with \"jsonrpc\": \"2.0\"");
    }
    const auto id = id_of(*object);
    if (const auto result = object->find("result"); result != object->end()) {
        if (!id) {
            return refuse("it has no \"id\"");
        }
        return Response{id, std::move(*result)};
    }
    if (object->value("parts", nlohmann::json()) == true && id) {
        auto result = parse_json(parts);
        return result ? Result<Response>(Response{id, *std::move(result)})
                      : refuse(result.error().message);
    }
    const auto error = object->find("error");
    if (error == object->end() || !error->is_object()) {
        return refuse("it has neither \"result\" nor \"error\"");
    }
    const auto code = integer_field(*error, "code", -1'000'000, 1'000'000, 0);
    Error failure =
        error_from_json(error->value("data", nlohmann::json()), kind_of(code ? *code : 0));
    if (failure.message.empty()) {
        const auto message = string_field(*error, "message");
        failure.message = message && *message ? **message : "the daemon gave no reason";
    }
    return Response{id, tl::unexpected(std::move(failure))};
}

std::string encode_progress(const Progress& progress) {
    nlohmann::json params = {{"step", progress.step}};
    if (progress.gpu) {
        params["gpu"] = *progress.gpu;
    }
    return encode_frame(
               {{"jsonrpc", "2.0"}, {"method", k_progress_method}, {"params", std::move(params)}})
        .value_or(std::string());
}

std::optional<Progress> decode_progress(std::string_view line) {
    const auto object = parse_json(line);
    if (!object || !object->is_object() || !is_version_two(*object) || object->contains("id") ||
        object->value("method", nlohmann::json()) != k_progress_method) {
        return std::nullopt;
    }
    const auto params = object->find("params");
    if (params == object->end()) {
        return std::nullopt;
    }
    auto step = string_field(*params, "step");
    const auto gpu = integer_field(*params, "gpu", 0, 1'000'000, -1);
    if (!step || !*step || !gpu) {
        return std::nullopt;
    }
    return Progress{**std::move(step),
                    *gpu < 0 ? std::nullopt : std::optional(static_cast<int>(*gpu))};
}

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

Skew skew_of(const Hello& other, const Hello& mine) {
    const auto order = [](const auto& theirs, const auto& ours) {
        return theirs < ours ? Skew::Older : Skew::Newer;
    };
    if (other.protocol != mine.protocol) {
        return order(other.protocol, mine.protocol);
    }
    if (other.build == mine.build) {
        return Skew::Same;
    }
    if (other.built != 0 && mine.built != 0 && other.built != mine.built) {
        return order(other.built, mine.built);
    }
    const auto theirs = DottedVersion::parse(version_of(other.build));
    const auto ours = DottedVersion::parse(version_of(mine.build));
    if (theirs && ours && *theirs != *ours) {
        return order(*theirs, *ours);
    }
    return Skew::Unknown;
}

Hello own_hello() {
    return {k_protocol_number, std::string(build_id()), {}, built(), false, {}};
}

} // namespace cudaenv::protocol
