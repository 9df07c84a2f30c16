// TensorFlow releases.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>

namespace cudaenv::knowledge {

std::span<const TensorflowRelease> tensorflow_releases() {
    static const std::vector<TensorflowRelease> releases = [] {
        std::vector<TensorflowRelease> read;
        read_table("tensorflow", [&](std::string_view, const Row& row) {
            auto required = row.list("and_cuda");
            const bool has_extra = !required.empty();
            read.push_back({row.version("tensorflow"), row.versions("python"),
                            row.find_version("cuda"), row.find_version("cudnn"), has_extra,
                            std::move(required), row.find("package").value_or(""), row.source()});
        });
        std::ranges::sort(read, {}, &TensorflowRelease::tensorflow);
        return read;
    }();
    return releases;
}

} // namespace cudaenv::knowledge
