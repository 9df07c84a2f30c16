// The argument of `cudaenv-probe --ladder`, read (docs/probe.md). Pure. What is absent is what is
// not asked for; what this version does not know is passed over.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// Places of each library by its word in the request ("cudart"), the first that loads is taken.
class LadderLibraries {
public:
    // Empty where none is named.
    [[nodiscard]] const std::vector<std::string>& of(std::string_view word) const;
    void set(std::string word, std::vector<std::string> files);
    [[nodiscard]] std::vector<std::string> all() const;

private:
    std::map<std::string, std::vector<std::string>, std::less<>> m_files;
};

struct LadderRequest {
    bool full = false;
    bool all_gpus = false;     // CUDA_VISIBLE_DEVICES is set aside
    std::optional<int> parent; // the process that waits for the answer; none: unknown
    LadderLibraries libraries;
};

// Error: "bad-request".
Result<LadderRequest> read_ladder_request(std::string_view text);

} // namespace cudaenv::kernels
