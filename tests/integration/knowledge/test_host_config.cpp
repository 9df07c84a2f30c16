// The tables against every crt/host_config.h on this machine. The header is read here by other
// means than the program's, so that a mistake cannot be made twice alike.
#include "solver/knowledge/knowledge.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace cudaenv;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::string> first_match(const std::string& text, const std::string& pattern) {
    std::smatch match;
    if (!std::regex_search(text, match, std::regex(pattern))) {
        return std::nullopt;
    }
    return match[1].str();
}

void add_header(std::set<fs::path>& headers, const fs::path& header) {
    std::error_code ignored; // an unreadable directory has no header for us
    if (fs::is_regular_file(header, ignored)) {
        headers.insert(fs::canonical(header, ignored));
    }
}

void add_toolkit(std::set<fs::path>& headers, const fs::path& root) {
    add_header(headers, root / "include/crt/host_config.h");
    add_header(headers, root / "targets/x86_64-linux/include/crt/host_config.h");
}

std::vector<fs::path> children(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        found.push_back(it->path());
    }
    return found;
}

void add_site_packages(std::set<fs::path>& headers, const fs::path& lib) {
    for (const fs::path& python : children(lib)) {
        if (!python.filename().string().starts_with("python3")) {
            continue;
        }
        for (const char* packages : {"site-packages", "dist-packages"}) {
            for (const fs::path& component : children(python / packages / "nvidia")) {
                add_toolkit(headers, component);
            }
        }
    }
}

std::set<fs::path> headers_here() {
    std::set<fs::path> headers;
    for (const char* parent : {"/usr/local", "/opt"}) {
        for (const fs::path& child : children(parent)) {
            if (child.filename().string().starts_with("cuda")) {
                add_toolkit(headers, child);
            }
        }
    }
    add_toolkit(headers, "/usr/lib/nvidia-cuda-toolkit");
    add_toolkit(headers, "/usr");
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"}) {
        if (const char* root = std::getenv(variable)) {
            add_toolkit(headers, root);
        }
    }
    for (const char* lib : {"/usr/lib", "/usr/local/lib"}) {
        add_site_packages(headers, lib);
    }
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        if (const char* root = std::getenv(variable)) {
            add_site_packages(headers, fs::path(root) / "lib");
        }
    }
    return headers;
}

// CUDA version of the tree that `header` belongs to, from the headers beside it.
std::optional<DottedVersion> cuda_beside(const fs::path& header) {
    const fs::path include = header.parent_path().parent_path();
    for (const auto& [file, pattern] :
         {std::pair{"cuda_runtime_api.h", R"(#define\s+CUDART_VERSION\s+(\d+))"},
          std::pair{"cuda.h", R"(#define\s+CUDA_VERSION\s+(\d+))"}}) {
        if (const auto number = first_match(contents(include / file), pattern)) {
            const int value = std::stoi(*number);
            return DottedVersion::of(std::to_string(value / 1000) + '.' +
                                     std::to_string(value % 1000 / 10));
        }
    }
    // nvidia/cu13 and nvidia/cuda_nvcc of wheels: the dist-info beside the namespace folder.
    for (const fs::path& sibling : children(include.parent_path().parent_path().parent_path())) {
        const std::string name = sibling.filename().string();
        for (const char* pattern : {R"(^nvidia_cuda_crt-(\d+\.\d+\.\d+)\.dist-info$)",
                                    R"(^nvidia_cuda_nvcc_cu\d+-(\d+\.\d+\.\d+)\.dist-info$)"}) {
            if (const auto version = first_match(name, pattern)) {
                return DottedVersion::of(*version);
            }
        }
    }
    return std::nullopt;
}

} // namespace

TEST_CASE("the compiler table agrees with every host_config.h on this machine") {
    const auto headers = headers_here();
    int compared = 0;
    for (const fs::path& header : headers) {
        const std::string text = contents(header);
        const auto gcc_max = first_match(text, R"(#\s*if\s+__GNUC__\s*>\s*(\d+))");
        const auto cuda = cuda_beside(header);
        CAPTURE(header.string());
        if (!gcc_max || !cuda) {
            WARN("not compared: " << header
                                  << (gcc_max ? " has no version beside it"
                                              : " has no limit for gcc"));
            continue;
        }
        CAPTURE(cuda->str());
        const auto range = knowledge::compilers_of_toolkit(*cuda);
        if (!range) {
            WARN("not compared: CUDA " << cuda->str() << " is not in the table");
            continue;
        }
        ++compared;
        CHECK(range->gcc_max == std::stoi(*gcc_max));
        // Some headers bound a second compiler of the same name first; the limit is the last one.
        const std::regex clang(R"(\(__clang_major__\s*>=\s*(\d+)\))");
        std::optional<int> clang_end;
        for (std::sregex_iterator it(text.begin(), text.end(), clang), end; it != end; ++it) {
            clang_end = std::stoi((*it)[1].str());
        }
        if (clang_end && range->clang_max) {
            CHECK(*range->clang_max == *clang_end - 1);
        }
    }
    if (compared == 0) {
        SKIP("no crt/host_config.h here; install a CUDA toolkit, or `pip install nvidia-cuda-crt` "
             "into "
             "the active environment");
    }
}
