// How a rung loads its library.
#pragma once

#include "kernels/rungs/stop.hpp"

#include <string>
#include <vector>

namespace cudaenv::kernels {

struct LoadedLibrary {
    void* handle = nullptr;
    std::string path;  // links followed; of a refusal the refused file, by the name it had
    MaybeStop refusal; // why a file that exists was not loaded; none: no file exists
};
// dlopen of one file, which is reported first; null with the reason in `refusal`. A file that is
// cut short is not opened: mapping it would end the process.
void* open_whole(const std::string& file, MaybeStop& refusal);
// dlopen of the first of `files` that loads.
LoadedLibrary load_first(const std::vector<std::string>& files);

} // namespace cudaenv::kernels
