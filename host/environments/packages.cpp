#include "host/environments/packages.hpp"

#include "base/ranges.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::environments {

namespace {

// Beginnings of names, conda's and PyPI's.
constexpr auto k_beginnings = std::to_array<std::string_view>(
    {"clangxx", "cuda", "cudnn", "cupy", "gxx_impl_", "jax", "libcudnn", "nvidia_cuda_runtime",
     "python", "pytorch", "tensorflow", "tf_nightly", "torch"});

} // namespace

bool matters_for_cuda(std::string_view package_name) {
    return std::ranges::any_of(
        k_beginnings, [&](std::string_view start) { return package_name.starts_with(start); });
}

bool Site::has(std::string_view name) const {
    return std::ranges::binary_search(names, name);
}

const CondaRecord* Packages::conda_record(std::string_view name) const {
    return find_pointer_if(conda, [&](const CondaRecord& record) { return record.name == name; });
}

const DistInfo* Packages::dist_info(std::string_view name) const {
    for (const auto& site : sites) {
        for (const auto& package : site.packages) {
            if (package.name == name) {
                return &package;
            }
        }
    }
    return nullptr;
}

} // namespace cudaenv::environments
