// One resolution for a caller: pins, specs, host and channels put together and solved.
#pragma once

#include "base/result.hpp"
#include "host/project/project.hpp"
#include "protocol/caller.hpp"
#include "solver/facts/host.hpp"
#include "solver/resolve/outcome.hpp"
#include "solver/resolve/request.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

struct Resolution {
    resolve::Outcome outcome;
    std::optional<facts::Driver> driver;
    resolve::KnownEnvironment environment; // of the machine that it is for
    std::vector<std::string> notes;        // about files and channels, one line each
};

// As `cudaenv resolve` asks. Errors: those of the project's files, of the specs and of the
// channels.
// `tell_choices`: as `cudaenv explain`, with why each version.
Result<Resolution> resolve_for(const nlohmann::json& params, const protocol::Caller& caller,
                               bool tell_choices = false);

// The pins with NAME set to `constraint` instead of what it was. Error: "bad-version", "bad-pin";
// the path of the error is `origin`.
Result<void> override_pin(std::vector<pins::Pin>& pins, const std::string& name,
                          const std::string& constraint, const std::string& origin);

} // namespace cudaenv::daemon
