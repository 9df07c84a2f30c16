// The file of a shared library before the loader has it: which one it is, and what is wrong with it
// that the loader would not say or would not outlive.
//
// Law: nothing is mapped and nothing of CUDA's is asked; headers of ELF files are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// "libcublasLt.so.13", "libnvrtc-builtins.so.13.0".
bool is_named_like_cuda(std::string_view name);
std::string real_path(const std::string& path); // empty where there is none

// What the loader opens for an absolute path; for a name without a slash, where it finds that in
// LD_LIBRARY_PATH or the system's directories (its cache is not read).
struct FoundFile {
    std::string path; // empty: not there
    // Links of that name that lead to nothing, which it passes over.
    std::vector<std::string> links_to_nothing;
};
FoundFile find_as_the_loader(const std::string& name);

// The file of which the loader's words are, or those of cut_short(), after `name` was asked for: of
// a library that this one needs, where they begin with its path. Empty: there is none.
std::string refused_file(std::string_view words, const std::string& name);

// "PATH: cannot read file data: Is a pipe": the loader would wait there for ever. Empty: it is none.
std::string pipe_in_its_place(const std::string& path);
// "cut short: PATH has 100 bytes of at least 200": to map it ends in SIGBUS. Empty: it is whole, or
// no ELF file of this machine's.
std::string cut_short(const std::string& path);
// The same of one of CUDA's libraries that lie beside it, or in another wheel of NVIDIA's: `path`
// may need it.
std::string cut_short_beside(const std::string& path);

} // namespace cudaenv::kernels
