#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/specs/pep440.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudaenv::specs {

namespace {

struct OperatorText {
    std::string_view text;
    Specifier::Operator relation;
};
// The longer ones first.
constexpr std::array<OperatorText, 8> k_operators = {{{"===", Specifier::Operator::Identical},
                                                      {"==", Specifier::Operator::Equal},
                                                      {"!=", Specifier::Operator::NotEqual},
                                                      {"<=", Specifier::Operator::LessEqual},
                                                      {">=", Specifier::Operator::GreaterEqual},
                                                      {"~=", Specifier::Operator::Compatible},
                                                      {"<", Specifier::Operator::Less},
                                                      {">", Specifier::Operator::Greater}}};

tl::unexpected<Error> bad_clause(std::string message, std::size_t offset, std::string hint = {}) {
    auto failure = bad_input("bad-requirement", std::move(message), std::move(hint));
    failure.value().column = static_cast<int>(offset) + 1;
    return failure;
}

} // namespace

Result<Specifier> Specifier::parse(std::string_view text) {
    const std::string_view clause = trim(text);
    const std::size_t at =
        clause.empty() ? 0 : static_cast<std::size_t>(clause.data() - text.data());
    const auto* const found = std::ranges::find_if(
        k_operators, [&](const OperatorText& one) { return clause.starts_with(one.text); });
    if (found == k_operators.end()) {
        const bool single = clause.starts_with('=');
        return bad_clause('"' + std::string(clause) + "\" does not begin with a comparison", at,
                          single ? "a single \"=\" is conda's; write ==" +
                                       std::string(trim(clause.substr(1)))
                                 : "expected one of == != <= >= < > ~= ===, as in >=1.2");
    }
    const std::string_view written = trim(clause.substr(found->text.size()));
    const std::string symbol(found->text);
    if (written.empty()) {
        return bad_clause("no version follows \"" + symbol + '"', at + symbol.size(),
                          "expected a version, as in " + symbol + "1.2");
    }
    const std::size_t version_at = static_cast<std::size_t>(written.data() - text.data());
    Specifier specifier;
    specifier.m_operator = found->relation;
    specifier.m_version = std::string(written);
    if (found->relation == Operator::Identical) {
        const std::size_t bad = written.find_first_of(" \t\r\n\f\v;)");
        if (bad != std::string_view::npos) {
            return bad_clause("\"===\" compares with one word", version_at + bad);
        }
        return specifier;
    }
    std::string_view version = written;
    if (version.ends_with(".*")) {
        if (found->relation != Operator::Equal && found->relation != Operator::NotEqual) {
            return bad_clause(
                "\".*\" is allowed only with == and !=", version_at + version.size() - 2,
                "write " + symbol + std::string(version.substr(0, version.size() - 2)));
        }
        specifier.m_prefix = true;
        version.remove_suffix(2);
    }
    auto parsed = Pep440Version::parse(version);
    if (parsed && trim(version).size() != version.size()) {
        return bad_clause("white space inside the version", version_at + trim(version).size());
    }
    if (!parsed) {
        Error error = std::move(parsed).error();
        error.code = "bad-requirement";
        error.column += static_cast<int>(version_at);
        return tl::unexpected(std::move(error));
    }
    if (specifier.m_prefix &&
        (parsed->is_prerelease() || parsed->is_postrelease() || parsed->has_local())) {
        return bad_clause("\".*\" follows a release only, as in 1.2.*", version_at);
    }
    const bool takes_local =
        found->relation == Operator::Equal || found->relation == Operator::NotEqual;
    if (parsed->has_local() && !takes_local) {
        return bad_clause(
            "a local part is allowed only with == and !=", version_at + version.find('+'),
            "write " + symbol + std::string(version.substr(0, version.find('+'))));
    }
    if (found->relation == Operator::Compatible && parsed->release_size() < 2) {
        return bad_clause("\"~=\" needs a release of two numbers or more", version_at,
                          "write ~=" + std::string(version) + ".0, or >=" + std::string(version));
    }
    specifier.m_names_prerelease = parsed->is_prerelease();
    specifier.m_dev_or_post = parsed->is_dev() || parsed->is_postrelease();
    specifier.m_parsed =
        found->relation == Operator::Less ? parsed->first_prerelease() : std::move(*parsed);
    return specifier;
}

std::string Specifier::str() const {
    const auto* const found = std::ranges::find_if(
        k_operators, [&](const OperatorText& one) { return one.relation == m_operator; });
    return std::string(found->text) + m_version;
}

bool Specifier::contains(std::string_view text, const Pep440Version* version) const {
    if (m_operator == Operator::Identical) {
        return to_lower_ascii(text) == to_lower_ascii(m_version);
    }
    if (version == nullptr) {
        return false;
    }
    const Pep440Version& wanted = *m_parsed;
    const auto order = version->compare_public(wanted);
    switch (m_operator) {
    case Operator::Equal:
    case Operator::NotEqual: {
        const bool equal = m_prefix ? version->release_starts_with(wanted, wanted.release_size())
                           : wanted.has_local() ? *version == wanted
                                                : order == 0;
        return equal == (m_operator == Operator::Equal);
    }
    case Operator::LessEqual:
        return order <= 0;
    case Operator::GreaterEqual:
        return order >= 0;
    case Operator::Compatible:
        return order >= 0 && version->release_starts_with(wanted, wanted.release_size() - 1);
    case Operator::Less:
        // "<1.0" does not mean 1.0's own pre-releases: `wanted` is the first of them.
        return order < 0;
    case Operator::Greater:
        // ">1.0" does not mean 1.0's own post-releases, nor what differs in its local part alone.
        return order > 0 && (m_dev_or_post || !version->is_post_of(wanted));
    case Operator::Identical:
        break;
    }
    return false;
}

bool Specifier::names_prerelease() const {
    if (m_operator == Operator::NotEqual || m_prefix) {
        return false;
    }
    if (m_operator == Operator::Identical) {
        const auto version = Pep440Version::parse(m_version);
        return version && version->is_prerelease();
    }
    return m_names_prerelease;
}

Result<SpecifierSet> SpecifierSet::parse(std::string_view text) {
    SpecifierSet set;
    for (const std::string_view piece : split(text, ',')) {
        if (trim(piece).empty()) {
            continue;
        }
        auto clause = Specifier::parse(piece);
        if (!clause) {
            Error error = std::move(clause).error();
            error.column += static_cast<int>(piece.data() - text.data());
            return tl::unexpected(std::move(error));
        }
        set.m_clauses.push_back(std::move(*clause));
    }
    return set;
}

std::string SpecifierSet::str() const {
    const auto clauses = each_of(m_clauses, &Specifier::str);
    return join(clauses, ",");
}

bool SpecifierSet::names_prerelease() const {
    return std::ranges::any_of(m_clauses,
                               [](const Specifier& clause) { return clause.names_prerelease(); });
}

bool SpecifierSet::contains(std::string_view text, Prereleases prereleases) const {
    const auto version = Pep440Version::parse(text);
    const Pep440Version* const parsed = version ? &*version : nullptr;
    if (parsed != nullptr && parsed->is_prerelease() &&
        (prereleases == Prereleases::Refused ||
         (prereleases == Prereleases::IfNamed && !names_prerelease()))) {
        return false;
    }
    return std::ranges::all_of(
        m_clauses, [&](const Specifier& clause) { return clause.contains(text, parsed); });
}

} // namespace cudaenv::specs
