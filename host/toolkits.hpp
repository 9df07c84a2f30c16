// The CUDA toolkits of this machine: each once, however many names lead to it; what is broken is
// reported with its problem. A toolkit's own files are believed before any table.
#pragma once

#include "host/toolkit_places.hpp"
#include "host/version_question.hpp"
#include "solver/facts/host.hpp"

#include <string>
#include <vector>

namespace cudaenv::host {

struct ToolkitFindings {
    std::vector<facts::Toolkit> toolkits; // newest first, those with a problem last
    std::string absent;
    std::vector<std::string> notes;
};
ToolkitFindings find_toolkits(FileSystem& files, const Environment& environment,
                              const ToolkitSearch& search, const VersionAsker& asker);

// Reads what lies at `path`, whose symlinks are resolved. `machine` as uname has it.
facts::Toolkit inspect_toolkit(FileSystem& files, const std::string& path,
                               const std::string& machine, const VersionAsker& asker);

// Whether cuDNN of this version is for that CUDA, by the rows of its major.minor; a release that the
// table does not have is believed.
bool cudnn_serves(const DottedVersion& cudnn, const std::optional<DottedVersion>& cuda);

} // namespace cudaenv::host
