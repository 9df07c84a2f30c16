// TensorFlow releases.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>

namespace cudaenv::knowledge {

std::span<const TensorflowRelease> tensorflow_releases() {
    static const std::vector<TensorflowRelease> releases = [] {
        std::vector<TensorflowRelease> read;
        read_table("tensorflow", [&](std::string_view, const Row& row) {
            TensorflowRelease release;
            release.tensorflow = row.version("tensorflow");
            release.pythons = row.versions("python");
            release.cuda = row.find_version("cuda");
            release.cudnn = row.find_version("cudnn");
            release.and_cuda = row.list("and_cuda");
            release.and_cuda_pythons = row.versions("and_cuda_python");
            release.and_cuda_missing = row.find("and_cuda_missing").value_or("");
            release.and_cuda_extra = !release.and_cuda.empty() && release.and_cuda_missing.empty();
            release.package = row.find("package").value_or("");
            release.source = row.source();
            read.push_back(std::move(release));
        });
        std::ranges::sort(read, {}, &TensorflowRelease::tensorflow);
        return read;
    }();
    return releases;
}

} // namespace cudaenv::knowledge
