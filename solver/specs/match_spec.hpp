// A conda MatchSpec: name, version, build and the bracket keys, matched as conda matches. Pure.
//
// Law: `parse` accepts and refuses what conda 26.7 does, and `matches` gives its answer, with two
// kinds of exception: a spec is refused for what only hostile input has (a regular expression with
// back-references, parentheses 100 deep), and a relative file name stays relative.
//
// "conda-forge/linux-64::pytorch=1.7=*cuda11.0*[build_number='>=2']" is channel, subdir, name,
// version 1.7, build *cuda11.0*, build_number >=2.
#pragma once

#include "base/result.hpp"
#include "solver/specs/channel_name.hpp"
#include "solver/specs/pattern.hpp"
#include "solver/specs/record.hpp"
#include "solver/specs/version.hpp"
#include "solver/specs/version_spec.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cudaenv::specs {

class MatchSpec {
public:
    // "pytorch", "pytorch=1.7=*cuda11.0*", "numpy >=1.19,<2", "python[version='3.8.*',
    // build=*cpython]". Error: "bad-spec", column set to where the text stops making sense.
    static Result<MatchSpec> parse(std::string_view text);

    // Lower case; "*" where the spec names no single package ("*[md5=...]", "py*").
    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::string& str() const { return m_text; } // the text as read
    // False for a spec that is just a name.
    [[nodiscard]] bool constrains_anything() const { return !m_checks.empty(); }
    // `version` is the record's version already parsed: the caller matches many specs against it.
    // The name must be equal before this is called; it is not looked at again.
    [[nodiscard]] bool matches(const PackageRecord& record, const Version& version) const {
        return evaluate(record, &version) == Verdict::Yes;
    }
    // As `matches`, but distinguishes no from "conda fails here" (`~=1`, a record without a valid version:
    // then `version` is null).
    [[nodiscard]] Verdict evaluate(const PackageRecord& record, const Version* version) const;
    // True for the name itself, and for every name a pattern as in "py*" covers. `name` in lower
    // case.
    [[nodiscard]] bool name_matches(std::string_view name) const;
    [[nodiscard]] bool name_is_pattern() const { return m_name_pattern.has_value(); }

    // What is asked of the version alone; null where nothing is.
    [[nodiscard]] const VersionSpec* version_spec() const;

    // A key as conda understands it ("version", "build", "channel", "subdir", "md5", ...), null
    // where the spec does not have it: in "numpy=1.7" version is "1.7*".
    [[nodiscard]] const std::string* value(std::string_view key) const;

private:
    friend class MatchSpecParser;

    // A text that must be equal, or match a glob or a regular expression.
    struct TextMatch {
        std::string text;
        bool is_glob = false;
        bool fold_case = false;
        std::optional<Regex> regex;

        [[nodiscard]] bool matches(std::string_view value) const;
    };
    // Conda's build_number: a number, or a constraint on it read as a version.
    struct NumberMatch {
        std::optional<std::uint64_t> exact;
        std::shared_ptr<const VersionSpec> constraint;
        bool never = false;     // a text that is no number
        bool undefined = false; // conda fails while matching
    };
    struct FeatureMatch {
        std::vector<std::string> wanted; // sorted, each once
    };
    enum class Field {
        Channel,
        Subdir,
        Version,
        Build,
        BuildNumber,
        TrackFeatures,
        Features,
        Url,
        Md5,
        Sha256,
        License,
        FileName,
        Flags,
        Extras
    };
    struct Check {
        Field field;
        std::variant<TextMatch, std::shared_ptr<const VersionSpec>, NumberMatch, FeatureMatch,
                     std::shared_ptr<const ChannelSpec>>
            match;
    };

    [[nodiscard]] static Verdict run(const Check& check, const PackageRecord& record,
                                     const Version* version);

    std::string m_text;
    std::string m_name = "*";
    std::optional<TextMatch> m_name_pattern;
    std::vector<Check>
        m_checks; // in conda's order: what comes first decides when a later one fails
    std::vector<std::pair<std::string, std::string>> m_values;
};

} // namespace cudaenv::specs
