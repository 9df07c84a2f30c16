#include "daemon/activation/activation.hpp"

#include "base/ranges.hpp"
#include "daemon/environment_of_request.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/pin_meaning.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "host/environments/environments.hpp"
#include "host/platform.hpp"
#include "protocol/json_field.hpp"

namespace cudaenv::daemon {

namespace {

// Which machine and which boot of it: what was exported elsewhere does not hold here.
std::string place_of_this_process() {
    static const std::string place = [] {
        host::DiskFileSystem disk;
        host::FileSystem& files = disk;
        std::string text = host::system_identity().hostname + '/' +
                           files.read_file("/proc/sys/kernel/random/boot_id").value_or("");
        std::erase(text, '\n');
        return text;
    }();
    return place;
}

// The environment that is meant is the active one, or with -p and -n another, as if it were active.
patch::Variables as_if_active(patch::Variables base, const std::string& prefix,
                              const protocol::Caller& caller) {
    if (prefix.empty() || prefix == project::active_prefix(caller.environment)) {
        return base;
    }
    base.erase("CONDA_PREFIX");
    base.erase("VIRTUAL_ENV");
    base[project::pin_file_of(prefix) == prefix + "/cudaenv.toml" ? "VIRTUAL_ENV"
                                                                  : "CONDA_PREFIX"] = prefix;
    return base;
}

Result<facts::Host> machine_of(const nlohmann::json& params, const protocol::Caller& caller,
                               const Activation& activation, Machine& machine, Looks& looks) {
    if (is_described(params, caller)) {
        return host_of(params, caller, looks);
    }
    const bool builds = activation.project.config.purpose() == pins::Purpose::Build;
    CUDAENV_TRY(const bool prompts, protocol::bool_field(params, "watch", false));
    return machine.host(activation.situation.base, activation.project.prefix,
                        activation.project.config.toolkit_directories(),
                        builds ? Gpus::Needed : Gpus::NotNeeded,
                        prompts ? Depth::Decision : Depth::Whole);
}

void decide(Activation& activation, Machine& machine) {
    activation.choice = activation::choose(activation.situation);
    activation.layout.reset();
    if (activation.choice.toolkit) {
        activation.layout = machine.layout(activation.choice.toolkit->path);
    }
    activation.composition =
        activation::compose(activation.situation, activation.choice, activation.layout);
}

} // namespace

bool is_described(const nlohmann::json& params, const protocol::Caller& caller) {
    return params.contains("host") || params.contains("driver") || params.contains("gpu") ||
           !caller.variable("CUDAENV_HOST").value_or("").empty();
}

Result<Activation> activation_of(const nlohmann::json& params, const protocol::Caller& caller,
                                 Machine& machine) {
    Looks looks(caller);
    return activation_of(params, caller, machine, looks);
}

Result<Activation> activation_of(const nlohmann::json& params, const protocol::Caller& caller,
                                 Machine& machine, Looks& looks) {
    Activation activation;
    activation::Situation& situation = activation.situation;
    situation.base = patch::undo(caller.environment);
    const auto disable = caller.variable("CUDAENV_DISABLE");
    activation.disabled = disable && !disable->empty();
    if (activation.disabled) {
        activation.applied.environment = situation.base;
        activation.changes = patch::difference(caller.environment, activation.applied.environment);
        return activation;
    }
    CUDAENV_TRY(const auto meant, environment_of_request(params, caller, looks));
    const std::string& prefix = meant.prefix;
    situation.base = as_if_active(std::move(situation.base), prefix, caller);
    CUDAENV_TRY(const auto cuda, protocol::string_field(params, "cuda"));
    patch::Variables asked = situation.base;
    if (cuda) {
        asked["CUDAENV_CUDA"] = *cuda;
    }
    CUDAENV_TRY(situation.kept, protocol::strings_field(params, "keep"));
    situation.inherited = patch::inherited_variables(caller.environment);
    project::LoadOptions options;
    options.prefix = prefix;
    options.unknown = pins::UnknownKeys::Note;
    options.user = caller.uid;
    CUDAENV_TRY(options.config_files, looks.config(options.unknown));
    CUDAENV_TRY(activation.project, project::load_project(caller.cwd, asked, options));
    activation.project.notes.insert(activation.project.notes.end(), meant.notes.begin(),
                                    meant.notes.end());
    situation.pins = activation.project.pins;
    situation.config = activation.project.config;
    if (activation.project.search.found) {
        situation.project_directory = activation.project.search.found->directory;
    }
    CUDAENV_TRY(situation.host, machine_of(params, caller, activation, machine, looks));
    situation.environment = machine.environment(prefix);
    situation.environment_named = names_environment(params);
    if (const auto* const chosen = situation.pins.find("cuda"); cuda && chosen != nullptr) {
        CUDAENV_TRY_VOID(check_release(chosen->pin.constraint, [&] {
            auto toolkits = situation.host.toolkits;
            if (situation.environment) {
                const auto& own = situation.environment->toolkits;
                toolkits.insert(toolkits.end(), own.begin(), own.end());
            }
            return toolkits;
        }));
    }
    if (situation.config.purpose() == pins::Purpose::Build) {
        situation.machine = environments::build_machine(looks.files);
    }
    const bool described = is_described(params, caller);
    if (!described) {
        activation.driver = probe::look_at_driver(looks.files);
    }
    decide(activation, machine);
    // Commands are offered: which tools are here is read for them alone.
    if (!described &&
        (!activation.choice.remedy.empty() || !activation.composition.warnings.empty())) {
        situation.host.conda = machine.conda(situation.base);
        decide(activation, machine);
    }
    if (const std::string warning = probe::tell_change(activation.driver); !warning.empty()) {
        activation.composition.warnings.push_back(warning);
    }
    if (activation.choice.none() && activation.project.notes.empty()) {
        activation.applied.environment = situation.base;
    } else {
        activation.applied =
            patch::update(caller.environment, activation.composition.patch, place_of_this_process(),
                          patch::context_of(situation.base, situation.project_directory));
    }
    activation.changes = patch::difference(caller.environment, activation.applied.environment);
    if (!described) {
        // With the LD_LIBRARY_PATH that the shell is about to have.
        if (const auto kept = bad_verdict(activation, caller, looks)) {
            situation.probed = in_short(*kept) + ": " + command_for(*kept);
        }
    }
    return activation;
}

namespace {

nlohmann::json toolkit_to_json(const activation::CudaChoice& choice) {
    if (!choice.toolkit) {
        return nullptr;
    }
    const auto& version = choice.toolkit->version;
    return {{"path", protocol::bytes_to_json(choice.toolkit->path)},
            {"version", value_or_null(version)},
            {"match", choice.match == activation::ToolkitMatch::Exact       ? "exact"
                      : choice.match == activation::ToolkitMatch::SameMajor ? "same-major"
                                                                            : "by-hand"}};
}

nlohmann::json compiler_to_json(const std::optional<facts::Compiler>& compiler) {
    if (!compiler) {
        return nullptr;
    }
    return {{"family", compiler->family == facts::CompilerFamily::Gcc ? "gcc" : "clang"},
            {"version", compiler->version.str()},
            {"path", protocol::bytes_to_json(compiler->path)}};
}

} // namespace

nlohmann::json activation_to_json(const Activation& activation, bool utf8) {
    const activation::CudaChoice& choice = activation.choice;
    nlohmann::json changes = nlohmann::json::array();
    for (const patch::Change& change : activation.changes) {
        changes.push_back(
            {{"name", change.name},
             {"value", change.value ? protocol::bytes_to_json(*change.value) : nlohmann::json()}});
    }
    nlohmann::json set = nlohmann::json::object();
    for (const patch::SetVariable& variable : activation.composition.patch.variables) {
        set[variable.name] = protocol::bytes_to_json(variable.value);
    }
    nlohmann::json front = nlohmann::json::object();
    nlohmann::json back = nlohmann::json::object();
    for (const patch::AddEntry& entry : activation.composition.patch.entries) {
        nlohmann::json& lists = entry.end == patch::End::Front ? front : back;
        lists[entry.list].push_back(protocol::bytes_to_json(entry.entry));
    }
    std::vector<std::string> warnings = choice.warnings;
    warnings.insert(warnings.end(), activation.composition.warnings.begin(),
                    activation.composition.warnings.end());
    std::vector<std::string> notes = activation.composition.notes;
    if (!choice.inherited.empty()) {
        // Where there is a hook, its prompt has said it.
        const bool hooked = activation.situation.base.contains(patch::k_found_home);
        (hooked ? notes : warnings).push_back(choice.inherited);
    }
    const std::string line =
        activation::quiet_line(activation.situation, choice, activation.composition, !utf8);
    const auto skipped = each_of(activation.project.skipped, &trusted::SkippedFile::text);
    return {{"schema", "cudaenv.env/1"},
            {"skipped", protocol::bytes_to_json(skipped)},
            {"cuda", bytes_or_null(choice.cuda)},
            {"rung", choice.rung ? nlohmann::json(name_of(*choice.rung)) : nlohmann::json()},
            {"reason", bytes_or_null(choice.reason)},
            {"origin", bytes_or_null(choice.origin)},
            {"toolkit", toolkit_to_json(choice)},
            {"host_compiler", compiler_to_json(activation.composition.host_compiler)},
            {"changes", std::move(changes)},
            {"set", std::move(set)},
            {"front", std::move(front)},
            {"back", std::move(back)},
            {"line", bytes_or_null(line)},
            {"notes", protocol::bytes_to_json(notes)},
            {"warnings", protocol::bytes_to_json(warnings)},
            {"remedy", bytes_or_null(choice.remedy)}};
}

} // namespace cudaenv::daemon
