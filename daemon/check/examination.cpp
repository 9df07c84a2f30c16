#include "daemon/check/examination.hpp"

#include "base/fingerprint.hpp"
#include "base/percent.hpp"
#include "base/printable.hpp"
#include "base/real_path.hpp"
#include "base/shell_word.hpp"
#include "base/state_directory.hpp"
#include "base/text.hpp"
#include "check/extensions/cuda_needs.hpp"
#include "check/extensions/numpy_modules.hpp"
#include "check/extensions/read_extensions.hpp"
#include "check/inventory/earlier_sites.hpp"
#include "check/inventory/examine.hpp"
#include "check/inventory/failing_imports.hpp"
#include "check/repair/installer_at_work.hpp"
#include "check/repair/kept_store.hpp"
#include "check/repair/restore_kept.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/origin.hpp"
#include "daemon/host_of_request.hpp"
#include "host/examine.hpp"
#include "host/probe/verdict_store.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// The pin of CUDA that holds for the environment; null: CUDA is not pinned.
const pins::Pin* cuda_pin(const Activation& activation) {
    const pins::EffectivePin* found = activation.project.pins.find("cuda");
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
    return value.starts_with(k_scheme) ? percent_decode(value.substr(k_scheme.size()))
                                       : std::string(value);
}

rules::PipConstraints constraints_of(const std::string& prefix) {
    constexpr std::size_t k_most_bytes = 1U << 20U;
    host::DiskFileSystem files;
    rules::PipConstraints constraints;
    const std::string own = prefix + '/' + k_constraints;
    constraints.named =
        constraints_named_in(files.read_file(prefix + "/pip.conf", k_most_bytes).value_or(""));
    if (!constraints.named.empty()) {
        const auto text = files.read_file(constraints.named, k_most_bytes);
        constraints.is_there = text.has_value();
        constraints.is_own =
            constraints.named == own || real_path(constraints.named) == real_path(own);
        constraints.text = text.value_or("");
    }
    return constraints;
}

// A prefix of Python's that is no environment of its own: a system's, a build's, ~/.local.
bool has_python_sites(const std::string& prefix, Inventories& inventories) {
    const auto loan = inventories.lend(prefix);
    return loan && !loan->inventory().sites.empty();
}

// The sonames that frameworks load.
constexpr auto k_cuda_sonames = std::to_array<const char*>(
    {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so.7", "libcudart.so.13", "libcudart.so.12",
     "libcudart.so.11.0", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libcublas.so.13",
     "libcublas.so.12", "libcublas.so.11", "libcublasLt.so.13", "libcublasLt.so.12",
     "libcublasLt.so.11", "libnvJitLink.so.13", "libnvJitLink.so.12"});

rules::SearchedLibrary library_at(const std::string& directory, std::string name,
                                  const std::string& prefix) {
    const std::string real = real_path(directory + '/' + name);
    const auto at = real.rfind(".so.");
    return {std::move(name), directory,
            at == std::string::npos ? std::string() : real.substr(at + 4),
            real.starts_with(prefix + '/')};
}

// The CUDA libraries of LD_PRELOAD, then those in the directories of LD_LIBRARY_PATH, in their
// order.
std::vector<rules::SearchedLibrary>
searched_libraries(std::string preload, std::string_view library_path, const std::string& prefix) {
    constexpr std::size_t k_most_entries = 64;
    std::vector<rules::SearchedLibrary> found;
    std::ranges::replace(preload, ' ', ':'); // ld.so(8) takes both
    auto files = split(preload, ':');
    files.resize(std::min(files.size(), k_most_entries));
    for (const std::string_view file : files) {
        const auto slash = file.rfind('/');
        if (!file.starts_with('/')) {
            continue; // a bare name is searched for as any other
        }
        const std::string path(file);
        for (const std::string_view soname : k_cuda_sonames) {
            const auto stem = soname.substr(0, soname.find(".so") + 3);
            const auto name = file.substr(slash + 1);
            const auto real = real_path(path);
            // libcudnn.so, libcudnn.so.9 and libcudnn.so.9.14.0 are the one that 9 names.
            const bool same =
                name.starts_with(stem) && real.find(std::string(soname)) != std::string::npos;
            if (same && ::access(path.c_str(), F_OK) == 0) {
                auto library = library_at(path.substr(0, slash), std::string(name), prefix);
                library.name = soname;
                library.preloaded = true;
                found.push_back(std::move(library));
                break;
            }
        }
    }
    auto directories = split(library_path, ':');
    directories.resize(std::min(directories.size(), k_most_entries));
    for (const std::string_view directory : directories) {
        for (const char* const name : k_cuda_sonames) {
            const std::string path = std::string(directory) + '/' + name;
            if (directory.starts_with('/') && ::access(path.c_str(), F_OK) == 0) {
                found.push_back(library_at(std::string(directory), name, prefix));
            }
        }
    }
    return found;
}

// Where ld.so looks, and Python before the environment.
extensions::LoaderPlaces loader_places(std::string_view library_path,
                                       const std::vector<facts::EarlierSite>& earlier) {
    extensions::LoaderPlaces places;
    for (const auto directory : split(library_path, ':')) {
        places.directories.emplace_back(directory);
    }
    for (const char* const directory : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
        places.directories.emplace_back(directory);
    }
    for (const auto& site : earlier) {
        places.python_path.push_back(site.path);
    }
    return places;
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
            return unavailable("records-unreadable",
                               "cannot be read: " + note.reason +
                                   "; it holds records of what is installed",
                               "run this as a user who may read it, or `ls -ld " +
                                   shell_word(path) + "` shows its owner",
                               path);
        }
    }
    return {};
}

} // namespace

memory::EnvironmentMemories memories_of(const protocol::Caller& caller) {
    return memory::EnvironmentMemories(
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
    const memory::EnvironmentMemories memories = memories_of(caller);
    made->m_memory = memories.read(made->inventory().prefix);
    for (auto& kept : repair::KeptStore(memories.directory()).list(made->inventory().prefix)) {
        if (repair::can_be_put_back(kept, made->inventory())) {
            made->m_kept.push_back({std::move(kept.name), std::move(kept.version)});
        }
    }
    return made;
}

Result<std::unique_ptr<Examination>> Examination::of(const Activation& activation,
                                                     const facts::Host& host, bool named,
                                                     const protocol::Caller& caller,
                                                     Inventories& inventories) {
    CUDAENV_TRY(auto made, of(activation.project.prefix, caller, inventories));
    made->m_activation = activation;
    made->m_seen.host = host;
    made->m_depth = rules::CheckDepth::Machine;
    made->m_is_named = named;
    return made;
}

Result<std::unique_ptr<Examination>> Examination::of(const nlohmann::json& params,
                                                     const protocol::Caller& caller,
                                                     Machine& machine, rules::CheckDepth depth,
                                                     const GoesOn& wanted, const Earlier& earlier) {
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
    if (depth == rules::CheckDepth::Everything && earlier.files_unchanged &&
        !made->m_loan.changed()) {
        made->m_seen = *earlier.seen;
    } else if (depth == rules::CheckDepth::Everything) {
        made->look_at_files(caller, wanted);
        if (goes_on(wanted)) {
            made->look_at_cuda(params, caller, wanted, earlier);
        }
        if (!goes_on(wanted)) {
            return stopped();
        }
    }
    return made;
}

void Examination::look_at_files(const protocol::Caller& caller, const GoesOn& wanted) {
    host::DiskFileSystem files;
    inventory::DigestCache digests(
        host::default_cache_directory(caller.environment, caller.variable("HOME").value_or("")),
        probe::name_of_machine(files));
    m_seen.examined = inventory::examine(inventory(), m_claims, digests, 0, nullptr, wanted);
    digests.save(); // also where it was stopped: the next look begins there
}

void Examination::look_at_cuda(const nlohmann::json& params, const protocol::Caller& caller,
                               const GoesOn& wanted, const Earlier& earlier) {
    Looks looks(caller);
    if (earlier.seen != nullptr) {
        m_seen.host = earlier.seen->host;
    } else if (auto host = host_of(params, caller, looks)) {
        m_seen.host = std::move(*host);
    }
    m_seen.extensions = extensions::read_extensions(inventory(), wanted);
    m_seen.numpy_modules = extensions::read_numpy_modules(inventory(), wanted);
    m_seen.failing_imports = inventory::failing_imports(inventory(), wanted);
    const auto variable = [&](const char* name) { return caller.variable(name).value_or(""); };
    m_seen.python_path = variable("PYTHONPATH");
    m_seen.earlier_sites =
        inventory::earlier_sites(inventory(), {m_seen.python_path, variable("PYTHONNOUSERSITE"),
                                               variable("PYTHONUSERBASE"), variable("HOME")});
    m_seen.library_path = caller.variable("LD_LIBRARY_PATH").value_or("");
    m_seen.searched = searched_libraries(caller.variable("LD_PRELOAD").value_or(""),
                                         m_seen.library_path, inventory().prefix);
    m_seen.missing_libraries = extensions::missing_cuda_libraries(
        inventory(), loader_places(m_seen.library_path, m_seen.earlier_sites), wanted);
}

std::string key_of(const rules::CheckFinding& found) {
    return fingerprint(found.finding.code + '\n' + found.subject + '\n' + found.finding.title);
}

std::vector<rules::CheckFinding> Examination::findings(Accepted accepted) const {
    auto found = rules::check(context(), m_depth);
    if (accepted == Accepted::LeftOut && !m_memory.accepted.empty()) {
        std::erase_if(found, [&](const rules::CheckFinding& one) {
            return std::ranges::find(m_memory.accepted, key_of(one),
                                     &memory::AcceptedFinding::key) != m_memory.accepted.end();
        });
    }
    // What an install has not finished is neither missing nor mixed.
    const auto is_of_files = [](const rules::CheckFinding& one) {
        return one.finding.code < "CE110";
    };
    if (m_depth == rules::CheckDepth::Everything && std::ranges::any_of(found, is_of_files)) {
        if (const auto installer = repair::installer_at_work(inventory().prefix)) {
            std::erase_if(found, is_of_files);
            found.insert(found.begin(), rules::report(context(), "CE100", {}, installer->name,
                                                      {{"installer", installer->name},
                                                       {"process", installer->process}}));
        }
    }
    return found;
}

void Examination::withhold_harmful(std::vector<rules::CheckFinding>& findings) const {
    rules::withhold_harmful_repairs(context(), findings);
}

std::vector<rules::UnmetRequirement> Examination::unmet() const {
    return rules::unmet_requirements(context());
}

rules::CheckContext Examination::context() const {
    rules::CheckContext context{inventory(), m_claims, m_ownership};
    context.examined = m_seen.examined ? &*m_seen.examined : nullptr;
    if (m_depth != rules::CheckDepth::Records) {
        const auto& environment = m_activation.situation.environment;
        context.environment = environment ? &*environment : nullptr;
        context.host = m_seen.host ? &*m_seen.host : nullptr;
        context.toolkit = m_activation.choice.toolkit ? &*m_activation.choice.toolkit : nullptr;
        if (const pins::Pin* pin = cuda_pin(m_activation)) {
            context.cuda = pin->constraint;
            context.cuda_origin = pin->origin;
        }
    }
    if (m_depth == rules::CheckDepth::Everything) {
        context.extensions = m_seen.extensions;
        context.numpy_modules = m_seen.numpy_modules;
        context.missing_libraries = m_seen.missing_libraries;
        context.failing_imports = m_seen.failing_imports;
        context.earlier_sites = m_seen.earlier_sites;
        context.python_path = m_seen.python_path;
        context.library_path = m_seen.library_path;
        context.searched = m_seen.searched;
        context.constraints = constraints_of(inventory().prefix);
    }
    context.seen = m_memory.seen;
    context.kept = m_kept;
    context.is_named = m_is_named;
    return context;
}

memory::EnvironmentMemory Examination::memory_now() const {
    memory::EnvironmentMemory memory = m_memory;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    memory.seen =
        rules::remember(m_memory.seen, rules::seen_in(inventory(), m_ownership),
                        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    return memory;
}

Result<memory::EnvironmentMemory>
Examination::memory_accepting(const std::vector<std::string>& words) const {
    memory::EnvironmentMemory memory = memory_now();
    const auto all =
        words.empty() ? std::vector<rules::CheckFinding>() : findings(Accepted::Included);
    for (const std::string& word : words) {
        const auto colon = word.find(':');
        if (colon == std::string::npos || !word.starts_with("CE")) {
            return bad_input("bad-code", cudaenv::quoted(word) + " does not name a finding",
                             "--accept takes CODE:NAME, as in CE104:torch");
        }
        bool is_there = false;
        for (const rules::CheckFinding& found : all) {
            if (found.finding.code == word.substr(0, colon) &&
                found.subject == word.substr(colon + 1)) {
                is_there = true;
                std::erase_if(memory.accepted,
                              [&](const auto& one) { return one.key == key_of(found); });
                memory.accepted.push_back({key_of(found), found.finding.code, found.subject});
            }
        }
        if (!is_there) {
            return bad_input("no-such-finding",
                             "there is no finding " + cudaenv::quoted(word) + " in " +
                                 printable(inventory().prefix),
                             "`cudaenv check` shows the findings");
        }
    }
    return memory;
}

memory::EnvironmentMemory Examination::memory_with_kept(const facts::Distribution& kept) const {
    memory::EnvironmentMemory memory = memory_now();
    for (facts::SeenDistribution& seen : memory.seen) {
        if (seen.name == kept.name && seen.origin == facts::Origin::Wheel) {
            seen.origin = facts::Origin::Kept;
        }
    }
    return memory;
}

} // namespace cudaenv::daemon
