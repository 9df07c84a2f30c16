#include "solver/specs/match_spec_parser.hpp"

#include "base/ascii.hpp"
#include "base/percent.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/specs/spec_text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::specs {

namespace {

constexpr bool is_lower_alnum(char c) {
    return is_digit(c) || is_lower(c);
}

// Longer words are not worth a guess at what was meant.
constexpr std::size_t k_longest_key = 32;
const std::array<std::string, 17> k_fields = {
    "channel",        "subdir",   "name", "version", "build",  "build_number",
    "track_features", "features", "url",  "md5",     "sha256", "license",
    "license_family", "fn",       "when", "extras",  "flags"};

} // namespace

tl::unexpected<Error> MatchSpecParser::fail(std::string what, std::size_t offset,
                                            std::string hint) const {
    auto failure = bad_input(
        "bad-spec", "\"" + redact_secrets(m_text) + "\" is not a package spec: " + std::move(what),
        std::move(hint));
    failure.value().column = static_cast<int>(std::min<std::size_t>(offset, 1 << 30)) + 1;
    return failure;
}

tl::unexpected<Error> MatchSpecParser::fail_within(Error inner, std::string_view fragment) const {
    std::size_t offset = locate(fragment);
    if (inner.column > 0 && m_text.substr(offset).starts_with(fragment)) {
        offset += static_cast<std::size_t>(inner.column) - 1;
    }
    return fail(std::move(inner.message), offset, std::move(inner.hint));
}

std::size_t MatchSpecParser::locate(std::string_view fragment) const {
    if (const std::size_t at = m_text.find(fragment, m_rest_at); at != k_npos) {
        return at;
    }
    const std::size_t at = m_text.find(fragment);
    return at == k_npos ? std::min(m_rest_at, m_text.size()) : at;
}

void MatchSpecParser::set(std::string_view key, std::string value) {
    for (auto& [known, old] : m_spec.m_values) {
        if (known == key) {
            old = std::move(value);
            return;
        }
    }
    m_spec.m_values.emplace_back(key, std::move(value));
}

Result<MatchSpec> MatchSpecParser::parse() {
    constexpr std::size_t k_longest_spec = std::size_t{1} << 20;
    if (m_text.size() > k_longest_spec) {
        return bad_input("bad-spec", "a package spec longer than 1 MiB");
    }
    m_spec.m_text = std::string(m_text);
    if (m_text.empty()) {
        return std::move(m_spec); // everything, as conda has it
    }
    if (m_text.ends_with('@')) {
        // "feature@": every package that tracks the feature.
        const std::string_view feature = strip(m_text.substr(0, m_text.size() - 1));
        MatchSpec::FeatureMatch wanted;
        if (!feature.empty()) {
            wanted.wanted.emplace_back(feature);
        }
        m_spec.m_name_pattern = TextMatch{"*", true, false, {}};
        m_spec.m_checks.push_back({Field::TrackFeatures, std::move(wanted)});
        m_spec.m_values.emplace_back("track_features", std::string(feature));
        return std::move(m_spec);
    }
    std::string_view text = m_text.substr(0, m_text.find('#'));
    text = text.substr(0, text.find(" if "));
    if (package_extension(text) > 0) {
        CUDAENV_TRY_VOID(parse_package_file(text));
    } else {
        CUDAENV_TRY_VOID(parse_text(std::string(text)));
    }
    CUDAENV_TRY_VOID(build());
    return std::move(m_spec);
}

Result<void> MatchSpecParser::parse_package_file(std::string_view text) {
    std::string url(text);
    if (!is_url(url)) {
        std::ranges::replace(url, '\\', '/');
        const std::string path = normal_path(url);
        url = percent_decode("file://" + (path.starts_with('/') ? path : '/' + path));
    }
    auto channel = ChannelName::parse(url);
    if (!channel) {
        return fail_within(std::move(channel).error(), text);
    }
    if (channel->platform.empty()) {
        const std::size_t slash = url.rfind('/');
        const std::string file_name = url.substr(slash + 1);
        set("name", "*");
        set("fn", url.starts_with("file://") ? percent_decode(file_name) : file_name);
        set("url", url);
        return {};
    }
    const std::string& file = channel->package_filename;
    const std::string_view base =
        std::string_view(file).substr(0, file.size() - package_extension(file));
    const std::size_t build_dash = base.rfind('-');
    const std::size_t version_dash =
        build_dash == k_npos || build_dash == 0 ? k_npos : base.rfind('-', build_dash - 1);
    if (version_dash == k_npos) {
        return fail("a package file name has a name, a version and a build", locate(file),
                    "expected NAME-VERSION-BUILD.conda");
    }
    set("channel", channel->canonical());
    set("subdir", channel->platform);
    set("name", std::string(base.substr(0, version_dash)));
    set("version", std::string(base.substr(version_dash + 1, build_dash - version_dash - 1)));
    set("build", std::string(base.substr(build_dash + 1)));
    set("fn", file);
    set("url", url);
    return {};
}

Result<void> MatchSpecParser::read_brackets(std::string& text) {
    const std::string section(last_section(text, '[', ']'));
    if (section.empty()) {
        return {};
    }
    text = without(text, section);
    const std::string_view inner = std::string_view(section).substr(1, section.size() - 2);
    for (std::size_t at = 0; at < inner.size();) {
        KeyValue found;
        if (!read_key_value(inner, at, found)) {
            ++at;
            continue;
        }
        if (found.value.empty()) {
            return fail("the key \"" + std::string(found.key) + "\" in brackets has no value",
                        locate(section) +
                            static_cast<std::size_t>(found.key.data() - section.data()),
                        "expected key=value, as in [build_number='>=2']");
        }
        std::string value(found.value);
        if (found.key == "version") {
            value = sanitize_version(value, false);
        }
        const std::string key(found.key);
        const auto known =
            std::ranges::find_if(m_brackets, [&](const auto& entry) { return entry.first == key; });
        if (known != m_brackets.end()) {
            known->second = std::move(value);
        } else {
            m_brackets.emplace_back(key, std::move(value));
        }
    }
    return {};
}

Result<void> MatchSpecParser::read_channel(std::string_view text) {
    if (text.empty()) {
        return {};
    }
    auto parsed = ChannelName::parse(text);
    if (!parsed) {
        return fail_within(std::move(parsed).error(), text);
    }
    const std::string base = parsed->base_url();
    set("channel",
        has_scheme(text) && parsed->is_elsewhere() && !base.empty() ? base : parsed->canonical());
    if (!parsed->platform.empty()) {
        set("subdir", parsed->platform);
    }
    return {};
}

Result<void> MatchSpecParser::parse_text(std::string text) {
    CUDAENV_TRY_VOID(read_brackets(text));
    // Parentheses once held options; conda still drops them.
    if (const std::string dropped(last_section(text, '(', ')')); !dropped.empty()) {
        text = without(text, dropped);
    }
    std::string_view rest = text;
    std::string_view channel;
    if (const std::size_t colon = rest.rfind(':'); colon != k_npos) {
        if (const std::size_t before = colon == 0 ? k_npos : rest.rfind(':', colon - 1);
            before != k_npos) {
            channel = rest.substr(0, before);
        }
        rest = rest.substr(colon + 1);
    }

    const std::size_t name_end = std::min(rest.find_first_of(" =<>!~"), rest.size());
    std::string name(rest.substr(0, name_end));
    m_rest_at = m_text.find(rest) == k_npos ? 0 : m_text.find(rest);
    if (name.empty()) {
        return fail("no package name", m_rest_at, "a spec begins with a name, as in numpy>=1.19");
    }
    if (name.find('*') == std::string::npos) {
        const std::string lower = to_lower_ascii(name);
        const auto bad = std::ranges::find_if_not(
            lower, [](char c) { return is_lower_alnum(c) || c == '.' || c == '_' || c == '-'; });
        if (bad != lower.end() && *bad == '[') {
            return fail("more than one pair of brackets, or one without its end",
                        m_rest_at + static_cast<std::size_t>(bad - lower.begin()),
                        "put all keys into one, as in [build='py*', subdir=noarch]");
        }
        if (bad != lower.end()) {
            return fail("a character that package names do not have",
                        m_rest_at + static_cast<std::size_t>(bad - lower.begin()),
                        "a name consists of letters, digits, and . _ -");
        }
        if (!is_package_name(lower)) {
            return fail("\"" + name + "\" is not a package name", m_rest_at,
                        "a name begins with a letter, a digit or _ and has no two of . - _ "
                        "together");
        }
    }
    m_rest_at += name_end;

    // What follows the name counts up to the end of its line, and a lone operator is looked over.
    std::string_view constraint = rest.substr(name_end);
    constraint = constraint.substr(0, constraint.find('\n'));
    if (constraint.size() < 2) {
        constraint = {};
    }
    constraint = strip(constraint);
    if (constraint.find('[') != k_npos) {
        return fail("more than one pair of brackets", locate("["),
                    "put all keys into one, as in [build='py*', subdir=noarch]");
    }

    set("name", std::move(name));
    CUDAENV_TRY_VOID(read_channel(channel));
    const auto take = [&](std::string_view key) -> std::optional<std::string> {
        const auto found =
            std::ranges::find_if(m_brackets, [&](const auto& entry) { return entry.first == key; });
        if (found == m_brackets.end()) {
            return std::nullopt;
        }
        std::string value = std::move(found->second);
        m_brackets.erase(found);
        return value;
    };
    if (const auto bracket_channel = take("channel")) {
        CUDAENV_TRY_VOID(read_channel(*bracket_channel));
    }
    if (auto subdir = take("subdir")) {
        set("subdir", std::move(*subdir));
    }
    take("name"); // what stands outside wins
    if (!constraint.empty()) {
        const VersionAndBuild parts = split_build(constraint);
        set("version", sanitize_version(parts.version, parts.build.has_value()));
        if (parts.build) {
            set("build", *parts.build);
        }
    }
    for (auto& [key, value] : m_brackets) {
        set(key, std::move(value));
    }
    return {};
}

Result<void> MatchSpecParser::build() {
    for (const auto& [key, value] : m_spec.m_values) {
        CUDAENV_TRY_VOID(build_check(key, value));
    }
    return {};
}

Result<void> MatchSpecParser::build_name(const std::string& value) {
    CUDAENV_TRY(TextMatch match, text_match(to_lower_ascii(value), false));
    if (match.is_glob || match.regex) {
        m_spec.m_name_pattern = std::move(match);
    } else {
        m_spec.m_name = std::move(match.text);
    }
    return {};
}

Result<void> MatchSpecParser::build_check(const std::string& key, const std::string& value) {
    const auto add = [&](Field field, auto match) {
        m_spec.m_checks.push_back({field, std::move(match)});
    };
    const auto add_exact = [&](Field field) { add(field, TextMatch{value, false, false, {}}); };
    if (key == "name") {
        return build_name(value);
    }
    if (key == "version") {
        auto parsed = VersionSpec::parse(value);
        if (!parsed) {
            return fail_within(std::move(parsed).error(), value);
        }
        if (!parsed->is_anything()) {
            add(Field::Version, std::make_shared<const VersionSpec>(std::move(*parsed)));
        }
    } else if (key == "build") {
        CUDAENV_TRY(TextMatch match, text_match(value, false));
        if (match.text != "*") {
            add(Field::Build, std::move(match));
        }
    } else if (key == "build_number") {
        CUDAENV_TRY(MatchSpec::NumberMatch match, number_match(value));
        add(Field::BuildNumber, std::move(match));
    } else if (key == "channel") {
        auto parsed = ChannelSpec::parse(value);
        if (!parsed) {
            return fail_within(std::move(parsed).error(), value);
        }
        add(Field::Channel, std::make_shared<const ChannelSpec>(std::move(*parsed)));
    } else if (key == "subdir") {
        add_exact(Field::Subdir);
    } else if (key == "url") {
        add_exact(Field::Url);
    } else if (key == "md5") {
        add_exact(Field::Md5);
    } else if (key == "sha256") {
        add_exact(Field::Sha256);
    } else if (key == "fn") {
        add_exact(Field::FileName);
    } else if (key == "license" || key == "license_family") {
        CUDAENV_TRY(TextMatch match, text_match(to_lower_ascii(value), true));
        add(Field::License, std::move(match));
    } else if (key == "when") {
        // A condition says when the spec counts, not what it matches.
        CUDAENV_TRY_VOID(text_match(to_lower_ascii(value), true));
    } else if (key == "track_features") {
        add(Field::TrackFeatures, feature_match(value));
    } else if (key == "features") {
        add(Field::Features, feature_match(value));
    } else if (key == "flags") {
        add(Field::Flags, feature_match(value));
    } else if (key == "extras") {
        add(Field::Extras, feature_match(value));
    } else if (key != "optional" && key != "target" && key != "_original_spec_str") {
        const auto near = key.size() > k_longest_key ? std::nullopt : nearest(key, k_fields);
        return fail("\"" + key + "\" is not a key that a spec has", locate(key + "="),
                    near ? "did you mean " + *near + "?"
                         : "keys are version, build, build_number, channel, subdir, ...");
    }
    return {};
}

Result<MatchSpec::TextMatch> MatchSpecParser::text_match(std::string_view value,
                                                         bool fold_case) const {
    TextMatch match{std::string(value), false, fold_case, std::nullopt};
    if (value.starts_with('^') && value.ends_with('$')) {
        auto compiled = Regex::compile(value);
        if (!compiled) {
            return fail_within(std::move(compiled).error(), value);
        }
        match.regex = std::move(*compiled);
    } else {
        match.is_glob = value.find('*') != k_npos;
    }
    return match;
}

Result<MatchSpec::NumberMatch> MatchSpecParser::number_match(const std::string& value) const {
    MatchSpec::NumberMatch match;
    const std::string_view text = strip(value);
    if (text.empty()) {
        return fail("build_number is empty", locate(value), "expected a number, as in 2 or >=2");
    }
    std::string_view digits = text;
    const bool negative = digits[0] == '-';
    if (negative || digits[0] == '+') {
        digits.remove_prefix(1);
    }
    bool is_number = !digits.empty() && is_digit(digits.front()) && is_digit(digits.back());
    bool too_large = false;
    std::uint64_t number = 0;
    for (std::size_t i = 0; is_number && i < digits.size(); ++i) {
        if (is_digit(digits[i])) {
            const auto digit = static_cast<std::uint64_t>(digits[i] - '0');
            too_large = too_large || number > (UINT64_MAX - digit) / 10;
            number = number * 10 + digit;
        } else {
            is_number = digits[i] == '_' && is_digit(digits[i + 1]);
        }
    }
    if (is_number) {
        if (too_large || (negative && number > 0)) {
            match.never = true;
        } else {
            match.exact = number;
        }
        return match;
    }
    constexpr std::string_view k_operators = "=<>!";
    if (text == "*" || k_operators.find(text[0]) != k_npos) {
        auto parsed = VersionSpec::parse_number_relation(text);
        if (!parsed) {
            return fail_within(std::move(parsed).error(), text);
        }
        match.constraint = std::make_shared<const VersionSpec>(std::move(*parsed));
    } else if (text.front() == '^' || text.back() == '$') {
        if (text.front() != '^' || text.back() != '$') {
            return fail("a regular expression begins with ^ and ends with $", locate(value));
        }
        CUDAENV_TRY_VOID(text_match(text, false));
        match.undefined = true; // a number is no text to match
    } else {
        match.never = true;
    }
    return match;
}

MatchSpec::FeatureMatch MatchSpecParser::feature_match(std::string_view value) {
    MatchSpec::FeatureMatch match;
    std::string commas(value);
    std::ranges::replace(commas, ' ', ',');
    for (const std::string_view piece : split(commas, ',')) {
        if (const std::string_view feature = strip(piece); !feature.empty()) {
            match.wanted.emplace_back(feature);
        }
    }
    sort_unique(match.wanted);
    return match;
}

} // namespace cudaenv::specs
