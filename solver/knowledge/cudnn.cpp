// cuDNN releases: the support matrix, and the wheels.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>

namespace cudaenv::knowledge {

namespace {

// 7.6.0 ... 7.6.2: a row of the matrix may stand for a run of patch releases.
std::vector<DottedVersion> run_of(const DottedVersion& first, const DottedVersion& last) {
    std::vector<DottedVersion> all;
    const std::size_t tail = first.parts().size() - 1;
    std::string head;
    for (std::size_t i = 0; i < tail; ++i) {
        head += std::to_string(first.part(i)) + '.';
    }
    for (std::uint32_t patch = first.part(tail); patch <= last.part(tail); ++patch) {
        all.push_back(DottedVersion::of(head + std::to_string(patch)));
    }
    return all;
}

void add_matrix_row(std::vector<CudnnRelease>& releases, const Row& row) {
    CudnnRelease release;
    release.cudas = row.versions("cuda");
    for (const auto& [cuda, driver] : row.pairs("min_driver")) {
        release.min_drivers.emplace_back(DottedVersion::of(cuda), DottedVersion::of(driver));
        if (const DottedVersion& bound = release.min_drivers.back().second;
            !release.min_driver || bound < *release.min_driver) {
            release.min_driver = bound;
        }
    }
    release.soname = row.text("soname");
    for (const std::string& text : row.list("compute_capabilities")) {
        const auto capability = ComputeCapability::parse(text);
        if (capability && (!release.least_gpu || *capability < *release.least_gpu)) {
            release.least_gpu = *capability;
        }
    }
    release.source = row.source();
    const DottedVersion first = row.version("cudnn");
    for (DottedVersion& version : run_of(first, row.find_version("last").value_or(first))) {
        release.cudnn = std::move(version);
        releases.push_back(release);
    }
}

// One entry for a version, whichever majors it has wheels for.
void add_wheel_row(std::vector<CudnnRelease>& releases, const Row& row) {
    const DottedVersion version = row.version("cudnn");
    if (releases.empty() || releases.back().cudnn != version) {
        releases.push_back({});
        releases.back().cudnn = version;
        releases.back().soname = row.text("soname");
    } else {
        releases.back().source += "; ";
    }
    releases.back().cudas.push_back(row.version("cuda"));
    releases.back().distributions.push_back(row.text("distribution"));
    releases.back().source += row.source();
}

} // namespace

std::span<const CudnnRelease> cudnn_releases() {
    static const std::vector<CudnnRelease> releases = [] {
        std::vector<CudnnRelease> matrix;
        std::vector<CudnnRelease> wheels;
        read_table("cudnn", [&](std::string_view section, const Row& row) {
            if (section == "matrix") {
                add_matrix_row(matrix, row);
            } else if (section == "wheels") {
                add_wheel_row(wheels, row);
            }
        });
        std::ranges::move(wheels, std::back_inserter(matrix));
        std::ranges::sort(matrix, {}, &CudnnRelease::cudnn);
        return matrix;
    }();
    return releases;
}

std::optional<CudnnFloor> cudnn_floor(std::string_view cudnn) {
    const auto version = DottedVersion::parse(cudnn);
    std::optional<CudnnFloor> floor;
    bool before = false;
    for (const CudnnRelease& release : cudnn_releases()) {
        if (!version || !release.least_gpu) {
            continue;
        }
        // 9.10.2.21 is the matrix's 9.10.2.
        const auto& parts = version->parts();
        const auto& listed = release.cudnn.parts();
        const bool same = parts.size() >= listed.size() &&
                          std::equal(listed.begin(), listed.end(), parts.begin());
        before = before || same || release.cudnn < *version;
        if (before) {
            floor = {*release.least_gpu, release.source};
        }
        if (same || *version < release.cudnn) {
            break;
        }
    }
    return floor;
}

} // namespace cudaenv::knowledge
