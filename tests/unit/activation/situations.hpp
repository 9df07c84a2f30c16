// Situations to decide in: a machine with a few toolkits and compilers, and what is added to it.
#pragma once

#include "shellhooks/activation/composition.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::activation::test {

inline facts::Toolkit toolkit(const std::string& path, const std::string& version) {
    facts::Toolkit made;
    made.path = path;
    made.version = DottedVersion::of(version);
    made.nvcc = true;
    made.source = "/usr/local";
    const DottedVersion release = DottedVersion::of(made.version->major_minor());
    made.gcc_min = 6;
    made.gcc_max = release < DottedVersion::of("11.4") ? 10
                   : release < DottedVersion::of("12") ? 11
                                                       : 13;
    made.clang_min = 7;
    made.clang_max = release < DottedVersion::of("12") ? 14 : 17;
    return made;
}

inline facts::Compiler gcc(const std::string& path, const std::string& version,
                           bool is_default = false) {
    return {facts::CompilerFamily::Gcc, DottedVersion::of(version), path, path, is_default};
}

inline facts::Compiler clang(const std::string& path, const std::string& version) {
    return {facts::CompilerFamily::Clang, DottedVersion::of(version), path, path, false};
}

inline facts::FrameworkBuild torch(const std::string& version, const std::string& cuda) {
    return {"torch", version, DottedVersion::of(cuda), false, "/e/version.py"};
}

inline pins::EffectivePin pin(pins::PinSource source, const std::string& constraint) {
    return {{"cuda", constraint, "/p/cudaenv.toml line 2"}, source};
}

inline facts::EnvironmentFacts environment(facts::EnvironmentKind kind,
                                           const std::string& prefix = "/home/u/envs/apex") {
    facts::EnvironmentFacts made;
    made.prefix = prefix;
    made.kind = kind;
    return made;
}

// CUDA 11.3 and 12.4 under /usr/local, g++ 12 by default with g++-9 beside it.
inline Situation machine() {
    Situation made;
    made.base = {{"HOME", "/home/u"}, {"PATH", "/home/u/bin:/usr/bin:/bin"}};
    made.host.machine = "x86_64";
    made.host.toolkits = {toolkit("/usr/local/cuda-12.4", "12.4.131"),
                          toolkit("/usr/local/cuda-11.3", "11.3.109")};
    made.host.toolkits[0].aliases = {"/usr/local/cuda"};
    made.host.compilers = {gcc("/usr/bin/g++-9", "9.4.0"), gcc("/usr/bin/g++-12", "12.2.0", true),
                           clang("/usr/bin/clang++-14", "14.0.6")};
    made.config = pins::Config::merge({});
    return made;
}

// A config that says `toml`, as the user's own.
inline pins::Config config(const std::string& toml) {
    const auto file =
        pins::parse_config(toml, "/home/u/.config/cudaenv/config.toml", pins::FileScope::User);
    pins::ConfigLayers layers;
    layers.user = &*file;
    return pins::Config::merge(layers);
}

inline facts::ToolkitLayout layout(const std::string& path, const std::string& cudart) {
    facts::ToolkitLayout made;
    made.path = path;
    made.bin = path + "/bin";
    made.include = path + "/include";
    made.library = path + "/lib64";
    made.libdevice_root = path;
    made.sonames = {"libcublas.so.11", "libcudart.so." + cudart};
    return made;
}

inline std::optional<std::string> set_to(const Composition& composition, const std::string& name) {
    for (const patch::SetVariable& variable : composition.patch.variables) {
        if (variable.name == name) {
            return variable.value;
        }
    }
    return std::nullopt;
}

inline std::vector<std::string> added(const Composition& composition, const std::string& list,
                                      patch::End end) {
    std::vector<std::string> entries;
    for (const patch::AddEntry& entry : composition.patch.entries) {
        if (entry.list == list && entry.end == end) {
            entries.push_back(entry.entry);
        }
    }
    return entries;
}

} // namespace cudaenv::activation::test
