#include "host/probe/library_search.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

namespace cudaenv::probe {
namespace {

TEST_CASE("the request is one line of JSON, whatever the paths are made of") {
    ProbeRequest request;
    request.depth = ProbeDepth::Full;
    request.all_gpus = true;
    request.libraries.files[facts::ProbeStep::Runtime] = {"/home/u/a b/\"lib\"/libcudart.so.12",
                                                          "/caf\xe9/libcudart.so.12"};
    const std::string line = write_probe_request(request);
    CHECK(line.find('\n') == std::string::npos);
    const auto read = nlohmann::json::parse(line);
    CHECK(read["depth"] == "full");
    CHECK(read["all_gpus"] == true);
    CHECK(read["libraries"]["cudart"][0] == "/home/u/a b/\"lib\"/libcudart.so.12");
    CHECK(read["libraries"].size() == facts::k_library_rungs.size());
    CHECK(read["libraries"]["nccl"].empty());
    CHECK_FALSE(read.contains("parent"));
    request.parent = 4711;
    CHECK(nlohmann::json::parse(write_probe_request(request))["parent"] == 4711);
    CHECK(nlohmann::json::parse(write_probe_request({}))["depth"] == "quick");
}

TEST_CASE("a path that is no UTF-8 is asked for by its bytes") {
    ProbeRequest request;
    request.libraries.files[facts::ProbeStep::Runtime] = {"/caf\xe9/libcudart.so.13",
                                                          "libcudart.so.13"};
    const auto object = nlohmann::json::parse(write_probe_request(request));
    CHECK(object["libraries"]["cudart"] ==
          nlohmann::json::parse(R"([{"hex": "2f636166e92f6c69626375646172742e736f2e3133"},
                                    "libcudart.so.13"])"));
}

} // namespace
} // namespace cudaenv::probe
