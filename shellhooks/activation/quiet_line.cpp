#include "base/printable.hpp"
#include "shellhooks/activation/composition.hpp"

#include <fmt/format.h>

namespace cudaenv::activation {

namespace {

// "g++-9"; "g++ 12" where the program's name is longer than what it is.
std::string name_of(const facts::Compiler& compiler) {
    const std::string name = compiler.path.substr(compiler.path.rfind('/') + 1);
    if (name.starts_with("g++") || name.starts_with("clang++")) {
        return printable(name);
    }
    return fmt::format("{} {}", compiler.family == facts::CompilerFamily::Gcc ? "g++" : "clang++",
                       compiler.version.major());
}

// A range or a bare major says less than the toolkit that was found for it.
std::string cuda_of(const CudaChoice& choice) {
    const auto version = DottedVersion::parse(choice.cuda);
    if ((!version || version->parts().size() < 2) && choice.toolkit && choice.toolkit->version) {
        return choice.toolkit->version->major_minor();
    }
    return printable(choice.cuda);
}

// Bytes that are not ASCII as \xNN.
std::string in_ascii(std::string_view text) {
    std::string plain;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        plain += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
    }
    return plain;
}

} // namespace

std::string quiet_line(const Situation& situation, const CudaChoice& choice,
                       const Composition& composition, bool ascii) {
    if (choice.none()) {
        return {};
    }
    const std::string between = ascii ? " - " : " · ";
    const std::string cuda = cuda_of(choice);
    std::string line = cuda.empty() ? std::string("CUDA") : "CUDA " + cuda;
    line += between + (choice.toolkit          ? situation.shown(choice.toolkit->path)
                       : choice.silent.empty() ? "no nvcc"
                                               : choice.silent + " does not answer");
    if (composition.host_compiler) {
        line += between + name_of(*composition.host_compiler);
    }
    line += "   (" + choice.reason + ')';
    if (!situation.probed.empty()) {
        line += "   ! probe " + printable(situation.probed);
    }
    return ascii ? in_ascii(line) : line;
}

} // namespace cudaenv::activation
