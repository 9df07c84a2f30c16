// The scripts that `cudaenv attach` puts into a conda environment. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

struct AttachScript {
    std::string path; // below the environment: "etc/conda/activate.d/zz-cudaenv.sh"
    std::string text;
};

// zz: the last to run when an environment is activated, the first when it is deactivated. `program`
// is cudaenv's path.
std::vector<AttachScript> attach_scripts(const std::string& program);
// Whether cudaenv wrote it; anything else is never overwritten or removed.
bool is_attach_script(std::string_view text);

} // namespace cudaenv::cli
