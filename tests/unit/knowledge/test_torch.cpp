#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::knowledge;

namespace {

const TorchRelease& release(const std::string& version) {
    const auto all = torch_releases();
    const auto found = std::ranges::find(all, DottedVersion::of(version), &TorchRelease::torch);
    REQUIRE(found != all.end());
    return *found;
}

const TorchVariant& variant(const std::string& version, const std::string& tag) {
    const auto& all = release(version).variants;
    const auto found = std::ranges::find(all, tag, &TorchVariant::tag);
    INFO(version << "+" << tag);
    REQUIRE(found != all.end());
    return *found;
}

bool is_of_conda_forge(const TorchVariant& one) {
    return one.conda_channels == std::vector<std::string>{"conda-forge"};
}

template <typename Values>
std::string joined(const Values& values) {
    std::string text;
    for (const auto& value : values) {
        text += (text.empty() ? "" : " ") + value.str();
    }
    return text;
}

std::string tags(const std::string& version) {
    std::string text;
    for (const TorchVariant& each : release(version).variants) {
        if (!each.wheel && is_of_conda_forge(each)) {
            continue; // tests of its own
        }
        text += (text.empty() ? "" : " ") + each.tag;
    }
    return text;
}

} // namespace

TEST_CASE("torch 1.12.1+cu113, as the indexes have it") {
    const TorchRelease& torch = release("1.12.1");
    CHECK(torch.torchvision == "0.13.1");
    CHECK(torch.torchaudio == "0.12.1");
    const TorchVariant& cu113 = variant("1.12.1", "cu113");
    CHECK(cu113.cuda.str() == "11.3");
    CHECK(cu113.cudnn == "8.3.2.44");
    CHECK(joined(cu113.pythons) == "3.7 3.8 3.9 3.10");
    REQUIRE(cu113.wheel_architectures);
    CHECK(joined(cu113.wheel_architectures->sass) == "3.7 5.0 6.0 7.0 7.5 8.0 8.6");
    CHECK(cu113.wheel_architectures->ptx.empty());
    CHECK_FALSE(cu113.wheel_architectures->derived);
    CHECK(cu113.wheel);
    CHECK_FALSE(cu113.wheel_is_default);
    CHECK(cu113.wheel_has_local_label);
    CHECK(cu113.wheel_index == "https://download.pytorch.org/whl/cu113");
    CHECK(cu113.wheel_torchvision == "0.13.1+cu113");
    CHECK(cu113.wheel_torchaudio == "0.12.1+cu113");
    CHECK(cu113.conda);
    CHECK(cu113.conda_toolkit == "cudatoolkit");
    CHECK(cu113.conda_pin == "cudatoolkit=11.3");
    CHECK(cu113.conda_channels == std::vector<std::string>{"pytorch"});
    CHECK(joined(cu113.conda_pythons) == "3.7 3.8 3.9 3.10");
    REQUIRE(cu113.conda_architectures);
    CHECK(joined(cu113.conda_architectures->sass) == "3.7 5.0 6.0 6.1 7.0 7.5 8.0 8.6");
    CHECK(joined(cu113.conda_architectures->ptx) == "3.7");
    CHECK(variant("1.12.1", "cu102").wheel_is_default);
}

TEST_CASE("conda-forge has CUDA builds of releases that the pytorch channel never had") {
    CHECK(variant("2.9.1", "cu129").conda_pin == "cuda-version=12.9");
    CHECK(variant("2.9.1", "cu129").conda_channels == std::vector<std::string>{"conda-forge"});
    CHECK_FALSE(variant("2.9.1", "cu129").conda_architectures);
}

TEST_CASE("the CUDA variants of a release") {
    const auto [torch, expected] = GENERATE(table<std::string, std::string>({
        {"1.0.0", "cu80 cu90 cu100"},
        {"1.0.1", "cu80 cu90 cu100"},
        {"1.3.0", "cu92 cu100 cu101"},
        {"1.3.1", "cu92 cu100 cu101"},
        {"1.4.0", "cu92 cu100 cu101"},
        {"1.7.0", "cu92 cu101 cu102 cu110"},
        {"1.8.0", "cu101 cu102 cu111"},
        {"1.8.2", "cu102 cu111"},
        {"1.10.2", "cu102 cu111 cu113"},
        {"1.11.0", "cu102 cu111 cu113 cu115"},
        {"1.12.1", "cu102 cu113 cu116"},
        {"1.13.1", "cu116 cu117"},
        {"2.0.1", "cu117 cu118"},
        {"2.4.0", "cu118 cu121 cu124"},
        {"2.6.0", "cu118 cu124 cu126"},
        {"2.8.0", "cu126 cu128 cu129"},
        {"2.9.1", "cu126 cu128 cu129 cu130"},
        {"2.11.0", "cu126 cu128 cu129 cu130"},
        {"2.12.1", "cu126 cu129 cu130 cu132"},
        {"2.14.1", "cu126 cu130 cu132"},
        {"2.15.0", "cu130 cu132"},
    }));
    CAPTURE(torch);
    CHECK(tags(torch) == expected);
}

TEST_CASE("1.11.0 for CUDA 11.1 is a conda build only") {
    const TorchVariant& cu111 = variant("1.11.0", "cu111");
    CHECK(cu111.conda);
    CHECK_FALSE(cu111.wheel);
    CHECK_FALSE(cu111.wheel_architectures);
    CHECK(cu111.pythons.empty());
    // cudatoolkit 11.1 is not in the channels that conda searches unasked.
    CHECK(cu111.conda_channels == std::vector<std::string>{"pytorch", "conda-forge"});
}

TEST_CASE("GTX 1080 Ti runs torch 2.8.0 of CUDA 12.6 only") {
    const ComputeCapability gpu{6, 1};
    CHECK(serves_with_sass(*variant("2.8.0", "cu126").wheel_architectures, gpu));
    CHECK_FALSE(serves_with_sass(*variant("2.8.0", "cu128").wheel_architectures, gpu));
    CHECK_FALSE(serves_with_ptx(*variant("2.8.0", "cu128").wheel_architectures, gpu));
    CHECK_FALSE(serves_with_sass(*variant("2.8.0", "cu129").wheel_architectures, gpu));
}

TEST_CASE("RTX 5090 runs no build of torch 2.6.0, and P100 none for CUDA 13") {
    for (const TorchVariant& each : release("2.6.0").variants) {
        CAPTURE(each.tag);
        CHECK_FALSE(serves_with_sass(*each.wheel_architectures, {12, 0}));
        CHECK_FALSE(serves_with_ptx(*each.wheel_architectures, {12, 0}));
    }
    CHECK(serves_with_sass(*variant("2.7.1", "cu128").wheel_architectures, {12, 0}));
    for (const TorchRelease& torch : torch_releases()) {
        for (const TorchVariant& each : torch.variants) {
            if (each.cuda.major() >= 13) {
                CAPTURE(each.torch.str(), each.tag);
                CHECK_FALSE(serves_with_sass(*each.wheel_architectures, {6, 0}));
            }
        }
    }
}

TEST_CASE("PTX: compute_50 up to 1.3.0, compute_37 up to 1.5.1, none up to 2.6, then 12.0") {
    CHECK(joined(variant("1.2.0", "cu100").wheel_architectures->ptx) == "5.0");
    CHECK(joined(variant("1.5.1", "cu102").wheel_architectures->ptx) == "3.7");
    CHECK(variant("1.6.0", "cu102").wheel_architectures->ptx.empty());
    CHECK(variant("2.6.0", "cu126").wheel_architectures->ptx.empty());
    CHECK(variant("2.8.0", "cu126").wheel_architectures->ptx.empty());
    CHECK(joined(variant("2.8.0", "cu128").wheel_architectures->ptx) == "12.0");
    CHECK(joined(variant("2.12.0", "cu132").wheel_architectures->ptx) == "12.0");
    CHECK(variant("2.12.0", "cu130").wheel_architectures->ptx.empty()); // PyPI's
}

TEST_CASE("wheels lack the local label where their CUDA was the release's default, up to 1.8.0") {
    for (const auto& [torch, tag] :
         std::vector<std::pair<std::string, std::string>>{{"1.0.0", "cu80"},
                                                          {"1.0.1", "cu100"},
                                                          {"1.1.0", "cu90"},
                                                          {"1.1.0", "cu100"},
                                                          {"1.2.0", "cu100"},
                                                          {"1.3.1", "cu101"},
                                                          {"1.4.0", "cu101"},
                                                          {"1.5.0", "cu102"},
                                                          {"1.7.1", "cu102"},
                                                          {"1.8.0", "cu102"}}) {
        CAPTURE(torch, tag);
        CHECK_FALSE(variant(torch, tag).wheel_has_local_label);
    }
    for (const auto& [torch, tag] :
         std::vector<std::pair<std::string, std::string>>{{"1.2.0", "cu92"},
                                                          {"1.4.0", "cu92"},
                                                          {"1.8.0", "cu101"},
                                                          {"1.8.1", "cu102"},
                                                          {"2.15.0", "cu132"}}) {
        CAPTURE(torch, tag);
        CHECK(variant(torch, tag).wheel_has_local_label);
    }
}

TEST_CASE("an unknown list is bounded by its toolkit's and marked derived") {
    for (const auto& [torch, tag] : std::vector<std::pair<std::string, std::string>>{
             {"2.12.1", "cu129"}, {"2.13.0", "cu129"}, {"1.8.2", "cu111"}}) {
        CAPTURE(torch, tag);
        const TorchVariant& each = variant(torch, tag);
        REQUIRE(each.wheel_architectures);
        CHECK(each.wheel_architectures->derived);
        CHECK(each.wheel_architectures->confidence == "bounded");
        CHECK(each.wheel_architectures->sass == architectures_of_toolkit(each.cuda)->sass);
    }
    // The build script of that day did not name CUDA 10.1: do not conclude either way.
    CHECK(variant("1.3.0", "cu101").conda_architectures->derived);
    CHECK_FALSE(variant("1.3.0", "cu101").wheel_architectures->derived);
}

TEST_CASE(
    "conda builds: metapackages in 1.0.0, cudatoolkit to 1.12, pytorch-cuda to 2.5.1, then none") {
    CHECK(variant("1.0.0", "cu90").conda_pin == "cuda90");
    CHECK(variant("1.0.0", "cu90").conda_toolkit == "cuda90");
    CHECK(variant("1.9.1", "cu111").conda_pin == "cudatoolkit=11.1");
    CHECK(variant("1.13.0", "cu117").conda_pin == "pytorch-cuda=11.7");
    CHECK(variant("1.13.0", "cu117").conda_channels ==
          std::vector<std::string>{"pytorch", "nvidia"});
    CHECK(variant("2.5.1", "cu124").conda);
    for (const TorchRelease& torch : torch_releases()) {
        for (const TorchVariant& each : torch.variants) {
            CAPTURE(each.torch.str(), each.tag);
            CHECK((each.wheel || each.conda));
            CHECK(each.wheel == each.wheel_architectures.has_value());
            const bool forge = is_of_conda_forge(each);
            CHECK((each.conda && !forge) == each.conda_architectures.has_value());
            CHECK(each.conda == !each.conda_channels.empty());
            CHECK(each.wheel == !each.wheel_index.empty());
            if (torch.torch > DottedVersion::of("2.5.1")) {
                CHECK(each.conda == forge); // the pytorch channel ended
            }
        }
    }
}

TEST_CASE("the conda builds of 1.13 and 2.0.0 have no Python 3.11, their wheels do") {
    CHECK(joined(variant("1.13.1", "cu117").conda_pythons) == "3.7 3.8 3.9 3.10");
    CHECK(joined(variant("1.13.1", "cu117").pythons) == "3.7 3.8 3.9 3.10 3.11");
    CHECK(joined(variant("2.0.0", "cu118").conda_pythons) == "3.8 3.9 3.10");
}

TEST_CASE("2.0.0 was paired otherwise on conda than on PyPI") {
    CHECK(release("2.0.0").torchvision == "0.15.1");
    CHECK(release("2.0.0").torchaudio == "2.0.1");
    CHECK(release("2.0.0").conda_torchvision == "0.15.0");
    CHECK(release("2.0.0").conda_torchaudio == "2.0.0");
    CHECK(release("2.0.1").conda_torchvision == "0.15.2");
}

TEST_CASE(
    "every torch variant is for a CUDA release that exists, and every release is consistent") {
    const auto known = cuda_releases();
    const auto releases = torch_releases();
    REQUIRE(releases.size() > 50);
    CHECK(std::ranges::is_sorted(releases, {}, &TorchRelease::torch));
    for (const TorchRelease& torch : releases) {
        CAPTURE(torch.torch.str());
        CHECK_FALSE(torch.source.empty());
        CHECK(torch.torchvision);
        if (torch.torch >= DottedVersion::of("1.2.0")) {
            CHECK(torch.torchaudio);
        }
        CHECK_FALSE(torch.pythons.empty());
        CHECK(std::ranges::is_sorted(torch.variants, {}, &TorchVariant::cuda));
        REQUIRE_FALSE(torch.variants.empty());
        // The long-term line was never on PyPI.
        CHECK(std::ranges::count(torch.variants, true, &TorchVariant::wheel_is_default) ==
              (torch.long_term_support ? 0 : 1));
        for (const TorchVariant& each : torch.variants) {
            CAPTURE(each.tag);
            CHECK(std::ranges::count(known, each.cuda) == 1);
            CHECK("cu" + std::to_string(each.cuda.major()) + std::to_string(each.cuda.minor()) ==
                  each.tag);
            CHECK_FALSE(each.sources.empty());
            for (const auto* list : {&each.wheel_architectures, &each.conda_architectures}) {
                if (!*list) {
                    continue;
                }
                const Architectures& made = **list;
                CHECK_FALSE(made.source.empty());
                REQUIRE_FALSE(made.sass.empty());
                CHECK(std::ranges::adjacent_find(made.sass, std::greater_equal<>()) ==
                      made.sass.end());
                // Nothing that its toolkit cannot make.
                const auto bound = architectures_of_toolkit(each.cuda);
                REQUIRE(bound);
                for (const ComputeCapability gpu : made.sass) {
                    CAPTURE(gpu.str());
                    CHECK(std::ranges::count(bound->sass, gpu) == 1);
                }
            }
        }
    }
}

TEST_CASE("partners' wheels: torchaudio has labels from 0.10 on, and Pythons of its own") {
    CHECK(variant("1.7.0", "cu110").wheel_torchvision == "0.8.1+cu110");
    CHECK(variant("1.7.0", "cu110").wheel_torchaudio == "0.7.0");
    CHECK(variant("1.10.0", "cu113").wheel_torchaudio == "0.10.0+cu113");
    CHECK(variant("2.12.1", "cu132").wheel_torchaudio == "2.11.0");
    CHECK(variant("2.12.1", "cu130").wheel_torchaudio == "2.11.0+cu130");
    CHECK_FALSE(variant("1.0.0", "cu80").wheel_torchvision);
    CHECK(wheel_version(variant("1.7.0", "cu110"), "torch", "1.7.0") == "1.7.0+cu110");
    CHECK(wheel_version(variant("1.7.0", "cu110"), "torchaudio", "0.7.0") == "0.7.0");
    CHECK(joined(variant("1.13.1", "cu116").pythons) == "3.7 3.8 3.9 3.10 3.11");
    CHECK(joined(variant("1.13.1", "cu116").torchvision_pythons) == "3.7 3.8 3.9 3.10");
    CHECK(variant("1.12.1", "cu116").torchvision_pythons.empty());
}

TEST_CASE("the pytorch channel ends at Python 3.12") {
    CHECK(joined(variant("2.5.1", "cu121").pythons) == "3.9 3.10 3.11 3.12 3.13");
    for (const TorchRelease& torch : torch_releases()) {
        for (const TorchVariant& each : torch.variants) {
            const bool pytorch = std::ranges::count(each.conda_channels, "pytorch") == 1;
            CAPTURE(each.torch.str(), each.tag);
            CHECK((!pytorch || each.conda_pythons.back() <= DottedVersion::of("3.12")));
        }
    }
}

TEST_CASE("aarch64 has CUDA builds on an index from 2.6 on, on PyPI from 2.11 on") {
    const auto on = [](const char* version, const char* tag) {
        return torch_variant(version, tag, "aarch64");
    };
    CHECK(on("2.1.0", "cu121")->other_processor);
    CHECK(on("2.6.0", "cu118")->other_processor);
    CHECK(on("2.6.0", "cu124")->processor_unknown);
    CHECK_FALSE(on("2.6.0", "cu124")->wheel_is_default);
    CHECK(on("2.6.0", "cu124")->wheel_architectures->derived);
    CHECK_FALSE(on("2.6.0", "cu126")->other_processor);
    CHECK_FALSE(on("2.6.0", "cu126")->processor_unknown);
    CHECK(joined(on("2.6.0", "cu126")->wheel_architectures->sass) == "9.0");
    CHECK(on("2.11.0", "cu130")->wheel_is_default);
    CHECK(joined(on("2.15.0", "cu132")->wheel_architectures->sass) == "8.0 9.0 10.0 11.0 12.0");
    CHECK(torch_variant("2.11.0", "cu130", "")->pythons ==
          torch_variant("2.11.0", "cu130")->pythons);
    for (const TorchRelease& torch : torch_releases("aarch64")) {
        CHECK(torch.other_processor ==
              (torch.torch < DottedVersion::of("1.8.0") || torch.long_term_support));
    }
}

TEST_CASE("no processor but x86-64 and aarch64 has torch wheels") {
    for (const TorchRelease& torch : torch_releases("ppc64le")) {
        CHECK(torch.other_processor);
        for (const TorchVariant& each : torch.variants) {
            CHECK((each.other_processor || !each.wheel));
        }
    }
}
