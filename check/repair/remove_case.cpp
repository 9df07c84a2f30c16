#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "check/repair/repair_case.hpp"

namespace cudaenv::repair {

namespace {

// A leftover is a name of its own in a site, or metadata, and no file of conda's is in it.
bool may_be_removed(const facts::Inventory& inventory, const facts::Claims& claims,
                    const std::string& path) {
    const auto slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? std::string() : path.substr(0, slash);
    const std::string_view name = std::string_view(path).substr(slash + 1);
    const bool in_site = is_one_of(above, inventory.sites);
    const bool is_leftover = name.starts_with('~') || name.ends_with(".dist-info") ||
                             name.ends_with(".egg-info") || name.ends_with(".egg-link");
    bool conda_claims = false;
    claims.for_each_path([&](std::string_view claimed, std::span<const facts::Claim> by) {
        conda_claims = conda_claims || ((claimed == path || claimed.starts_with(path + '/')) &&
                                        by.front().by == facts::Claim::By::Conda);
    });
    return is_inner_path(path) && in_site && is_leftover && !conda_claims;
}

} // namespace

Result<Commit> prepare(const rules::Remove& repair, const Preparation& with) {
    if (!may_be_removed(with.inventory, with.claims, repair.path)) {
        return unavailable("no-leftover",
                           printable(repair.path) + " stays: it is not a leftover of an install");
    }
    CUDAENV_TRY(const auto place, with.prefix.place(repair.path));
    static_cast<void>(place);
    return Commit([path = repair.path, &staging = with.staging](Part part) {
        return part == Part::Content ? staging.take_away(path) : Result<void>();
    });
}

} // namespace cudaenv::repair
