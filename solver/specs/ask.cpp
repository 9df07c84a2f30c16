#include "solver/specs/ask.hpp"

#include "base/text.hpp"

namespace cudaenv::specs {

namespace {

// See the rule in the header.
bool is_pythons_alone(std::string_view text) {
    if (package_extension(text) > 0) {
        return false;
    }
    if (text.find(';') != k_npos || text.find("===") != k_npos) {
        return true;
    }
    const std::size_t at = text.find('@');
    const std::size_t scheme = text.find("://");
    if (at != k_npos && at > 0 && at + 1 < text.size() && at < scheme &&
        text.find_first_of("=<>!~|") > at) {
        return true;
    }
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    return open != k_npos && close != k_npos && open < close &&
           text.substr(open, close - open).find('=') == k_npos;
}

} // namespace

Result<Ask> Ask::parse(std::string_view written) {
    const std::string_view text = trim(written);
    const int skipped = static_cast<int>(text.empty() ? 0 : text.data() - written.data());
    const auto shifted = [&](Error error) {
        if (error.column > 0) {
            error.column += skipped;
        }
        return tl::unexpected<Error>(std::move(error));
    };
    if (text.empty()) {
        return bad_input("bad-spec", "an empty package spec",
                         "expected a name, and perhaps versions, as in torch or torch>=2,<3");
    }
    Ask ask;
    ask.m_text = std::string(text);
    auto requirement = Requirement::parse(text);
    if (is_pythons_alone(text)) {
        if (!requirement) {
            return shifted(std::move(requirement).error());
        }
    } else {
        auto spec = MatchSpec::parse(text);
        if (!spec) {
            return shifted(std::move(spec).error());
        }
        ask.m_name = normalize_project_name(spec->name());
        ask.m_conda = std::move(*spec);
    }
    if (requirement) {
        ask.m_name = requirement->normalized_name();
        ask.m_extras = requirement->extras;
        ask.m_pip = std::move(*requirement);
    }
    return ask;
}

bool Ask::constrains_version() const {
    return m_pip ? !m_pip->specifiers.clauses().empty() : m_conda->version_spec() != nullptr;
}

bool Ask::satisfied_by(std::string_view version, VersionRules rules) const {
    if (m_pip && (rules == VersionRules::Pep440 || !m_conda)) {
        return m_pip->specifiers.contains(version);
    }
    const VersionSpec* const spec = m_conda->version_spec();
    if (spec == nullptr) {
        return true;
    }
    if (rules == VersionRules::Pep440) {
        const std::string* const asked = m_conda->value("version");
        if (asked != nullptr && asked->find('+') == std::string::npos) {
            version = version.substr(0, version.find('+'));
        }
    }
    const auto parsed = Version::parse(version);
    return spec->evaluate(version, parsed ? &*parsed : nullptr) == Verdict::Yes;
}

} // namespace cudaenv::specs
