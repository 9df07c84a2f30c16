#include "daemon/check/examination.hpp"

#include "base/real_path.hpp"
#include "base/shell_word.hpp"
#include "base/state_directory.hpp"
#include "base/text.hpp"
#include "daemon/environment_of_request.hpp"
#include "daemon/host_of_request.hpp"
#include "host/examine.hpp"
#include "host/extensions/read_extensions.hpp"
#include "host/inventory/examine.hpp"
#include "host/probe/machine_stamp.hpp"
#include "host/repair/kept_store.hpp"
#include "host/repair/restore_kept.hpp"
#include "protocol/json_field.hpp"
#include "solver/plan/check/origin.hpp"
#include "solver/specs/channel_name.hpp"

#include <chrono>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// The pin of CUDA that holds for the environment; null where there is none.
const plan::Pin* cuda_pin(const Activation& activation) {
    const plan::EffectivePin* found = activation.project.pins.find("cuda");
    return found == nullptr ? nullptr : &found->pin;
}

constexpr const char* k_constraints = "etc/cudaenv/constraints.txt";

// The constraints file that a pip.conf of `cudaenv attach` names; empty: none.
std::string constraints_named_in(std::string_view pip_conf) {
    const auto at = pip_conf.find(k_constraints);
    if (at == std::string_view::npos) {
        return {};
    }
    auto line = pip_conf.substr(pip_conf.rfind('\n', at) + 1);
    line = line.substr(0, line.find('\n'));
    if (line.starts_with('#') || line.starts_with(';')) {
        return {};
    }
    const auto equals = line.find('=');
    const auto value = trim(equals == std::string_view::npos ? line : line.substr(equals + 1));
    constexpr std::string_view k_scheme = "file://";
    return value.starts_with(k_scheme) ? specs::percent_decode(value.substr(k_scheme.size()))
                                       : std::string(value);
}

plan::PipConstraints constraints_of(const std::string& prefix) {
    constexpr std::size_t k_most_bytes = 1U << 20U;
    host::DiskFileSystem files;
    plan::PipConstraints told;
    const std::string own = prefix + '/' + k_constraints;
    told.named =
        constraints_named_in(files.read_file(prefix + "/pip.conf", k_most_bytes).value_or(""));
    if (!told.named.empty()) {
        const auto text = files.read_file(told.named, k_most_bytes);
        told.is_there = text.has_value();
        told.is_own = told.named == own || real_path(told.named) == real_path(own);
        told.text = text.value_or("");
    }
    return told;
}

// A prefix of Python's that is no environment of its own: a system's, a build's, ~/.local.
bool has_python_sites(const std::string& prefix, Inventories& inventories) {
    const auto loan = inventories.lend(prefix);
    return loan && !loan->inventory().sites.empty();
}

// The directory that closes `path`: itself, or one above it that may not be gone through.
std::string closed_at(std::string path, const std::string& prefix) {
    for (auto slash = path.rfind('/'); slash > prefix.size() && slash != std::string::npos;
         slash = path.rfind('/')) {
        const std::string above = path.substr(0, slash);
        if (::access(above.c_str(), X_OK) == 0) {
            break;
        }
        path = above;
    }
    return path;
}

// Without these records every rule would take their files for unowned ones.
Result<void> check_readable(const facts::Inventory& inventory) {
    for (const facts::InventoryNote& note : inventory.notes) {
        if (note.hides_records) {
            const std::string path =
                closed_at(inventory.prefix + '/' + note.path, inventory.prefix);
            return tl::unexpected(
                Error{ErrorKind::Unavailable, "records-unreadable",
                      "cannot be read: " + note.reason + "; it holds records of what is installed",
                      path, 0, 0,
                      "run this as a user who may read it, or `ls -ld " + shell_word(path) +
                          "` shows whose it is"});
        }
    }
    return {};
}

} // namespace

host::EnvironmentMemories memories_of(const protocol::Caller& caller) {
    return host::EnvironmentMemories(
        state_directory([&](const char* name) { return caller.variable(name); }));
}

Examination::Examination(Inventories::Loan loan)
    : m_loan(std::move(loan)), m_claims(inventory()), m_ownership(inventory(), m_claims) {}

Result<std::unique_ptr<Examination>> Examination::of(const std::string& prefix,
                                                     const protocol::Caller& caller,
                                                     Inventories& inventories,
                                                     const GoesOn& wanted) {
    CUDAENV_TRY(auto loan, inventories.lend(prefix, wanted));
    std::unique_ptr<Examination> made(new Examination(std::move(loan)));
    const host::EnvironmentMemories memories = memories_of(caller);
    made->m_memory = memories.read(made->inventory().prefix);
    for (auto& kept : host::KeptStore(memories.directory()).list(made->inventory().prefix)) {
        if (host::can_be_put_back(kept, made->inventory())) {
            made->m_kept.push_back({std::move(kept.name), std::move(kept.version)});
        }
    }
    return made;
}

Result<std::unique_ptr<Examination>> Examination::of(const nlohmann::json& params,
                                                     const protocol::Caller& caller,
                                                     Machine& machine, plan::CheckDepth depth,
                                                     const GoesOn& wanted) {
    std::string prefix;
    auto activation = activation_of(params, caller, machine);
    if (activation) {
        prefix = activation->project.prefix;
    } else if (activation.error().code == "no-such-environment" && params.contains("prefix")) {
        CUDAENV_TRY(const auto named, protocol::path_field(params, "prefix"));
        prefix = absolute_for(caller, named.value_or(""));
        if (!has_python_sites(prefix, machine.inventories())) {
            return tl::unexpected(std::move(activation).error());
        }
        // What is active says nothing of it.
        nlohmann::json others = params;
        others.erase("prefix");
        activation = activation_of(others, caller, machine);
        if (activation) {
            activation->situation.environment.reset();
            activation->choice = {};
        }
    }
    if (!activation) {
        return tl::unexpected(std::move(activation).error());
    }
    if (prefix.empty()) {
        return bad_input("no-environment", "no environment is active and none is named",
                         "expected -n NAME or -p PREFIX");
    }
    CUDAENV_TRY(auto made, of(prefix, caller, machine.inventories(), wanted));
    CUDAENV_TRY_VOID(check_readable(made->inventory()));
    made->m_activation = std::move(*activation);
    made->m_depth = depth;
    made->m_is_named = params.contains("prefix") || params.contains("name");
    if (depth == plan::CheckDepth::Everything) {
        made->look_at_files(caller, wanted);
        if (goes_on(wanted)) {
            made->look_at_cuda(params, caller, wanted);
        }
        if (!goes_on(wanted)) {
            return stopped();
        }
    }
    return made;
}

void Examination::look_at_files(const protocol::Caller& caller, const GoesOn& wanted) {
    host::DiskFileSystem files;
    host::DigestCache digests(
        host::default_cache_directory(caller.environment, caller.variable("HOME").value_or("")),
        host::name_of_machine(files));
    m_examined = host::examine(inventory(), m_claims, digests, 0, nullptr, wanted);
    digests.save(); // also where it was stopped: the next look begins there
}

void Examination::look_at_cuda(const nlohmann::json& params, const protocol::Caller& caller,
                               const GoesOn& wanted) {
    Looks looks(caller);
    if (auto host = host_of(params, caller, looks)) {
        m_host = std::move(*host);
    }
    m_extensions = host::read_extensions(inventory(), wanted);
}

std::vector<plan::CheckFinding> Examination::findings() const {
    plan::CheckScene scene{inventory(), m_claims, m_ownership};
    scene.examined = m_examined ? &*m_examined : nullptr;
    if (m_depth == plan::CheckDepth::Everything) {
        const auto& environment = m_activation.situation.environment;
        scene.environment = environment ? &*environment : nullptr;
        scene.host = m_host ? &*m_host : nullptr;
        scene.toolkit = m_activation.choice.toolkit ? &*m_activation.choice.toolkit : nullptr;
        if (const plan::Pin* pin = cuda_pin(m_activation)) {
            scene.cuda = pin->constraint;
            scene.cuda_origin = pin->origin;
        }
        scene.extensions = m_extensions;
        scene.constraints = constraints_of(inventory().prefix);
    }
    scene.seen = m_memory.seen;
    scene.kept = m_kept;
    scene.is_named = m_is_named;
    return plan::check(scene, m_depth);
}

host::EnvironmentMemory Examination::memory_now() const {
    host::EnvironmentMemory memory = m_memory;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    memory.seen = plan::remember(m_memory.seen, plan::seen_in(inventory(), m_ownership),
                                 std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    return memory;
}

host::EnvironmentMemory Examination::memory_with_kept(const facts::Distribution& kept) const {
    host::EnvironmentMemory memory = memory_now();
    for (facts::SeenDistribution& seen : memory.seen) {
        if (seen.name == kept.name && seen.origin == facts::Origin::Wheel) {
            seen.origin = facts::Origin::Kept;
        }
    }
    return memory;
}

} // namespace cudaenv::daemon
