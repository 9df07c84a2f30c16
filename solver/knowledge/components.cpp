// What a toolkit release is made of on PyPI, and which distribution carries what.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>

namespace cudaenv::knowledge {

std::span<const ToolkitComponents> toolkit_components() {
    static const std::vector<ToolkitComponents> toolkits = [] {
        std::vector<ToolkitComponents> read;
        read_table("toolkit-components", [&](std::string_view, const Row& row) {
            read.push_back({row.version("toolkit"), row.pairs("components"), row.source()});
        });
        std::ranges::sort(read, {}, &ToolkitComponents::toolkit);
        return read;
    }();
    return toolkits;
}

std::span<const PipDistribution> pip_distributions() {
    static const std::vector<PipDistribution> distributions = [] {
        std::vector<PipDistribution> read;
        read_table("pip-distributions", [&](std::string_view, const Row& row) {
            read.push_back({row.text("distribution"), row.version("cuda").major(),
                            row.text("component"), row.flag("nvcc"), row.list("sonames"),
                            row.list("directories"), row.list("versions"), row.source()});
        });
        return read;
    }();
    return distributions;
}

} // namespace cudaenv::knowledge
