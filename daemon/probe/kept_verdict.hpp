// The verdicts of earlier probes, for `status` and the prompt. Nothing here
// starts a probe.
#pragma once

#include "daemon/looks.hpp"
#include "daemon/probe/probe.hpp"
#include "host/probe/verdict_store.hpp"
#include "host/project/project.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::daemon {

probe::VerdictStore verdicts_of(const protocol::Caller& caller);
// What a driver's answers depend on in the caller's shell, as it is: with our own changes where it
// has them, since a probe runs with them. The prefix is whoever asks's.
probe::VerdictQuestion question_of_shell(const protocol::Caller& caller);

// The same of any variables, as one text.
std::string shell_text(const patch::Variables& shell, const std::string& cwd);

// The directories and files that a probe is about to rest on, and how they are.
probe::VerdictGrounds grounds_before(host::FileSystem& files,
                                     const probe::ProbeLibraries& libraries, bool full,
                                     const std::string& nvcc,
                                     const std::vector<facts::Compiler>& compilers);

// Whose verdict it is: the caller's, in an environment. `base` is the shell without our changes
// (patch::undo), from which what is built follows by pins and settings.
struct Asker {
    const project::LoadedProject& project;
    const patch::Variables& base;
    const protocol::Caller& caller;
};

// Kept for the asker's environment and shell: the ladder's verdict with its depth, and that of what
// was built. A full ladder that went well and left rungs out is a quick one. False where what it
// rests on changed meanwhile and nothing is kept.
bool keep_verdict(const ProbeRun& run, const ProbeWishes& wishes, const Asker& asker);

// The worst that holds. None where nothing is kept, or what it rests on is not as it was.
std::optional<probe::KeptVerdict> kept_verdict(const Asker& asker, Looks& looks);
std::optional<probe::KeptVerdict> kept_verdict(const Asker& asker);
// A bad one, for the shell that is about to have what was decided for it.
std::optional<probe::KeptVerdict> bad_verdict(const Activation& activation,
                                              const protocol::Caller& caller, Looks& looks);

// What a verdict for the asker rests on besides files, as one text.
std::string verdict_key(const Asker& asker);

// Whether a file that the probe had loaded is another since it began: of those that no one named
// before, nothing else reports it.
bool changed_since(const probe::VerdictGrounds& grounds, const std::vector<std::string>& loaded);

// The machine or the environment is broken, as far as that probe saw; not where it was busy, or
// there is no GPU.
bool is_bad(const probe::KeptVerdict& kept);
// "fails at runtime (CE322)".
std::string in_short(const probe::KeptVerdict& kept);
// The probe that would meet it again: "cudaenv probe --full".
std::string command_for(const probe::KeptVerdict& kept);

// The member `probe` of `status`: null without one.
nlohmann::json kept_to_json(const std::optional<probe::KeptVerdict>& kept);

// Whether `text` has not been shown yet; ask once for each time that it would be shown. The last one
// of a topic is saved in `directory`, the user's runtime directory. False where it cannot be saved,
// so that the prompt does not repeat it.
bool is_news(const std::string& directory, const std::string& topic, const std::string& text);

} // namespace cudaenv::daemon
