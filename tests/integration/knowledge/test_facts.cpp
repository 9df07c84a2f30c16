// The shipped tables against the facts they were made from: nothing lost, nothing invented.
#include "data/tables.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>

using namespace cudaenv;
using nlohmann::json;

namespace {

json facts(const std::string& name) {
    std::ifstream file(test::shared_path("facts/" + name + ".json"));
    return json::parse(file);
}

json table(std::string_view name) {
    return json::parse(data::table(name));
}

// By value: a range-for does not keep alive the document that a section is taken from.
json rows(const json& document, const char* section) {
    return document.at(section);
}

bool remembered(const json& row) {
    return row.value("confidence", "") == "memory";
}

std::string text_of(const json& cell) {
    return cell.is_string() ? cell.get<std::string>() : cell.is_null() ? "" : cell.dump();
}

using Entries = std::set<std::string>;

// Both ways: what is missing is lost, what is over is invented.
void check_same(const Entries& stated, const Entries& shipped) {
    Entries lost;
    Entries invented;
    std::ranges::set_difference(stated, shipped, std::inserter(lost, lost.end()));
    std::ranges::set_difference(shipped, stated, std::inserter(invented, invented.end()));
    REQUIRE_FALSE(stated.empty());
    CHECK(lost == Entries{});
    CHECK(invented == Entries{});
}

std::string joined(const json& list) {
    std::string text;
    for (const json& value : list) {
        text += ' ' + value.get<std::string>();
    }
    return text;
}

} // namespace

TEST_CASE("driver tables hold the facts' rows") {
    const json stated = facts("driver-cuda");
    const json shipped = table("drivers");
    Entries a;
    Entries b;
    for (const json& row : stated["toolkit_min_driver"]) {
        const json driver = row["min_driver_linux_x86_64"].is_null()
                                ? row.value("driver_branch", json())
                                : row["min_driver_linux_x86_64"];
        if (!remembered(row)) {
            a.insert(text_of(row["release"]) + " " + text_of(driver));
        }
    }
    for (const json& row : shipped["toolkits"]) {
        b.insert(text_of(row["release"]) + " " + row.value("driver", ""));
    }
    check_same(a, b);
    a.clear();
    b.clear();
    for (const json& row : stated["driver_branch_cuda"]) {
        a.insert(text_of(row["branch"]) + " " + text_of(row["cuda"]));
    }
    a.insert("430.26 10.2"); // stands in the note of branch 430
    for (const json& row : shipped["branches"]) {
        b.insert(text_of(row["driver"]) + " " + text_of(row["cuda"]));
    }
    check_same(a, b);
}

TEST_CASE("compiler ranges are those of the headers and documents") {
    const json stated = facts("cuda-gcc");
    Entries a;
    Entries b;
    const auto entry = [](const std::string& key, const json& row) {
        return key + " gcc " + text_of(row.value("gcc_max", json())) + " clang " +
               text_of(row.value("clang_max", json()));
    };
    for (const json& row : stated["from_host_config"]) {
        if (row["nvcc_build"].get<std::string>().find("rc") == std::string::npos) {
            a.insert(entry(row["nvcc_build"], row));
        }
    }
    for (const json& row : stated["from_docs_old"]) {
        a.insert(entry(row["cuda"], row));
    }
    a.insert("11.4.48 gcc 10 clang 12"); // special-cased in the source of 11.4
    for (const json& row : rows(table("compilers"), "ranges")) {
        b.insert(entry(row.value("nvcc", row["cuda"].get<std::string>()), row));
    }
    check_same(a, b);
    // And through the reader: the facts' own summary by minor.
    for (const auto& [cuda, row] : stated["summary"].items()) {
        CAPTURE(cuda);
        const auto range = knowledge::compilers_of_toolkit(DottedVersion::of(cuda));
        REQUIRE(range);
        const auto whole = [](const json& value) {
            return value.is_null() ? std::nullopt
                                   : std::optional(static_cast<int>(value.get<double>()));
        };
        CHECK(range->gcc_min == whole(row["gcc_min"]));
        CHECK(range->gcc_max == whole(row["gcc_max"]));
        CHECK(range->clang_min == whole(row["clang_min"]));
        CHECK(range->clang_max == whole(row["clang_max"]));
    }
}

TEST_CASE("every GPU of the facts is known by its id, save audio functions and switches") {
    const json stated = facts("gpu-pci");
    Entries a;
    Entries b;
    for (const json& row : stated["devices"]) {
        const std::string words = text_of(row["chip"]) + text_of(row["name"]);
        if (!remembered(row) && words.find("Audio Controller") == std::string::npos &&
            words.find("NVSwitch") == std::string::npos) {
            a.insert(text_of(row["device_id"]) + " " + text_of(row["chip"]) + " " +
                     text_of(row["name"]) + " " + text_of(row["cc"]));
        }
    }
    for (const json& row : rows(table("gpus"), "devices")) {
        b.insert(text_of(row["device"]) + " " + text_of(row["chip"]) + " " + text_of(row["name"]) +
                 " " + text_of(row["compute_capability"]));
    }
    check_same(a, b);
    for (const auto& [name, chips] : stated["ambiguous_names"].items()) {
        CAPTURE(name);
        CHECK_FALSE(knowledge::gpu_by_name(name));
    }
}

TEST_CASE("what each toolkit can make code for is what the facts say") {
    Entries a;
    Entries b;
    const json stated = facts("cuda-arch");
    for (const json& row : stated["by_cuda"]) {
        for (const json& name : row["sass"]) {
            std::string digits = name;
            if (digits.find_first_of("af") == std::string::npos) {
                a.insert(text_of(row["cuda"]) + " " + digits.insert(digits.size() - 1, "."));
            }
        }
    }
    for (const json& row : rows(table("architectures"), "toolkits")) {
        for (const json& value : row["sass"]) {
            b.insert(text_of(row["cuda"]) + " " + value.get<std::string>());
        }
    }
    check_same(a, b);
}

TEST_CASE(
    "torch: every variant of the facts and of the real wheel names is shipped, and no other") {
    const json releases = facts("torch");
    const json arch = facts("torch-arch");
    const json wheels = facts("torch-wheels");
    std::set<std::string> known;
    Entries a;
    Entries b;
    for (const json& release : releases["releases"]) {
        known.insert(release["torch"]);
        for (const json& variant : release["cuda_variants"]) {
            if (!remembered(variant)) {
                a.insert(text_of(release["torch"]) + "+" + text_of(variant["tag"]));
            }
        }
    }
    for (const json& row : arch["variants"]) {
        a.insert(text_of(row["torch"]) + "+" + text_of(row["tag"]));
    }
    for (const json& row : wheels["wheels"]) {
        if (row["package"] == "torch" && known.contains(row["version"])) {
            a.insert(text_of(row["version"]) + "+" + text_of(row["tag"]));
        }
    }
    for (const json& row : releases["lts"]) {
        for (const json& tag : row.value("wheels", json::array())) {
            a.insert(text_of(row["torch"]) + "+" + text_of(tag));
        }
    }
    for (const knowledge::TorchRelease& release : knowledge::torch_releases()) {
        for (const knowledge::TorchVariant& variant : release.variants) {
            if (!variant.wheel &&
                variant.conda_channels == std::vector<std::string>{"conda-forge"}) {
                continue; // of data/conda.json
            }
            b.insert(variant.torch.str() + "+" + variant.tag);
        }
    }
    check_same(a, b);
}

TEST_CASE("torch: architectures, labels and Pythons agree with the facts they come from") {
    const json arch = facts("torch-arch");
    const json wheels = facts("torch-wheels");
    const json releases = facts("torch");
    std::map<std::string, json> shipped;
    for (const json& row : rows(table("torch"), "variants")) {
        shipped[text_of(row["torch"]) + "+" + text_of(row["tag"])] = row;
    }
    for (const json& row : arch["variants"]) {
        const std::string key = text_of(row["torch"]) + "+" + text_of(row["tag"]);
        const std::string prefix = row["kind"] == "conda" ? "conda_" : "";
        CAPTURE(key, prefix);
        REQUIRE(shipped.contains(key));
        const json& held = shipped[key];
        if (row.value("confidence", "") == "unknown") {
            CHECK_FALSE(held.contains(prefix + "sass"));
            continue;
        }
        REQUIRE(held.contains(prefix + "sass"));
        CHECK(joined(held[prefix + "sass"]) == joined(row["arch"]));
        CHECK(joined(held.value(prefix + "ptx", json::array())) == joined(row["ptx"]));
    }
    for (const json& row : wheels["wheels"]) {
        const std::string key = text_of(row["version"]) + "+" + text_of(row["tag"]);
        if (row["package"] != "torch" || !shipped.contains(key)) {
            continue;
        }
        CAPTURE(text_of(row["file"]));
        const json& held = shipped[key];
        CHECK(held["wheel"] == (row["local"].is_null() ? "unlabelled" : "labelled"));
        CHECK(held["index"] == "https://download.pytorch.org/whl/" + text_of(row["index"]));
        const std::string tag = row["python"];
        const std::string python = tag.substr(2, 1) + "." + tag.substr(3);
        if (!text_of(row["abi"]).ends_with("t")) {
            CHECK(std::ranges::count(held["python"], json(python)) == 1);
        }
    }
    for (const json& release : releases["releases"]) {
        for (const json& variant : release["cuda_variants"]) {
            const std::string key = text_of(release["torch"]) + "+" + text_of(variant["tag"]);
            CAPTURE(key);
            const json& held = shipped[key];
            CHECK(held.value("pypi_default", false) ==
                  (release["pypi"]["default_tag"] == variant["tag"]));
            if (!variant["cudnn"].is_null() && !remembered(variant)) {
                CHECK(held["cudnn"] == variant["cudnn"]);
            }
        }
    }
}

TEST_CASE("every wheel of torch and its partners that a command can name exists on its index") {
    const json wheels = facts("torch-wheels");
    std::set<std::string> names;
    for (const json& row : wheels["wheels"]) {
        names.insert(text_of(row["package"]) + "==" + text_of(row["version"]) +
                     (row["local"].is_null() ? "" : "+" + text_of(row["local"])) + " " +
                     text_of(row["tag"]));
    }
    // The lists are whole copies of the index up to here; later ones lack names.
    const DottedVersion last_complete = DottedVersion::of("2.2.2");
    std::map<std::string, std::set<std::string>> tags; // of a torch release
    for (const knowledge::TorchRelease& release : knowledge::torch_releases()) {
        for (const knowledge::TorchVariant& variant : release.variants) {
            tags[release.torch.str()].insert(variant.tag);
        }
    }
    std::size_t checked = 0;
    for (const knowledge::TorchRelease& release : knowledge::torch_releases()) {
        for (const knowledge::TorchVariant& variant : release.variants) {
            if (!variant.wheel || release.long_term_support) {
                continue; // an index of its own, which no list has
            }
            const auto check = [&](const std::string& name,
                                   const std::optional<std::string>& version) {
                if (!version) {
                    return;
                }
                const std::string& text = *version;
                CAPTURE(variant.torch.str(), variant.tag, name, text);
                const bool labelled = text.find('+') != std::string::npos;
                if (names.contains(name + "==" + text + " " + variant.tag)) {
                    ++checked;
                } else if (release.torch <= last_complete) {
                    // PyPI's, without a label.
                    CHECK_FALSE(labelled);
                    CHECK(name == "torchaudio");
                    CHECK(DottedVersion::of(text) < DottedVersion::of("0.10"));
                } else if (labelled && name == "torchaudio" &&
                           release.torch > DottedVersion::of("2.11.0")) {
                    // The last torchaudio, of torch 2.11, has no label that came later.
                    CHECK(tags["2.11.0"].contains(variant.tag));
                }
            };
            check("torch",
                  variant.torch.str() + (variant.wheel_has_local_label ? "+" + variant.tag : ""));
            check("torchvision", variant.wheel_torchvision);
            check("torchaudio", variant.wheel_torchaudio);
        }
    }
    CHECK(checked > 250);
}

TEST_CASE("TensorFlow, cuDNN and toolkit components hold the facts' rows") {
    Entries a;
    Entries b;
    for (const json& row : rows(facts("tensorflow"), "pypi")) {
        const std::string version = row["tf"];
        if (version.find_first_not_of("0123456789.") == std::string::npos) {
            a.insert(version);
        }
    }
    for (const json& row : rows(table("tensorflow"), "releases")) {
        b.insert(row["tensorflow"]);
    }
    check_same(a, b);

    a.clear();
    b.clear();
    const json cudnn = facts("cudnn-cuda");
    for (const json& row : cudnn["support_matrix"]) {
        if (!remembered(row)) {
            a.insert(text_of(row["cudnn"]) + ":" + joined(row["cuda"]));
        }
    }
    for (const json& row : rows(table("cudnn"), "matrix")) {
        std::string version = row["cudnn"];
        if (row.contains("last")) {
            version += "-" + text_of(row["last"]);
        } else if (std::ranges::count(version, '.') == 1) {
            version += ".x";
        }
        b.insert(version + ":" + joined(row["cuda"]));
    }
    check_same(a, b);

    a.clear();
    b.clear();
    for (const json& row : cudnn["pypi"]) {
        a.insert(text_of(row["cudnn"]) + " cu" + text_of(row["cuda_major"]));
    }
    for (const json& row : rows(table("cudnn"), "wheels")) {
        b.insert(text_of(row["cudnn"]) + " cu" + text_of(row["cuda"]));
    }
    check_same(a, b);
}

TEST_CASE("a GPU's name gives the capability of the vendor's list, or nothing where ids disagree") {
    std::size_t unknown = 0;
    const json gpus = rows(facts("cuda-arch"), "gpus");
    for (const json& row : gpus) {
        CAPTURE(text_of(row["name"]));
        const auto found = knowledge::gpu_by_name(row["name"].get<std::string>());
        if (!found) {
            ++unknown;
            continue;
        }
        CHECK(found->compute_capability->str() == row["cc"]);
    }
    CHECK(unknown * 20 < gpus.size()); // a few names stand on two chips, not many
}
