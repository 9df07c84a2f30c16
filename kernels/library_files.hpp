// The file of a shared library before it is loaded: which one it is, and defects that the loader
// would not report or not survive.
//
// Law: nothing is mapped and no CUDA call is made; only headers of ELF files are read.
#pragma once

#include "kernels/ladder_request.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// "libcublasLt.so.13", "libnvrtc-builtins.so.13.0".
bool is_named_like_cuda(std::string_view name);

// The file that is mapped for a library that was loaded, links followed; `fallback` where the
// loader does not say.
std::string mapped_file(void* handle, const std::string& fallback = {});
// The paths of all mapped libraries, as the loader has them and in its order; without this program
// and the kernel's vdso.
std::vector<std::string> mapped_paths();
// The path of a mapped library of that name ("libcudnn.so.9"), as the loader has it; empty: none
// is.
std::string mapped_library(std::string_view name);
// A mapped library whose name begins with `stem` ("libcudnn"), in another directory than `file`: a
// part that `file` opened by its name, and that came from elsewhere. Empty: there is none.
std::string part_from_elsewhere(std::string_view stem, const std::string& file);

// What the loader opens for an absolute path; for a name without a slash, where it finds that in
// LD_LIBRARY_PATH or the system's directories (its cache is not read).
struct FoundFile {
    std::string path; // empty: not there
    // Links of that name that lead to nothing, which it passes over.
    std::vector<std::string> links_to_nothing;
};
FoundFile find_as_the_loader(const std::string& name);

// The file that the loader's words are about after `name` was asked for: a library that it needs,
// where they begin with that one's path. Empty: there is no file.
std::string refused_file(std::string_view words, const std::string& name);

// "PATH: cannot read file data: Is a pipe": the loader would wait there for ever. Empty: it is not
// a pipe.
std::string pipe_in_its_place(const std::string& path);

// A library that is shorter than its headers say: mapping it ends in SIGBUS.
struct CutShort {
    std::string path;
    std::string sizes; // "has 100 bytes of at least 200"
};
// None: it is whole, or not an ELF file for this machine.
std::optional<CutShort> cut_short(const std::string& path);
// The same of a CUDA library in the same directory, or in another wheel of NVIDIA's: `path` may
// need it.
std::optional<CutShort> cut_short_beside(const std::string& path);

// Which files of CUDA's were mapped into this process while the ladder was climbed: what a verdict
// rests on, also where a library was needed by another one, or opened by it.
class LoadedLibraries {
public:
    explicit LoadedLibraries(const LadderLibraries& asked_for);

    // What is mapped now; again before something is unloaded. Only what the loader holds is read.
    void look();
    // Real paths, sorted: what CUDA's libraries are named like, and what lies beside those that
    // were asked for (not beside the C library: that is the system's directory). At most 64, those
    // of CUDA's names first.
    [[nodiscard]] std::vector<std::string> files() const;

private:
    std::set<std::string> m_directories;
    std::set<std::string> m_named;
    std::set<std::string> m_beside;
};

} // namespace cudaenv::kernels
