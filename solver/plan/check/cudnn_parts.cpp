// Two proofs, and silence without one of them:
//   what lies there  the file libcudnn.so.9 is the one of A and not of B, which may have none, and
//                    a part of it is the one of B and not of A
//   the records      A, whose libcudnn.so.9 it is, has no such part of its own, and B of another
//                    version has laid one down beside it
#include "solver/plan/check/cudnn_parts.hpp"

#include "base/text.hpp"
#include "solver/plan/check/cuda_libraries.hpp"
#include "solver/plan/check/install_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cudaenv::plan {

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

Owning owner_of(const CheckScene& scene, const facts::Claim& claim) {
    if (claim.by == facts::Claim::By::Conda) {
        const auto& package = scene.inventory.conda[claim.package];
        return {package.name, package.version, package.record};
    }
    const auto& distribution = scene.inventory.distributions[claim.package];
    return {distribution.name, distribution.version, distribution.metadata};
}

// 9.10.2 of 9.10.2.21.
std::string release_of(const std::string& version) {
    std::size_t end = 0;
    for (int dots = 0; end < version.size(); ++end) {
        if (version[end] == '.' && ++dots == 3) {
            break;
        }
    }
    return version.substr(0, end);
}

using Files = std::vector<const ClaimedLibrary*>;

// One directory, one soname major.
class Directory {
public:
    Directory(const CheckScene& scene, const Files& files) : m_scene(&scene), m_files(&files) {
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
            if (std::ranges::find(k_parts, std::string_view(file->stem)) == std::end(k_parts)) {
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
        return release_of(owner_of(*m_scene, main.claim).version) ==
                   release_of(owner_of(*m_scene, part.claim).version) &&
               main.claim.by == part.claim.by;
    }
    [[nodiscard]] facts::Fit fit(const ClaimedLibrary& file, const facts::Claim& claim) const {
        return facts::fit_of(m_scene->claims.file(claim), m_scene->examined->find(file.path));
    }
    // This owner's own claim to the path.
    [[nodiscard]] std::optional<facts::Claim> claim_by(const std::string& path,
                                                       const facts::Claim& owner) const {
        for (const auto& claim : m_scene->claims.of(path)) {
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
        return m_scene->examined != nullptr && fit(file, file.claim) == facts::Fit::Missing;
    }
    // Each has one of the two files that lie there, and where the other claims it too, with other
    // content.
    [[nodiscard]] bool lies_mixed(const ClaimedLibrary& main, const ClaimedLibrary& part) const {
        if (m_scene->examined == nullptr) {
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
        const auto& a = m_scene->claims.file(left);
        const auto& b = m_scene->claims.file(right);
        return a.hash == facts::ClaimHash::Sha256 && b.hash == facts::ClaimHash::Sha256 &&
               a.sha256 != b.sha256;
    }

    const CheckScene* m_scene;
    const Files* m_files;
    Files m_mains;
};

Fix fix_of(const CheckScene& scene, const facts::Claim& main, const Owning& other) {
    if (main.by == facts::Claim::By::Conda) {
        const auto& package = scene.inventory.conda[main.package];
        return {fmt::format("{} laid down anew, without {}", package.name, other.name),
                conda_install(scene, {"--force-reinstall",
                                      conda_requirement(package.name, package.version)})};
    }
    const auto& distribution = scene.inventory.distributions[main.package];
    return {fmt::format("{} laid down anew; {} away where nothing needs it", distribution.name,
                        other.name),
            pip_install(scene, &distribution,
                        {"--force-reinstall", "--no-deps",
                         pip_requirement(distribution.name, distribution.version)})};
}

} // namespace

void find_cudnn_parts(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto claimed = claimed_libraries(scene, CudaLibrary::Cudnn);
    std::map<std::pair<std::string, unsigned>, Files> places;
    for (const auto& file : claimed) {
        places[{file.directory, file.major}].push_back(&file);
    }
    for (const auto& [place, files] : places) {
        const auto proof = Directory(scene, files).proof();
        if (!proof) {
            continue;
        }
        const auto [main, part] = *proof;
        const auto first = owner_of(scene, main->claim);
        const auto second = owner_of(scene, part->claim);
        const auto part_name = part->stem + ".so." + std::to_string(place.second);
        CheckFinding told;
        told.subject = second.name;
        told.told_at_prompt = true;
        told.line = fmt::format("libcudnn.so.{} is {}'s, {} {}'s", place.second, first.name,
                                part_name, second.name);
        told.files = {main->path, part->path};
        std::ranges::sort(told.files);
        told.finding = {"CE133",
                        Severity::Error,
                        told.line,
                        {{absolute_path(scene, main->path), 0, first.name + ' ' + first.version},
                         {absolute_path(scene, part->path), 0, second.name + ' ' + second.version}},
                        "cuDNN refuses parts of another version than its own: "
                        "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
                        fix_of(scene, main->claim, second)};
        found.push_back(std::move(told));
    }
}

} // namespace cudaenv::plan
