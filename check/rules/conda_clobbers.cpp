// CE116: two conda packages that own one path with different content. conda links both and warns of
// a ClobberWarning; the one linked last stays.
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/file_kind.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cudaenv::rules {

void find_conda_clobbers(const CheckContext& context, std::vector<CheckFinding>& findings) {
    using facts::Claim;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> shared;
    context.claims.for_each_shared([&](std::string_view path, std::span<const Claim> claims) {
        if (is_ordinary_difference(path) || !is_code(context.inventory, path) ||
            is_stray(context.inventory, path) || is_known_namespace(context.inventory, path)) {
            return;
        }
        const Claim* first = nullptr;
        for (const auto& claim : claims) {
            const auto& file = context.claims.file(claim);
            if (claim.by != Claim::By::Conda || file.hash != facts::ClaimHash::Sha256 ||
                file.kind != facts::ClaimKind::File || file.prefix_replaced ||
                is_empty_init(path, file) || is_namespace_declaration(path, file)) {
                continue;
            }
            if (first == nullptr) {
                first = &claim;
            } else if (claim.package != first->package &&
                       file.sha256 != context.claims.file(*first).sha256) {
                shared[{first->package, claim.package}].emplace_back(path);
                return;
            }
        }
    });
    for (auto& [pair, paths] : shared) {
        const auto& one = context.inventory.conda[pair.first];
        const auto& other = context.inventory.conda[pair.second];
        sort_unique(paths);
        auto found = report(context, "CE116", "", one.name,
                            {{"one", title_of(one)},
                             {"other", title_of(other)},
                             {"n", std::to_string(paths.size())}});
        for (const auto package : {pair.first, pair.second}) {
            found.finding.evidence.push_back(record_evidence(context, {Claim::By::Conda, package}));
        }
        quote_files(context, found.finding, paths, "owned by both");
        found.files = std::move(paths);
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
