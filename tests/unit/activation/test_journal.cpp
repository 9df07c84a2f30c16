#include "base/variables.hpp"
#include "shellhooks/patch/patch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>

using namespace cudaenv;
using namespace cudaenv::patch;

namespace {

Journal sample() {
    Journal journal;
    journal.place = "node17/4f2a";
    journal.context = "/home/u/env\n\n11.3\n/p q";
    journal.variables = {{"CUDA_HOME", std::nullopt, "/usr/local/cuda-11.3"},
                         {"CUDA_PATH", "", "/usr/local/cuda-11.3"},
                         {"CXX", "clang++", "/usr/bin/g++-9"},
                         {"XLA_FLAGS", "12:3", ""}};
    journal.lists = {{"PATH",
                      ListBefore::Filled,
                      {"/usr/local/cuda-11.3/bin", "/\xff \n"},
                      {"/z"},
                      {},
                      "/bin",
                      "/a b"},
                     {"LIBRARY_PATH", ListBefore::Unset, {}, {"/l"}, {}},
                     {"LD_LIBRARY_PATH",
                      ListBefore::Empty,
                      {"/l"},
                      {},
                      {{"/l", 2, {}}, {"/m", 0, {"/l:", "", "/l"}}}}};
    journal.snapshots = {"_OLD_VIRTUAL_PATH", "__CONDA_SHLVL_2_CC"};
    journal.by_hand = {{"CUDA_HOME", "/opt/a b"}};
    return journal;
}

// The text of a journal with this body: FNV-1a of 32 bits, as journal.cpp has it.
std::string sealed(const std::string& body) {
    std::uint32_t hash = 2166136261U;
    for (const char c : body) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    std::string digits;
    for (int shift = 28; shift >= 0; shift -= 4) {
        digits += "0123456789ABCDEF"[(hash >> shift) & 0xFU];
    }
    return "1." + digits + body;
}

void check_refused(const std::string& text) {
    INFO(text.substr(0, 200));
    const auto read = read_journal(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == "bad-journal");
    CHECK_FALSE(read.error().hint.empty());
}

} // namespace

TEST_CASE("a journal reads back as it was written") {
    const std::string text = write_journal(sample());
    const auto read = read_journal(text);
    REQUIRE(read);
    CHECK(write_journal(*read) == text);
    CHECK(read->place == sample().place);
    CHECK(read->context == sample().context);
    REQUIRE(read->variables.size() == 4);
    CHECK_FALSE(read->variables[0].before);
    CHECK(read->variables[1].before == "");
    CHECK(read->variables[1].after == "/usr/local/cuda-11.3");
    CHECK(read->variables[2].before == "clang++");
    CHECK(read->variables[3].before == "12:3");
    REQUIRE(read->lists.size() == 3);
    CHECK(read->lists[0].front == sample().lists[0].front);
    CHECK(read->lists[0].back == std::vector<std::string>{"/z"});
    CHECK(read->lists[0].first == "/bin");
    CHECK(read->lists[0].last == "/a b");
    CHECK(read->lists[1].before == ListBefore::Unset);
    CHECK(read->lists[2].before == ListBefore::Empty);
    REQUIRE(read->lists[2].own.size() == 2);
    CHECK(read->lists[2].own[0].count == 2);
    CHECK(read->lists[2].own[0].after.empty());
    CHECK(read->lists[2].own[1].count == 0);
    CHECK(read->lists[2].own[1].after == sample().lists[2].own[1].after);
    CHECK(read->snapshots == sample().snapshots);
    REQUIRE(read->by_hand.size() == 1);
    CHECK(read->by_hand[0].name == "CUDA_HOME");
    CHECK(read->by_hand[0].value == "/opt/a b");
    CHECK(read_journal(write_journal({}))->empty());
}

TEST_CASE("a journal is one word that no shell changes") {
    Journal journal = sample();
    for (int byte = 1; byte < 256; ++byte) {
        journal.context += static_cast<char>(byte);
    }
    const std::string text = write_journal(journal);
    CHECK(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_./+-:,%") == std::string::npos);
    CHECK(read_journal(text)->context == journal.context);
}

TEST_CASE("the journal of all that a build gets is below 1 KB") {
    const std::string root = "/usr/local/cuda-11.3";
    const std::string cudnn = "/home/someone/miniconda3/envs/apex/lib/python3.9/site-packages/"
                              "nvidia/cudnn";
    const Patch patch{{{"CUDA_HOME", root},
                       {"CUDA_PATH", root},
                       {"CUDACXX", root + "/bin/nvcc"},
                       {"CC", "/usr/bin/gcc-9"},
                       {"CXX", "/usr/bin/g++-9"},
                       {"CUDAHOSTCXX", "/usr/bin/g++-9"},
                       {"NVCC_CCBIN", "/usr/bin/g++-9"},
                       {"CUDNN_HOME", cudnn},
                       {"CUDNN_PATH", cudnn},
                       {"CUDNN_INCLUDE_DIR", cudnn + "/include"},
                       {"CUDNN_LIB_DIR", cudnn + "/lib"},
                       {"CUDNN_LIBRARY", cudnn + "/lib/libcudnn.so.8"},
                       {"TORCH_CUDA_ARCH_LIST", "8.0;8.6+PTX"},
                       {"CUDAARCHS", "80;86"},
                       {"MAX_JOBS", "12"},
                       {"XLA_FLAGS", "--xla_gpu_cuda_data_dir=" + root}},
                      {{"PATH", root + "/bin", End::Front},
                       {"LD_LIBRARY_PATH", root + "/lib64", End::Back},
                       {"CPLUS_INCLUDE_PATH", root + "/include", End::Back},
                       {"LIBRARY_PATH", root + "/lib64", End::Back},
                       {"CMAKE_PREFIX_PATH", root, End::Back}}};
    REQUIRE(patch.variables.size() + patch.entries.size() == managed_variables().size());
    const Variables base{{"PATH", "/usr/bin:/bin"}, {"CC", "gcc"}};
    const Applied applied =
        apply(base, patch, "node17.cluster.example.org/0c9a5bb2-6f42-4f23-9ef5-5f7e0ad0a1c3",
              "/home/someone/miniconda3/envs/apex\n\n\n/home/someone/code/apex");
    CHECK(applied.environment.at("__CUDAENV_UNDO").size() < 1000);
    CHECK(undo(applied.environment) == base);
}

TEST_CASE("a journal that was cut or changed anywhere is refused") {
    const std::string text = write_journal(sample());
    for (std::size_t at = 0; at < text.size(); ++at) {
        CHECK_FALSE(read_journal(text.substr(0, at)));
        std::string damaged = text;
        damaged[at] = damaged[at] == 'b' ? 'c' : 'b';
        CHECK_FALSE(read_journal(damaged));
    }
    check_refused("");
    check_refused(text + "x");
    check_refused(std::string(k_most_journal_bytes + 1, 'x'));
}

TEST_CASE("a journal that says what no patch does is refused, however well it is written") {
    REQUIRE(read_journal(sealed(",place,context,CC+gcc-9")));
    REQUIRE(read_journal(sealed(",place,context,PATH+f+f/c")));
    for (const char* body : {
             ",place",                           // no context
             ",place,context,",                  // a record of nothing
             ",place,context,HOME+/c",           // not managed
             ",place,context,__CUDAENV_UNDO+/c", // nor is the journal itself
             ",place,context,CC",                // no value
             ",place,context,CC+a+b+c",          // one too many
             ",place,context,CC+a,CC+b",         // twice
             ",place,context,.HOME+/h",          // not managed
             ",place,context,.CUDA_HOME",        // without its value
             ",place,context,PATH+f+f/c,PATH+f+f/d",
             ",place,context,PATH+f",     // nothing added
             ",place,context,PATH+x+f/c", // unknown state
             ",place,context,PATH+f+x/c", // unknown part
             ",place,context,PATH+f+",
             ",place,context,PATH+f+f", // an empty entry
             ",place,context,PATH+f+b",
             ",place,context,PATH+f+f/c%3A/d", // an entry that is two
             ",place,context,PATH+f+f/c+o/c",  // half an entry
             ",place,context,PATH+f+f/c+o/c+a+n1",
             ",place,context,PATH+f+f/c+o/c+nx+a",
             ",place,context,PATH+f+f/c+o/c+n-1+a",
             ",place,context,PATH+f+f/c+o/c+n99999999999999999999+a",
             ",place,context,PATH+f+f/c+o+n1+a",
             ",place,context,PATH+f+o/c+n1+a", // an own entry of nothing added
             ",place,context,PATH+f+f/c+h",
             ",place,context,PATH+f+h/c+t/c",
             ",place,context,__CONDA_SHLVL_1_HOME",
             ",place,context,__CONDA_SHLVL_1_CC+/c",
             ",place,context,CC+%",
             ",place,context,CC+%4",
             ",place,context,CC+%4g",
             ",place,context,CC+%4a", // lower case: written otherwise
             ",place,context,CC+%00",
             ",place,context,CC+a=b",
             ",place,context,CC+a b",
             ",place,context,CC+\xff",
             ",place,context,CC+9:x", // more than there was before it
             ",place,context,CC+:x",
             ",place,context,CC+1:2:x",
             ",place,context,CC+-1:x",
         }) {
        check_refused(sealed(body));
    }
}

TEST_CASE("a short text cannot stand for an endless one") {
    std::string body = "," + std::string(30'000, 'x') + ",30000:,PATH+f";
    for (int i = 0; i < 1000; ++i) {
        body += "+f30000:";
    }
    REQUIRE(sealed(body).size() < k_most_journal_bytes);
    check_refused(sealed(body));
}

TEST_CASE("a journal of another version is refused") {
    std::string text = write_journal(sample());
    text.front() = '2';
    check_refused(text);
}
