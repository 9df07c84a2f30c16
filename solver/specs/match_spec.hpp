// A conda MatchSpec: name, version, build and the bracket keys, matched as conda matches. Pure.
#pragma once

#include "base/result.hpp"
#include "solver/specs/record.hpp"
#include "solver/specs/version.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::specs {

class MatchSpec {
public:
    // "pytorch", "pytorch=1.7=*cuda11.0*", "numpy >=1.19,<2", "python[version='3.8.*', build=*cpython]".
    // Error: "bad-spec", column set to where the text stops making sense.
    static Result<MatchSpec> parse(std::string_view text);

    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const std::string& str() const; // the text as read
    // False for a spec that is just a name.
    [[nodiscard]] bool constrains_anything() const;
    // `version` is the record's version already parsed: the caller matches many specs against it.
    // The name must be equal before this is called; it is not looked at again.
    [[nodiscard]] bool matches(const PackageRecord& record, const Version& version) const;
};

} // namespace cudaenv::specs
