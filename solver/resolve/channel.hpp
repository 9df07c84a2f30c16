// A conda channel as the solver sees it: a port. host/channels reads real ones; tests make their
// own.
#pragma once

#include "base/result.hpp"
#include "solver/specs/record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::resolve {

// One channel with its subdirs (linux-64 and noarch) merged. Only what is asked for is decoded.
class Channel {
public:
    virtual ~Channel() = default;
    [[nodiscard]] virtual const std::string& name() const = 0; // as the user named it, redacted
    // Every record of `package` appended to `out`, in the order of the files; nothing where there
    // is none.
    virtual Result<void> records_of(std::string_view package,
                                    std::vector<specs::PackageRecord>& out) const = 0;
    [[nodiscard]] virtual bool has(std::string_view package) const = 0;
    // All package names, sorted: for "did you mean".
    [[nodiscard]] virtual std::vector<std::string> names() const = 0;
};

} // namespace cudaenv::resolve
