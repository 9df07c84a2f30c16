#include "kernels/ptx/ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace cudaenv;
using namespace cudaenv::kernels;

namespace {

// What the command prints, and how it ended.
std::pair<std::string, int> run(const std::string& command) {
    std::string output;
    std::array<char, 4096> part{};
    auto* pipe = ::popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    for (std::size_t read = 0; (read = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
        output.append(part.data(), read);
    }
    return {output, ::pclose(pipe)};
}

std::vector<std::string> words_with(const std::string& text, const std::string& beginning) {
    std::vector<std::string> found;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (word.starts_with(beginning)) {
            found.push_back(word);
        }
    }
    return found;
}

} // namespace

TEST_CASE("the text begins with the version that is asked for, and is else the same") {
    const auto old = ptx_text(k_oldest_isa);
    const auto newer = ptx_text("9.0");
    CHECK(old.starts_with(".version 6.0\n.target sm_50\n"));
    CHECK(newer.starts_with(".version 9.0\n"));
    CHECK(old.substr(old.find('\n')) == newer.substr(newer.find('\n')));
    for (const auto* function : {"cudaenv_global(", "cudaenv_shared("}) {
        CHECK(old.find(std::string(".visible .entry ") + function) != std::string::npos);
    }
}

TEST_CASE("ptxas takes the text for every architecture, old and of its own version") {
    const auto [listed, listing] = run("nvcc --list-gpu-code");
    const auto [version, asked] = run("nvcc --version");
    const auto release = version.find("release ");
    if (listing != 0 || asked != 0 || release == std::string::npos ||
        run("ptxas --version").second != 0) {
        SKIP("no nvcc with its ptxas in PATH; a CUDA toolkit has both");
    }
    const auto number = version.substr(release + 8, version.find(',', release) - release - 8);
    const auto own = ptx_isa_of_cuda(DottedVersion::of(number));
    REQUIRE(own);

    std::string name = (std::filesystem::temp_directory_path() / "cudaenv-ptx-XXXXXX").string();
    const int file = ::mkstemp(name.data());
    REQUIRE(file >= 0);
    ::close(file);
    const auto architectures = words_with(listed, "sm_");
    REQUIRE_FALSE(architectures.empty());
    for (const auto& isa : {std::string(k_oldest_isa), own->str()}) {
        std::ofstream(name) << ptx_text(isa);
        for (const auto& architecture : architectures) {
            CAPTURE(isa, architecture);
            const auto [output, status] =
                run("ptxas -arch=" + architecture + " -o /dev/null '" + name + "'");
            CAPTURE(output);
            CHECK(status == 0);
        }
    }
    std::filesystem::remove(name);
}
