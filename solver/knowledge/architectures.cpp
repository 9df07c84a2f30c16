// Which GPUs a piece of device code serves, what each toolkit can make, and the life of a
// generation.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>

namespace cudaenv::knowledge {

namespace {

struct ToolkitCode {
    DottedVersion cuda;
    Architectures architectures;
};
struct GenerationRow {
    std::vector<ComputeCapability> members;
    GpuGeneration generation;
};
struct Table {
    std::vector<ToolkitCode> toolkits;
    std::vector<GenerationRow> generations;
};

Table read_architectures() {
    Table table;
    read_table("architectures", [&](std::string_view section, const Row& row) {
        if (section == "toolkits") {
            table.toolkits.push_back(
                {row.version("cuda"),
                 {row.capabilities("sass"), row.capabilities("ptx"), false, {}, row.source()}});
        } else if (section == "generations") {
            table.generations.push_back(
                {row.capabilities("compute_capabilities"),
                 {row.text("architecture"), row.find_version("first_cuda"), row.find("last_cuda"),
                  row.find_version("last_driver"), row.source()}});
        }
    });
    return table;
}

const Table& architectures_table() {
    static const Table table = read_architectures();
    return table;
}

} // namespace

bool serves_with_sass(const Architectures& architectures, ComputeCapability gpu) {
    return std::ranges::any_of(architectures.sass, [&](ComputeCapability made) {
        return made.major == gpu.major && made.minor <= gpu.minor;
    });
}

bool serves_with_ptx(const Architectures& architectures, ComputeCapability gpu) {
    return std::ranges::any_of(architectures.ptx,
                               [&](ComputeCapability made) { return made <= gpu; });
}

std::optional<Architectures> architectures_of_toolkit(const DottedVersion& cuda) {
    for (const ToolkitCode& row : architectures_table().toolkits) {
        if (cuda.begins_with(row.cuda)) {
            return row.architectures;
        }
    }
    return std::nullopt;
}

std::optional<GpuGeneration> generation_of(ComputeCapability gpu) {
    for (const GenerationRow& row : architectures_table().generations) {
        if (std::ranges::count(row.members, gpu) > 0) {
            return row.generation;
        }
    }
    return std::nullopt;
}

} // namespace cudaenv::knowledge
