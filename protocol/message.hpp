// The messages of docs/protocol.md as values: JSON-RPC 2.0 requests and responses, and the `hello`
// that opens a connection. Pure: no sockets, no files.
//
// Law: reading what `encode` wrote gives the value back, and reading anything else is an Error,
// never undefined behaviour (tests/fuzz/protocol).
#pragma once

#include "base/result.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::protocol {

// Raised when an old client and a new daemon would misunderstand each other.
constexpr int k_protocol_number = 1;

// Error codes of JSON-RPC 2.0, and ours from its range for applications.
enum class RpcCode : int {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    BadInput = -32000,    // exit status 2
    Unavailable = -32001, // exit status 3
};

struct Hello {
    int protocol = k_protocol_number;
    std::string build;                     // protocol::build_id()
    std::vector<std::string> capabilities; // the daemon's: its methods, sorted
    std::int64_t built = 0;                // protocol::built()
    bool listening = false;                // the daemon's: others can connect to it
    std::string why_not_listening;         // the daemon's, where it was to listen and does not
};

struct Request {
    std::int64_t id = 0;
    std::string method;
    nlohmann::json params = nlohmann::json::object();
    std::optional<Caller> caller; // travels as the member "caller" of params; `hello` has none
};

// What a method came to: the exit status that a command ends in (0 yes, 1 no) and one object with a
// "schema".
struct Reply {
    int status = 0;
    nlohmann::json object;
};

struct Response {
    std::optional<std::int64_t> id; // none: the request could not be read
    Result<nlohmann::json> result;  // for methods other than `hello`: reply_to_json
};

nlohmann::json hello_to_json(const Hello& hello);
Result<Hello> hello_from_json(const nlohmann::json& object);

nlohmann::json reply_to_json(const Reply& reply);
// Error: "bad-reply".
Result<Reply> reply_from_json(const nlohmann::json& object);

// One line each, newline included. Error: "frame-too-long".
Result<std::string> encode_request(const Request& request);
// A result that is too long for a line comes in parts, before its response: notifications with
// pieces of its JSON text. Error beyond k_most_result_bytes.
Result<std::string> encode_response(const Response& response);
constexpr std::size_t k_most_result_bytes = std::size_t{64} << 20;

// From one line. A failed request says with which code to answer it, and its id if that was
// readable.
struct BadRequest {
    RpcCode code = RpcCode::InvalidRequest;
    std::optional<std::int64_t> id;
    Error error;
};
tl::expected<Request, BadRequest> decode_request(std::string_view line);
// The answer to it: unlike other errors it keeps JSON-RPC's own code.
Result<std::string> encode_refusal(const BadRequest& refused);
// `parts`: what came in parts before it. Error: "bad-response".
Result<Response> decode_response(std::string_view line, std::string_view parts = {});
// A piece of the text of a result; none where the line is something else.
std::optional<std::string> decode_part(std::string_view line);

// How far a request is that asked to hear it ("progress": true), before its response.
struct Progress {
    std::string step;       // "cudnn", facts::k_rungs
    std::optional<int> gpu; // the driver's ordinal
};
std::string encode_progress(const Progress& progress);
// None where the line is something else.
std::optional<Progress> decode_progress(std::string_view line);

} // namespace cudaenv::protocol
