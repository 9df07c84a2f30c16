#include "solver/specs/match_spec.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/specs/match_spec_parser.hpp"

#include <algorithm>

namespace cudaenv::specs {

namespace {

// Conda compares the text of an absent value, which its language prints so.
constexpr std::string_view k_absent = "None";

std::string_view or_absent(std::string_view value) {
    return value.empty() ? k_absent : value;
}

bool same_features(const std::vector<std::string>& wanted, const std::vector<std::string>& given) {
    const auto is_wanted = [&](const std::string& feature) {
        return std::ranges::binary_search(wanted, feature);
    };
    const auto is_given = [&](const std::string& feature) { return is_one_of(feature, given); };
    return std::ranges::all_of(given, is_wanted) && std::ranges::all_of(wanted, is_given);
}

} // namespace

Result<MatchSpec> MatchSpec::parse(std::string_view text) {
    return MatchSpecParser(text).parse();
}

bool MatchSpec::TextMatch::matches(std::string_view value) const {
    if (fold_case) {
        const std::string lower = to_lower_ascii(value);
        return regex ? regex->matches(lower) : is_glob ? glob_matches(text, lower) : text == lower;
    }
    return regex ? regex->matches(value) : is_glob ? glob_matches(text, value) : text == value;
}

bool MatchSpec::name_matches(std::string_view name) const {
    return m_name_pattern ? m_name_pattern->matches(name) : m_text.empty() || m_name == name;
}

const std::string* MatchSpec::value(std::string_view key) const {
    for (const auto& [known, value] : m_values) {
        if (known == key) {
            return &value;
        }
    }
    return nullptr;
}

const VersionSpec* MatchSpec::version_spec() const {
    for (const Check& check : m_checks) {
        if (check.field == Field::Version) {
            return std::get<std::shared_ptr<const VersionSpec>>(check.match).get();
        }
    }
    return nullptr;
}

Verdict MatchSpec::evaluate(const PackageRecord& record, const Version* version) const {
    for (const Check& check : m_checks) {
        const Verdict verdict = run(check, record, version);
        if (verdict != Verdict::Yes) {
            return verdict;
        }
    }
    return Verdict::Yes;
}

Verdict MatchSpec::run(const Check& check, const PackageRecord& record, const Version* version) {
    const auto text = [&](std::string_view value) {
        return verdict_of(std::get<TextMatch>(check.match).matches(value));
    };
    switch (check.field) {
    case Field::Version:
        return std::get<std::shared_ptr<const VersionSpec>>(check.match)
            ->evaluate(record.version, version);
    case Field::Build:
        return text(record.build);
    case Field::Subdir:
        return text(record.subdir);
    case Field::Channel:
        return verdict_of(std::get<std::shared_ptr<const ChannelSpec>>(check.match)
                              ->matches(record.channel.empty() ? record.url : record.channel));
    case Field::BuildNumber: {
        const auto& number = std::get<NumberMatch>(check.match);
        if (number.undefined) {
            return Verdict::Undefined;
        }
        if (!number.constraint) {
            return verdict_of(!number.never && number.exact == record.build_number);
        }
        const std::string written = std::to_string(record.build_number);
        const auto parsed = Version::parse(written);
        return number.constraint->evaluate(written, parsed ? &*parsed : nullptr);
    }
    case Field::TrackFeatures:
        return verdict_of(
            same_features(std::get<FeatureMatch>(check.match).wanted, record.track_features));
    case Field::Features:
    case Field::Flags:
        // Nothing that a record here can have.
        return verdict_of(std::get<FeatureMatch>(check.match).wanted.empty());
    case Field::Extras:
        return Verdict::Undefined;
    case Field::Url:
        return text(or_absent(record.url));
    case Field::Sha256:
        return text(or_absent(record.sha256));
    case Field::Md5:
    case Field::License:
        return text(k_absent);
    case Field::FileName:
        return text(record.file_name.empty()
                        ? record.name + '-' + record.version + '-' + record.build
                        : record.file_name);
    }
    return Verdict::Undefined;
}

} // namespace cudaenv::specs
