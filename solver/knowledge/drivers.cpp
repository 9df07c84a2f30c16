// What each toolkit asks of the driver, and what a driver branch reports.
#include "base/ranges.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>

namespace cudaenv::knowledge {

namespace {

struct ToolkitRow {
    DottedVersion cuda;    // 11.3
    DottedVersion release; // 11.3.1
    std::optional<DottedVersion> driver;
    std::string source;
};
struct FamilyRow {
    unsigned cuda_major;
    DriverBound bound;
};
struct BranchRow {
    DottedVersion driver; // 430, or a single one that differs from its branch: 430.26
    DottedVersion cuda;
    std::string source;
};
struct Drivers {
    std::vector<ToolkitRow> toolkits;
    std::vector<FamilyRow> families;
    std::vector<BranchRow> branches; // ascending by driver
    std::vector<DottedVersion> releases;
};

Drivers read_drivers() {
    Drivers drivers;
    read_table("drivers", [&](std::string_view section, const Row& row) {
        if (section == "toolkits") {
            std::string source = row.source();
            if (row.find("confidence") == "branch-only") {
                source += " (only the paired branch was read, not the exact driver)";
            }
            drivers.toolkits.push_back({row.version("cuda"), row.version("release"),
                                        row.find_version("driver"), std::move(source)});
        } else if (section == "families") {
            drivers.families.push_back(
                {row.version("family").major(), {row.version("driver"), row.source()}});
        } else if (section == "branches") {
            drivers.branches.push_back({row.version("driver"), row.version("cuda"), row.source()});
        }
    });
    std::ranges::sort(drivers.branches, {}, &BranchRow::driver);
    for (const ToolkitRow& row : drivers.toolkits) {
        drivers.releases.push_back(row.cuda);
    }
    sort_unique(drivers.releases);
    return drivers;
}

const Drivers& drivers() {
    static const Drivers table = read_drivers();
    return table;
}

} // namespace

std::optional<DriverBound> family_floor(unsigned cuda_major) {
    for (const FamilyRow& row : drivers().families) {
        if (row.cuda_major == cuda_major) {
            return row.bound;
        }
    }
    return std::nullopt;
}

std::optional<DriverBound> toolkit_minimum_driver(const DottedVersion& cuda) {
    const ToolkitRow* lowest = nullptr;
    for (const ToolkitRow& row : drivers().toolkits) {
        if (!row.driver) {
            continue;
        }
        // "11.0" means the minor; a release is one that names its update.
        if (cuda.parts().size() > 2 && row.release == cuda) {
            return DriverBound{*row.driver, row.source};
        }
        if (cuda.begins_with(row.cuda) && (lowest == nullptr || *row.driver < *lowest->driver)) {
            lowest = &row;
        }
    }
    if (lowest == nullptr) {
        return std::nullopt;
    }
    return DriverBound{*lowest->driver, lowest->source};
}

std::optional<DriverCuda> cuda_of_driver(const DottedVersion& driver) {
    const auto& branches = drivers().branches;
    // The longest row that the driver begins with: 430.26 before 430.
    const BranchRow* exact = nullptr;
    const BranchRow* older = nullptr;
    for (const BranchRow& row : branches) {
        if (driver.begins_with(row.driver)) {
            exact = &row;
        } else if (row.driver < driver && row.driver.parts().size() == 1) {
            older = &row;
        }
    }
    if (exact != nullptr) {
        return DriverCuda{exact->cuda, false, false, exact->source};
    }
    if (older == nullptr) {
        return std::nullopt;
    }
    const bool newest = driver.major() > branches.back().driver.major();
    return DriverCuda{older->cuda, true, newest,
                      "derived: branch " + std::to_string(driver.major()) +
                          " is not in the table, at least what branch " + older->driver.str() +
                          " reports; " + older->source};
}

std::span<const DottedVersion> cuda_releases() {
    return drivers().releases;
}

std::optional<DottedVersion> nearest_cuda_release(const DottedVersion& cuda) {
    const auto releases = cuda_releases();
    if (cuda.parts().size() < 2 || releases.empty()) {
        return std::nullopt;
    }
    const DottedVersion minor = DottedVersion::of(cuda.major_minor());
    if (minor > releases.back() || is_one_of(minor, releases)) {
        return std::nullopt;
    }
    const auto above = std::ranges::lower_bound(releases, minor);
    // Of the same major where there is one: 11.9 is nearer to 11.8 than to 12.0.
    return above != releases.begin() &&
                   ((above - 1)->major() == minor.major() || above->major() != minor.major())
               ? *(above - 1)
               : *above;
}

} // namespace cudaenv::knowledge
