// The verdicts of earlier probes, for whoever tells them: `status` and the prompt. Nothing here
// starts a probe.
#pragma once

#include "daemon/probe/probe.hpp"
#include "host/probe/verdict_store.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::daemon {

// Kept for the caller's environment and shell. Not of --all-gpus, which is not what the shell sees;
// of --build without what was built.
void keep_verdict(const ProbeRun& run, const std::string& prefix, const ProbeWishes& wishes,
                  const protocol::Caller& caller);

// None where nothing is kept, or what it rests on is not as it was.
std::optional<host::KeptVerdict> kept_verdict(const std::string& prefix,
                                              const protocol::Caller& caller);

// The machine or the environment is broken, as far as that probe saw; not where it was busy, or
// there is no GPU.
bool is_bad(const host::KeptVerdict& kept);
// "fails at runtime (CE322)".
std::string in_short(const host::KeptVerdict& kept);

// The member `probe` of `status`: null where there is none.
nlohmann::json kept_to_json(const std::optional<host::KeptVerdict>& kept);

// "the driver's library is 580.95.05, the loaded kernel module 570.86.10: ..."; empty where they
// fit, or it is not known.
std::string driver_warning();

} // namespace cudaenv::daemon
