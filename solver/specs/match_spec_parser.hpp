// The steps from a MatchSpec's text to its checks. Internal to match_spec.
#pragma once

#include "solver/specs/match_spec.hpp"

namespace cudaenv::specs {

class MatchSpecParser {
public:
    explicit MatchSpecParser(std::string_view text) : m_text(text) {}
    Result<MatchSpec> parse();

private:
    using TextMatch = MatchSpec::TextMatch;
    using Field = MatchSpec::Field;

    Result<void> parse_package_file(std::string_view text);
    Result<void> parse_text(std::string text);
    Result<void> read_brackets(std::string& text);
    Result<void> read_channel(std::string_view text);
    Result<void> build();
    Result<void> build_check(const std::string& key, const std::string& value);
    Result<void> build_name(const std::string& value);
    Result<TextMatch> text_match(std::string_view value, bool fold_case) const;
    Result<MatchSpec::NumberMatch> number_match(const std::string& value) const;
    static MatchSpec::FeatureMatch feature_match(std::string_view value);

    void set(std::string_view key, std::string value);
    // Where `fragment` stands in what was read; where it was put together, the nearest place known.
    [[nodiscard]] std::size_t locate(std::string_view fragment) const;
    [[nodiscard]] tl::unexpected<Error> fail(std::string what, std::size_t offset,
                                             std::string hint = {}) const;
    [[nodiscard]] tl::unexpected<Error> fail_within(Error inner, std::string_view fragment) const;

    std::string_view m_text;
    MatchSpec m_spec;
    std::vector<std::pair<std::string, std::string>> m_brackets;
    std::size_t m_rest_at = 0; // where what follows the name begins, for columns
};

} // namespace cudaenv::specs
