// CE124 of conda's packages: a record that depends on another version than the one that is there.
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/requirements.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/specs/match_spec.hpp"
#include "solver/specs/version.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

// "numpy >=1.22,<2" of a dependency, without its build; empty where conda could read a URL or an
// option.
std::string conda_words(const std::string& text) {
    const auto spec = specs::MatchSpec::parse(text);
    const auto* version = spec ? spec->value("version") : nullptr;
    if (version == nullptr || conda_requirement(spec->name(), "1").empty() ||
        version->find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.*,|<>=!~_+") !=
            std::string::npos) {
        return {};
    }
    return spec->name() + ' ' + *version;
}

} // namespace

// Another version than a record depends on gets there by --no-deps, --force or a lock file.
void find_unmet_depends(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.conda;
    for (const auto& package : all) {
        if (!is_of_cuda_world(package.name)) {
            continue;
        }
        const auto* row = knowledge::find_framework(package.name);
        const auto partners = torch_partners();
        const bool is_partner = row != nullptr && is_one_of(row->name, partners);
        std::vector<std::pair<std::string, const facts::CondaPackage*>> unmet;
        for (const auto& text : package.depends) {
            const auto spec = specs::MatchSpec::parse(text);
            if (!spec || spec->name_is_pattern() || spec->version_spec() == nullptr ||
                (is_partner && spec->name() == "pytorch")) {
                continue;
            }
            const auto other = std::ranges::find(all, spec->name(), &facts::CondaPackage::name);
            if (other == all.end()) {
                continue;
            }
            const auto version = specs::Version::parse(other->version);
            if (version &&
                spec->version_spec()->evaluate(other->version, &*version) == specs::Verdict::No) {
                unmet.emplace_back(text, &*other);
            }
        }
        if (unmet.empty()) {
            continue;
        }
        std::vector<std::string> words;
        std::vector<facts::Evidence> evidence{
            {absolute_path(context, package.record), 0, title_of(package)}};
        for (const auto& [text, other] : unmet) {
            words.push_back(conda_words(text));
            evidence.push_back({absolute_path(context, other->record), 0,
                                other->version + " is installed; required: " + text});
        }
        const auto more = unmet.size() - 1;
        auto found = report(context, "CE124", name_of(Unmet::Depends), package.name,
                            {{"requirer", title_of(package)},
                             {"name", package.name},
                             {"required", unmet.front().first},
                             {"version", unmet.front().second->version},
                             {"more", more == 0 ? std::string() : std::to_string(more)},
                             {"command", conda_install(context, words)}});
        found.finding.evidence = std::move(evidence);
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
