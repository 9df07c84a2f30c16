// One question to the daemon: the one place that decides how it is reached and how long it may
// take.
#pragma once

#include "base/result.hpp"
#include "protocol/message.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

namespace cudaenv::cli {

// Whether to say on standard error why no daemon answered, where it is worth a word (-v).
enum class TellWay { No, Yes };

// What becomes of this process after the answer. Execs: a command of the user's takes its place
// (`run`), and a daemon started now would be that command's child; none is.
enum class Afterwards { Ends, Execs };

// How long an answer may take before whoever asked is told that there is none.
std::chrono::seconds deadline_of(std::string_view method, const nlohmann::json& params);

struct AskWishes {
    TellWay tell = TellWay::No;
    Afterwards afterwards = Afterwards::Ends;
    // Hears how far a probe is while it is waited for. Empty: nobody wants to.
    std::function<void(const protocol::Progress&)> on_progress = {};
    // Shorter than deadline_of.
    std::optional<std::chrono::milliseconds> deadline = {};
};

// Errors: those of Connection.
Result<protocol::Reply> ask_daemon(std::string_view method, nlohmann::json params,
                                   const protocol::Caller& caller, const AskWishes& wishes = {});

} // namespace cudaenv::cli
