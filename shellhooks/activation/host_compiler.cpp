#include "shellhooks/activation/host_compiler.hpp"

#include "base/ascii.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "shellhooks/activation/directories.hpp"
#include "shellhooks/activation/toolkit_match.hpp"
#include "solver/knowledge/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::activation {

namespace {

// A driver's path taken apart: /usr/bin/x86_64-linux-gnu-g++-9.
struct Driver {
    std::string directory; // "/usr/bin"; empty: from PATH
    std::string target;    // "x86_64-linux-gnu"
    std::string driver;    // g++, c++, gcc, cc, clang++, clang
    std::string version;   // "9"

    [[nodiscard]] bool is_clang() const { return driver.starts_with("clang"); }
};

std::optional<Driver> taken_apart(std::string_view path) {
    Driver parts;
    const auto slash = path.rfind('/');
    if (slash != std::string_view::npos) {
        parts.directory = normal_directory(path.substr(0, slash));
        path.remove_prefix(slash + 1);
    }
    auto pieces = split(path, '-');
    if (pieces.size() > 1 && !pieces.back().empty() &&
        std::ranges::all_of(pieces.back(), [](char c) { return is_digit(c) || c == '.'; })) {
        parts.version = pieces.back();
        pieces.pop_back();
    }
    parts.driver = pieces.back();
    pieces.pop_back();
    for (const std::string_view piece : pieces) {
        parts.target += (parts.target.empty() ? "" : "-") + std::string(piece);
    }
    constexpr std::array k_drivers =
        std::to_array<std::string_view>({"g++", "c++", "gcc", "cc", "clang++", "clang"});
    if (std::ranges::find(k_drivers, parts.driver) == k_drivers.end()) {
        return std::nullopt;
    }
    return parts;
}

// The program of a value such as CC's: "ccache gcc-9 -m64" runs gcc-9.
std::string program_of(std::string_view value) {
    for (const std::string_view word : split(value, ' ')) {
        const auto name = word.substr(word.rfind('/') + 1);
        if (!word.empty() && name != "ccache" && name != "sccache" && name != "distcc") {
            return std::string(word);
        }
    }
    return {};
}

// -ccbin of conda's NVCC_PREPEND_FLAGS and the like; nothing where there is no such option.
std::optional<std::string> ccbin_in(std::string_view flags) {
    const auto words = split(flags, ' ');
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (const std::string_view option : {"-ccbin", "--compiler-bindir"}) {
            if (words[i] == option) {
                return i + 1 < words.size() ? std::string(words[i + 1]) : std::string();
            }
            if (words[i].starts_with(option) && words[i].size() > option.size() &&
                words[i][option.size()] == '=') {
                return std::string(words[i].substr(option.size() + 1));
            }
        }
    }
    return std::nullopt;
}

class CompilerChoice {
public:
    CompilerChoice(const Situation& situation, const facts::Toolkit& toolkit)
        : m_situation(situation), m_toolkit(toolkit) {
        if (situation.environment) {
            for (const facts::Compiler& compiler : situation.environment->compilers) {
                m_compilers.push_back({compiler, true});
            }
        }
        for (const facts::Compiler& compiler : situation.host.compilers) {
            const bool again = std::ranges::any_of(m_compilers, [&](const Known& known) {
                return known.compiler.path == compiler.path;
            });
            if (!again) {
                const bool own =
                    situation.environment &&
                    lies_in(compiler.path, normal_directory(situation.environment->prefix));
                m_compilers.push_back({compiler, own});
            }
        }
    }

    HostCompiler decide() {
        if (!m_toolkit.gcc_max && !m_toolkit.clang_max) {
            return {}; // what it accepts is unknown
        }
        std::optional<std::string> explicit_one; // that nvcc or CMake use already
        std::string set_by;
        for (const char* const flags : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
            if (const std::string* const value = m_situation.value(flags)) {
                if (auto ccbin = ccbin_in(*value); ccbin && !explicit_one) {
                    explicit_one = std::move(ccbin);
                    set_by = flags;
                    m_ccbin_in_flags = true;
                }
            }
        }
        for (const char* const variable : {"NVCC_CCBIN", "CUDAHOSTCXX"}) {
            if (const std::string* const value = m_situation.value(variable);
                value != nullptr && !explicit_one) {
                explicit_one = *value;
                set_by = variable;
            }
        }
        const std::string* const cxx = m_situation.value("CXX");
        const std::string* const cc = m_situation.value("CC");
        const auto users_cxx = cxx != nullptr ? find(*cxx) : std::nullopt;
        const auto users_cc = cc != nullptr ? find(*cc) : std::nullopt;
        if (explicit_one) {
            m_result.compiler = find(*explicit_one);
            if (m_result.compiler && refuses(*m_result.compiler)) {
                m_result.warnings.push_back(fmt::format("{} is {}, but nvcc {} accepts {}", set_by,
                                                        m_situation.shown(m_result.compiler->path),
                                                        nvcc(), accepted()));
                return std::move(m_result);
            }
        } else if (users_cxx && !refuses(*users_cxx)) {
            m_result.compiler = users_cxx;
        } else if (cxx == nullptr && users_cc && !refuses(*users_cc)) {
            m_result.compiler = users_cc;
        } else {
            m_result.compiler = best();
            if (!m_result.compiler) {
                warn_that_none_fits();
            }
        }
        if (m_result.compiler) {
            set_variables(cxx, users_cxx, cc, users_cc);
        }
        return std::move(m_result);
    }

private:
    struct Known {
        facts::Compiler compiler;
        bool environments_own = false;
    };

    [[nodiscard]] std::string nvcc() const {
        return m_toolkit.version ? m_toolkit.version->str() : m_situation.shown(m_toolkit.path);
    }

    // "gcc 6-10 or clang 7-11"
    [[nodiscard]] std::string accepted() const {
        const auto range = [](const char* name, std::optional<int> low, std::optional<int> high) {
            if (!high) {
                return std::string();
            }
            return low ? fmt::format("{} {}-{}", name, *low, *high)
                       : fmt::format("{} up to {}", name, *high);
        };
        const std::string gcc = range("gcc", m_toolkit.gcc_min, m_toolkit.gcc_max);
        const std::string clang = range("clang", m_toolkit.clang_min, m_toolkit.clang_max);
        return gcc + (gcc.empty() || clang.empty() ? "" : " or ") + clang;
    }

    // nvcc's own check: only what is too new is refused (crt/host_config.h).
    [[nodiscard]] bool refuses(const facts::Compiler& compiler) const {
        const auto& newest =
            compiler.family == facts::CompilerFamily::Gcc ? m_toolkit.gcc_max : m_toolkit.clang_max;
        return newest && static_cast<int>(compiler.version.major()) > *newest;
    }

    [[nodiscard]] std::optional<facts::Compiler> find(std::string_view value) const {
        const std::string program = program_of(value);
        const auto asked = taken_apart(program);
        for (const Known& known : m_compilers) {
            if (known.compiler.path == program) {
                return known.compiler;
            }
            const auto has = taken_apart(known.compiler.path);
            if (asked && has && asked->is_clang() == has->is_clang() &&
                asked->target == has->target && asked->version == has->version &&
                (asked->directory.empty() || asked->directory == has->directory)) {
                return known.compiler;
            }
        }
        // A bare g++, cc or /usr/bin/c++ is the default one, whatever its real name is.
        const bool bare = asked && asked->version.empty() && asked->target.empty() &&
                          (asked->directory.empty() || asked->directory == "/usr/bin");
        for (const Known& known : m_compilers) {
            const bool clang = known.compiler.family == facts::CompilerFamily::Clang;
            if (bare && known.compiler.is_default && asked->is_clang() == clang) {
                return known.compiler;
            }
        }
        return std::nullopt;
    }

    // The environment's own g++ before the machine's. Never clang, which is left to the user: it
    // reads the newest g++'s libstdc++, and with one that nvcc refuses torch's headers do not
    // compile (docs/decisions/0009-activation.md).
    [[nodiscard]] std::optional<facts::Compiler> best() const {
        facts::Host own;
        facts::Host machine;
        for (const Known& known : m_compilers) {
            const auto parts = taken_apart(known.compiler.path);
            // Another environment's compiler brings that environment's headers along.
            const bool anothers = !known.environments_own && parts &&
                                  parts->target.find("-conda-") != std::string::npos;
            if (!anothers && known.compiler.family == facts::CompilerFamily::Gcc) {
                (known.environments_own ? own : machine).compilers.push_back(known.compiler);
            }
        }
        for (const facts::Host& host : {own, machine}) {
            if (const auto fitting = knowledge::compilers_for(m_toolkit, host); !fitting.empty()) {
                return fitting.front();
            }
        }
        return std::nullopt;
    }

    void warn_that_none_fits() {
        const bool clang_fits = std::ranges::any_of(m_compilers, [&](const Known& known) {
            return known.compiler.family == facts::CompilerFamily::Clang &&
                   knowledge::accepts_compiler(m_toolkit, known.compiler) == knowledge::Answer::Yes;
        });
        std::string text =
            fmt::format("nvcc {} accepts {}, and {}", nvcc(), accepted(),
                        clang_fits ? "only clang is here, with which torch extensions do not build"
                                   : "no such compiler is here");
        if (m_toolkit.gcc_max) {
            const auto recipe = knowledge::compiler_recipe(
                *m_toolkit.gcc_max, knowledge::GccBound::OrOlder, target_of(m_situation));
            text += ": " + (recipe.command.empty() ? recipe.text : recipe.command);
        }
        m_result.warnings.push_back(std::move(text));
    }

    void set(const char* name, const std::string& value) {
        m_result.variables.push_back({name, value});
    }

    void set_variables(const std::string* cxx, const std::optional<facts::Compiler>& users_cxx,
                       const std::string* cc, const std::optional<facts::Compiler>& users_cc) {
        const std::string& chosen = m_result.compiler->path;
        if (!m_situation.users("NVCC_CCBIN") && !m_ccbin_in_flags) {
            set("NVCC_CCBIN", chosen);
        }
        if (!m_situation.users("CUDAHOSTCXX")) {
            set("CUDAHOSTCXX", chosen);
        }
        // CC and CXX are a pair: what is unset follows what is set, and is left alone where that is
        // an unknown compiler.
        const auto partner = [&](const std::string* value,
                                 const std::optional<facts::Compiler>& known) {
            return value == nullptr || (known && refuses(*known)) ? std::optional(chosen)
                   : known                                        ? std::optional(known->path)
                                                                  : std::nullopt;
        };
        if (cxx == nullptr && !m_situation.is_kept("CXX") && !m_situation.is_kept("CC")) {
            if (const auto path = partner(cc, users_cc)) {
                set("CXX", *path);
            }
        } else if (users_cxx && refuses(*users_cxx) && !m_situation.is_kept("CXX")) {
            set("CXX", chosen);
            note_refused("CXX", *cxx, chosen);
        }
        if (cc == nullptr && !m_situation.is_kept("CC") && !m_situation.is_kept("CXX")) {
            const auto path = partner(cxx, users_cxx);
            if (const auto driver = path ? c_driver_beside(*path) : std::nullopt) {
                set("CC", *driver);
            }
        } else if (users_cc && refuses(*users_cc) && !m_situation.is_kept("CC")) {
            if (const auto driver = c_driver_beside(chosen)) {
                set("CC", *driver);
                note_refused("CC", *cc, *driver);
            }
        }
    }

    void note_refused(const char* name, const std::string& before, const std::string& after) {
        m_result.notes.push_back(fmt::format("{} is set to {}: nvcc {} accepts {} and refuses {}",
                                             name, m_situation.shown(after), nvcc(), accepted(),
                                             printable(before)));
    }

    const Situation& m_situation;
    const facts::Toolkit& m_toolkit;
    std::vector<Known> m_compilers;
    bool m_ccbin_in_flags = false;
    HostCompiler m_result;
};

} // namespace

std::optional<std::string> c_driver_beside(std::string_view cxx) {
    const auto parts = taken_apart(cxx);
    if (!parts || !parts->driver.ends_with("++")) {
        return std::nullopt;
    }
    const std::string driver = parts->driver == "g++"   ? "gcc"
                               : parts->driver == "c++" ? "cc"
                                                        : "clang";
    const auto slash = cxx.rfind('/');
    std::string path(cxx.substr(0, slash == std::string_view::npos ? 0 : slash + 1));
    path += parts->target.empty() ? "" : parts->target + '-';
    path += driver;
    path += parts->version.empty() ? "" : '-' + parts->version;
    return path;
}

HostCompiler decide_host_compiler(const Situation& situation, const facts::Toolkit& toolkit) {
    return CompilerChoice(situation, toolkit).decide();
}

} // namespace cudaenv::activation
