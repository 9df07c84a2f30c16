// Two proofs, and silence without one of them:
//   what lies there  the file libcudnn.so.9 is the one of A and not of B, which may have none, and
//                    a part of it is the one of B and not of A
//   the records      A, whose libcudnn.so.9 it is, has no such part of its own, and B of another
//                    version has laid one down beside it

#include "base/ranges.hpp"
#include "check/rules/cuda_libraries.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cudaenv::rules {

namespace {

// The parts that cuDNN opens whatever it is asked; those that a later release added are not here.
constexpr std::string_view k_parts[] = {"libcudnn_adv",
                                        "libcudnn_cnn",
                                        "libcudnn_engines_precompiled",
                                        "libcudnn_engines_runtime_compiled",
                                        "libcudnn_graph",
                                        "libcudnn_heuristic",
                                        "libcudnn_ops",
                                        "libcudnn_cnn_infer",
                                        "libcudnn_cnn_train",
                                        "libcudnn_ops_infer",
                                        "libcudnn_ops_train",
                                        "libcudnn_adv_infer",
                                        "libcudnn_adv_train"};

struct Owning {
    std::string name;
    std::string version;
    std::string record;
};

Owning owner_of(const CheckContext& context, const facts::Claim& claim) {
    if (claim.by == facts::Claim::By::Conda) {
        const auto& package = context.inventory.conda[claim.package];
        return {package.name, package.version, package.record};
    }
    const auto& distribution = context.inventory.distributions[claim.package];
    return {distribution.name, distribution.version, distribution.metadata};
}

using Files = std::vector<const ClaimedLibrary*>;

// One directory, one soname major.
class Directory {
public:
    Directory(const CheckContext& context, const Files& files)
        : m_context(&context), m_files(&files) {
        for (const auto* file : files) {
            if (file->stem == "libcudnn") {
                m_mains.push_back(file);
            }
        }
    }

    // The main library and the part that prove it.
    [[nodiscard]] std::optional<std::pair<const ClaimedLibrary*, const ClaimedLibrary*>>
    proof() const {
        for (const auto* file : *m_files) {
            if (!is_one_of(std::string_view(file->stem), k_parts)) {
                continue;
            }
            for (const auto* main : m_mains) {
                if (main->claim.same_owner(file->claim) || same_release(*main, *file)) {
                    continue;
                }
                if (laid_beside(*main, *file) || lies_mixed(*main, *file)) {
                    return std::pair(main, file);
                }
            }
        }
        return std::nullopt;
    }

private:
    [[nodiscard]] bool same_release(const ClaimedLibrary& main, const ClaimedLibrary& part) const {
        return packaged_release(owner_of(*m_context, main.claim).version) ==
                   packaged_release(owner_of(*m_context, part.claim).version) &&
               main.claim.by == part.claim.by;
    }
    [[nodiscard]] facts::Fit fit(const ClaimedLibrary& file, const facts::Claim& claim) const {
        return facts::fit_of(m_context->claims.file(claim), m_context->examined->find(file.path));
    }
    // This owner's own claim to the path.
    [[nodiscard]] std::optional<facts::Claim> claim_by(const std::string& path,
                                                       const facts::Claim& owner) const {
        for (const auto& claim : m_context->claims.of(path)) {
            if (claim.same_owner(owner)) {
                return claim;
            }
        }
        return std::nullopt;
    }
    // The main library is only its owner's, the part only the other's, and that owner has none.
    [[nodiscard]] bool laid_beside(const ClaimedLibrary& main, const ClaimedLibrary& part) const {
        const bool has_own = std::ranges::any_of(*m_files, [&](const ClaimedLibrary* file) {
            return file->stem == part.stem && file->claim.same_owner(main.claim);
        });
        const bool has_main = std::ranges::any_of(m_mains, [&](const ClaimedLibrary* file) {
            return file->claim.same_owner(part.claim);
        });
        return !has_own && !has_main && !is_missing(main) && !is_missing(part);
    }
    [[nodiscard]] bool is_missing(const ClaimedLibrary& file) const {
        return m_context->examined != nullptr && fit(file, file.claim) == facts::Fit::Missing;
    }
    // Each has one of the two files that lie there, and where the other claims it too, with other
    // content.
    [[nodiscard]] bool lies_mixed(const ClaimedLibrary& main, const ClaimedLibrary& part) const {
        if (m_context->examined == nullptr) {
            return false;
        }
        const auto others_main = claim_by(main.path, part.claim);
        const auto own_part = claim_by(part.path, main.claim);
        const auto is_of = [&](const ClaimedLibrary& file, const facts::Claim& claim,
                               const std::optional<facts::Claim>& other) {
            return fit(file, claim) == facts::Fit::Same &&
                   (!other || (differs(claim, *other) && fit(file, *other) == facts::Fit::Other));
        };
        // A part that only the other brings is not proven to be opened by this libcudnn.
        return own_part && is_of(main, main.claim, others_main) &&
               is_of(part, part.claim, own_part);
    }
    [[nodiscard]] bool differs(const facts::Claim& left, const facts::Claim& right) const {
        const auto& a = m_context->claims.file(left);
        const auto& b = m_context->claims.file(right);
        return a.hash == facts::ClaimHash::Sha256 && b.hash == facts::ClaimHash::Sha256 &&
               a.sha256 != b.sha256;
    }

    const CheckContext* m_context;
    const Files* m_files;
    Files m_mains;
};

std::string reinstall_command(const CheckContext& context, const facts::Claim& main) {
    return main.by == facts::Claim::By::Conda
               ? conda_reinstall(context, context.inventory.conda[main.package])
               : pip_reinstall(context, context.inventory.distributions[main.package]);
}

} // namespace

void find_cudnn_parts(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto claimed = claimed_libraries(context, CudaLibrary::Cudnn);
    std::map<std::pair<std::string, unsigned>, Files> places;
    for (const auto& file : claimed) {
        places[{file.directory, file.major}].push_back(&file);
    }
    for (const auto& [place, files] : places) {
        const auto proof = Directory(context, files).proof();
        if (!proof) {
            continue;
        }
        const auto [main, part] = *proof;
        const auto first = owner_of(context, main->claim);
        const auto second = owner_of(context, part->claim);
        const auto part_name = part->stem + ".so." + std::to_string(place.second);
        auto found = report(context, "CE133", "", second.name,
                            {{"major", std::to_string(place.second)},
                             {"main", first.name},
                             {"part", part_name},
                             {"other", second.name},
                             {"conda", yes_if(main->claim.by == facts::Claim::By::Conda)},
                             {"command", reinstall_command(context, main->claim)}});
        found.finding.evidence = {
            {absolute_path(context, main->path), 0, first.name + ' ' + first.version},
            {absolute_path(context, part->path), 0, second.name + ' ' + second.version}};
        found.files = {main->path, part->path};
        std::ranges::sort(found.files);
        found.said_at_prompt = true;
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
