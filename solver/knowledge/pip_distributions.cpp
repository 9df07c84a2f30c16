// Which distribution on PyPI carries which CUDA library or tool.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

namespace cudaenv::knowledge {

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
