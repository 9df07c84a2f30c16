#include "shellhooks/activation/composition.hpp"

#include "base/printable.hpp"
#include "shellhooks/activation/build_variables.hpp"
#include "shellhooks/activation/directories.hpp"
#include "shellhooks/activation/host_compiler.hpp"
#include "shellhooks/activation/toolkit_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace cudaenv::activation {

namespace {

class Composer {
public:
    Composer(const Situation& situation, const CudaChoice& choice,
             const std::optional<facts::ToolkitLayout>& layout)
        : m_situation(situation), m_choice(choice),
          m_layout(layout.value_or(facts::ToolkitLayout{})) {}

    Composition compose() {
        if (m_choice.none() || !m_choice.toolkit) {
            // Without a toolkit nothing here can be built, and to run nothing needs to be set.
            return {};
        }
        set_root();
        add_path();
        add_library_path();
        set_compilers();
        set_cudnn();
        if (m_situation.config.purpose() == pins::Purpose::Build) {
            add_search_directories();
            set_targets();
            set_if_free("MAX_JOBS", std::to_string(build_jobs(m_situation.machine)));
            set_libdevice();
        }
        return std::move(m_result);
    }

private:
    void set(const char* name, std::string value) {
        m_result.patch.variables.push_back({name, std::move(value)});
    }

    // Never over what the user has set.
    void set_if_free(const char* name, std::string value) {
        if (!m_situation.users(name)) {
            set(name, std::move(value));
        }
    }

    void note(std::string text) { m_result.notes.push_back(std::move(text)); }

    // Entries of a list of the user's.
    [[nodiscard]] std::vector<std::string> entries_of(const char* list) const {
        std::vector<std::string> entries;
        if (const std::string* const value = m_situation.value(list)) {
            std::string_view rest = *value;
            while (true) {
                const auto colon = rest.find(':');
                entries.push_back(normal_directory(rest.substr(0, colon)));
                if (colon == std::string_view::npos) {
                    break;
                }
                rest.remove_prefix(colon + 1);
            }
        }
        return entries;
    }

    // The one way onto a list.
    void add(const char* list, const std::string& directory, patch::End end) {
        if (m_situation.is_kept(list) || !fits_on_a_list(directory)) {
            return;
        }
        const std::string entry = normal_directory(directory);
        const auto there = entries_of(list);
        if (end == patch::End::Back && std::ranges::find(there, entry) != there.end()) {
            return;
        }
        const bool again =
            std::ranges::any_of(m_result.patch.entries, [&](const patch::AddEntry& other) {
                return other.list == list && other.entry == entry;
            });
        if (!again) {
            m_result.patch.entries.push_back({list, entry, end});
        }
    }

    // What the user wrote stays as it is written where it leads to the toolkit.
    [[nodiscard]] std::string root() const {
        const auto by_hand = set_by_hand(m_situation);
        if (by_hand && by_hand->toolkit.path == m_choice.toolkit->path) {
            return by_hand->value;
        }
        return m_layout.path.empty() ? m_choice.toolkit->path : m_layout.path;
    }

    // Libraries read one or the other, and complain where they differ.
    void set_root() {
        if (m_situation.is_kept("CUDA_HOME") || m_situation.is_kept("CUDA_PATH")) {
            note("CUDA_HOME and CUDA_PATH unchanged: one of them is set in this shell without "
                 "being exported");
            return;
        }
        set("CUDA_HOME", root());
        set("CUDA_PATH", root());
    }

    // Directories of nvcc that are known, wherever they are.
    [[nodiscard]] bool holds_an_nvcc(const std::string& directory) const {
        const auto has = [&](const facts::Toolkit& toolkit) {
            return directory == normal_directory(toolkit.path) + "/bin" ||
                   std::ranges::any_of(toolkit.aliases, [&](const std::string& alias) {
                       return directory == normal_directory(alias) + "/bin";
                   });
        };
        return std::ranges::any_of(m_situation.host.toolkits, has) ||
               (m_situation.environment &&
                std::ranges::any_of(m_situation.environment->toolkits, has));
    }

    // PREFIX/bin has python and all else beside nvcc: where it stands on PATH is the user's order.
    [[nodiscard]] bool shares_its_bin() const {
        const std::string path = normal_directory(m_choice.toolkit->path);
        if (m_situation.environment && normal_directory(m_situation.environment->prefix) == path) {
            return true;
        }
        for (const char* const variable : {"CONDA_PREFIX", "VIRTUAL_ENV"}) {
            const std::string* const value = m_situation.value(variable);
            if (value != nullptr && normal_directory(*value) == path) {
                return true;
            }
        }
        return m_choice.toolkit->source.starts_with("conda environment ") ||
               std::ranges::any_of(m_situation.host.conda, [&](const facts::CondaInstall& conda) {
                   const std::string root = normal_directory(conda.path);
                   return path == root || lies_in(path, root + "/envs");
               });
    }

    void add_path() {
        if (m_layout.bin.empty()) {
            return;
        }
        const std::string bin = normal_directory(m_layout.bin);
        if (!fits_on_a_list(bin)) {
            warn_of_nvcc_before_the_systems();
            return;
        }
        const bool shared = shares_its_bin();
        // A module system that takes its directory off and puts it on again finds the list as it
        // left it where nothing was added.
        if (shared || m_situation.value("LOADEDMODULES") != nullptr) {
            for (const std::string& entry : entries_of("PATH")) {
                if (entry == bin) {
                    return;
                }
                if (holds_an_nvcc(entry)) {
                    break;
                }
            }
        }
        // The active environment's own bin belongs at the front; another's does not.
        if (!shared || m_choice.environments_own) {
            add("PATH", bin, patch::End::Front);
        } else {
            note("PATH unchanged: " + m_situation.shown(bin) + " holds more than CUDA");
        }
    }

    // Debian's nvcc is /usr/bin/nvcc: what stands before it on PATH is found first.
    void warn_of_nvcc_before_the_systems() {
        for (const std::string& entry : entries_of("PATH")) {
            if (is_system_directory(entry)) {
                return;
            }
            if (holds_an_nvcc(entry)) {
                m_result.warnings.push_back(fmt::format(
                    "nvcc on PATH is {}/nvcc, not the chosen one: /usr/bin/nvcc comes after it",
                    m_situation.shown(entry)));
                return;
            }
        }
    }

    void add_library_path() {
        const std::string& mode = m_situation.config.ld_library_path();
        if (mode == "never" || !fits_on_a_list(m_layout.library)) {
            return;
        }
        if (mode == "always") {
            add("LD_LIBRARY_PATH", m_layout.library, patch::End::Back);
            return;
        }
        const auto leave = [&](const std::string& why) {
            note("LD_LIBRARY_PATH unchanged: " + why);
        };
        const auto& environment = m_situation.environment;
        if (m_choice.environments_own && environment &&
            environment->kind == facts::EnvironmentKind::Conda) {
            leave("the environment's libraries find each other");
            return;
        }
        if (environment) {
            const auto shared = std::ranges::find_first_of(m_layout.sonames, environment->sonames);
            if (shared != m_layout.sonames.end()) {
                leave("the environment has its own " + printable(*shared));
                return;
            }
        }
        add("LD_LIBRARY_PATH", m_layout.library, patch::End::Back);
    }

    void set_compilers() {
        if (!m_situation.config.compilers()) {
            return;
        }
        if (!m_layout.bin.empty()) {
            const std::string nvcc = normal_directory(m_layout.bin) + "/nvcc";
            set_if_free("CUDACXX", nvcc);
            if (const std::string* const users = m_situation.value("CUDACXX");
                users != nullptr && *users != nvcc && *users != "nvcc") {
                note(fmt::format("CUDACXX={} is set by you and unchanged", printable(*users)));
            }
        }
        HostCompiler decided = decide_host_compiler(m_situation, *m_choice.toolkit);
        m_result.host_compiler = std::move(decided.compiler);
        for (patch::SetVariable& variable : decided.variables) {
            m_result.patch.variables.push_back(std::move(variable));
        }
        std::ranges::move(decided.notes, std::back_inserter(m_result.notes));
        std::ranges::move(decided.warnings, std::back_inserter(m_result.warnings));
    }

    [[nodiscard]] const facts::CudnnPlace* cudnn() const {
        const auto& environment = m_situation.environment;
        const auto& place = environment && environment->cudnn ? environment->cudnn : m_layout.cudnn;
        return place && !place->include_dir.empty() ? &*place : nullptr;
    }

    // As frameworks' build scripts read them: torch's extensions CUDNN_HOME or CUDNN_PATH (include
    // and lib64 below it), torch's FindCUDNN.cmake CUDNN_INCLUDE_DIR and CUDNN_LIBRARY (the file),
    // its older setup.py CUDNN_LIB_DIR too, TransformerEngine CUDNN_PATH. All of them or none: a
    // half would be another cuDNN's other half.
    void set_cudnn() {
        constexpr std::array k_names = {"CUDNN_HOME", "CUDNN_PATH", "CUDNN_INCLUDE_DIR",
                                        "CUDNN_LIB_DIR", "CUDNN_LIBRARY"};
        const facts::CudnnPlace* const place = cudnn();
        if (place == nullptr || std::ranges::any_of(k_names, [&](const char* name) {
                return m_situation.users(name);
            })) {
            return;
        }
        // -isystem /usr/include breaks the standard headers' #include_next.
        if (!place->root.empty() && !is_system_directory(place->root + "/include")) {
            set("CUDNN_HOME", place->root);
            set("CUDNN_PATH", place->root);
        }
        set("CUDNN_INCLUDE_DIR", place->include_dir);
        if (!place->library_dir.empty()) {
            set("CUDNN_LIB_DIR", place->library_dir);
        }
        if (!place->library.empty()) {
            set("CUDNN_LIBRARY", place->library);
        }
    }

    void add_search_directories() {
        add("CPLUS_INCLUDE_PATH", m_layout.include, patch::End::Back);
        add("LIBRARY_PATH", m_layout.library, patch::End::Back);
        if (const facts::CudnnPlace* const place = cudnn()) {
            add("CPLUS_INCLUDE_PATH", place->include_dir, patch::End::Back);
            add("LIBRARY_PATH", place->library_dir, patch::End::Back);
        }
        if (m_situation.environment) {
            add("CMAKE_PREFIX_PATH", m_situation.environment->prefix, patch::End::Back);
        }
        add("CMAKE_PREFIX_PATH", m_layout.path.empty() ? m_choice.toolkit->path : m_layout.path,
            patch::End::Back);
    }

    void set_targets() {
        DeviceTargets targets = device_targets(m_situation, m_choice.toolkit->version);
        if (!targets.torch.empty()) {
            set_if_free("TORCH_CUDA_ARCH_LIST", targets.torch);
            set_if_free("CUDAARCHS", targets.cmake);
        }
        std::ranges::move(targets.notes, std::back_inserter(m_result.notes));
    }

    void set_libdevice() {
        const std::string& root = m_layout.libdevice_root;
        // XLA splits its flags at white space.
        if (!root.empty() && root.find_first_of(" \t\n\"'") == std::string::npos) {
            set_if_free("XLA_FLAGS", "--xla_gpu_cuda_data_dir=" + root);
        }
    }

    const Situation& m_situation;
    const CudaChoice& m_choice;
    facts::ToolkitLayout m_layout;
    Composition m_result;
};

} // namespace

Composition compose(const Situation& situation, const CudaChoice& choice,
                    const std::optional<facts::ToolkitLayout>& layout) {
    return Composer(situation, choice, layout).compose();
}

} // namespace cudaenv::activation
