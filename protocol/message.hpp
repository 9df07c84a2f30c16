// The messages of docs/protocol.md as values: JSON-RPC 2.0 requests and responses, and the `hello`
// that opens a connection. Pure: no sockets, no files.
//
// Law: reading what `encode` wrote gives the value back, and reading anything else is an Error,
// never undefined behaviour (tests/fuzz/protocol).
#pragma once

#include "base/result.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
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

// An Error as the JSON object `cudaenv.error/1` and back, and the exit status it ends in. Pure.

// {schema, code, message, path, line, column, hint}: null where a place or hint is not known.
nlohmann::json error_to_json(const Error& error);
// What is missing or of the wrong kind stays empty. The kind is not part of the object.
Error error_from_json(const nlohmann::json& object, ErrorKind kind);

// 2 bad input, 3 could not be done, 70 a defect.
int exit_status(ErrorKind kind);

// Which of two builds is the newer, when client and daemon are not of one build. Pure.
//
// Law: of two builds at most one is newer, so that no two clients can make each other's daemon
// leave in turns.
enum class Skew {
    Same,    // one build
    Older,   // the other is older than this one: it is asked to leave
    Newer,   // the other is newer: this one does without it
    Unknown, // other, and nothing says which is newer: this one does without it too
};

// By protocol number, then by when the revision was made, then by version ("0.1.0" of
// "0.1.0+g1a2b3c4").
Skew skew_of(const Hello& other, const Hello& mine);

// This build's hello, without capabilities.
Hello own_hello();

// The exit statuses of a cudaenvd that ends before it answers, for whoever started it. Pure.

inline constexpr int k_ended_without_descriptors = 4;
inline constexpr int k_ended_without_memory = 5;

// How long a client waits for what takes long. Pure.

// Longer than the daemon's own deadlines for `probe --full --build` on a machine with 32 GPUs: it
// is the daemon that ends a driver which never answers, and reports where.
inline constexpr std::chrono::seconds k_probe_patience{1800};

// A condarc may name any variable ($SCRATCH/envs), and only those of a list travel with a request.
// So the daemon answers with the error "wants-variables" and their names, separated by spaces, as
// its hint; the client asks again with "variables" in the params: name to value, null where unset.

inline constexpr const char* k_wants_variables = "wants-variables";
inline constexpr const char* k_wanted_variables = "variables";

} // namespace cudaenv::protocol
