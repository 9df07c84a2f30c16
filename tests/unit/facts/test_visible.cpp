#include "solver/facts/visible.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::facts;

namespace {
Host two_gpus() {
    Host host;
    for (const char* const uuid : {"GPU-aaaa1111", "GPU-aabb2222"}) {
        Gpu gpu;
        gpu.index = static_cast<int>(host.gpus.size());
        gpu.uuid = uuid;
        host.gpus.push_back(gpu);
    }
    return host;
}
std::string seen(std::string_view devices) {
    std::string indexes;
    for (const Gpu& gpu : narrowed_to_visible(two_gpus(), devices).gpus) {
        indexes += std::to_string(gpu.index);
    }
    return indexes;
}
} // namespace

TEST_CASE("CUDA_VISIBLE_DEVICES shows what it names, in its order, up to what means nothing") {
    CHECK(seen("0,1") == "01");
    CHECK(seen("1,0") == "10");
    CHECK(seen(" 1 ") == "1");
    CHECK(seen("1,-1,0") == "1");
    CHECK(seen("7") == "");
    CHECK(seen("0,0") == "");
    CHECK(seen("x,0") == "");
}

TEST_CASE("a UUID may be shortened as long as it means one GPU") {
    CHECK(seen("GPU-aabb") == "1");
    CHECK(seen("GPU-aa") == "");
    CHECK(seen("GPU-aaaa1111,1") == "01");
}

TEST_CASE("an empty value hides every GPU, and says so") {
    const Host hidden = narrowed_to_visible(two_gpus(), "");
    CHECK(hidden.gpus.empty());
    CHECK(hidden.gpus_absent == "CUDA_VISIBLE_DEVICES= shows none of them");
}
