// The main function of a fuzz target where there is no libFuzzer: feeds the target every file of the
// folder it is given, whole, cut short at up to 64 places and with one byte changed at up to 64
// places. Deterministic; a crash names the file and the place on standard error beforehand.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t k_places = 64;

void feed(const std::string& bytes) {
    // A copy of exactly this size on the heap, so that the address sanitizer sees one byte too far.
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

void replay(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    std::fprintf(stderr, "%s\n", path.c_str());
    feed(whole);
    const std::size_t step = std::max<std::size_t>(1, whole.size() / k_places);
    for (std::size_t at = 0; at < whole.size(); at += step) {
        feed(whole.substr(0, at));
        for (const char put : {'\0', '"', '\xff'}) {
            std::string damaged = whole;
            damaged[at] = put;
            feed(damaged);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    std::vector<std::filesystem::path> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        if (entry.is_regular_file()) {
            seeds.push_back(entry.path());
        }
    }
    std::sort(seeds.begin(), seeds.end());
    if (seeds.empty()) {
        std::fprintf(stderr, "%s holds no seeds\n", argv[1]);
        return 1;
    }
    feed({});
    for (const auto& seed : seeds) {
        replay(seed);
    }
    return 0;
}
