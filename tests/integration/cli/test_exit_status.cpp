#include "run_client.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

using namespace cudaenv::test;

namespace {
const std::string k_lab = R"({"schema": "cudaenv.host/1", "hostname": "lab-07",
    "driver": {"version": "470.199.02", "cuda": "11.4", "source": "NVML"},
    "gpus": [{"index": 0, "name": "GeForce RTX 3090", "compute_capability": "8.6"}],
    "toolkits": [{"path": "/usr/local/cuda-11.3", "version": "11.3.109", "nvcc": true,
                  "gcc_min": 6, "gcc_max": 10}],
    "compilers": [{"family": "gcc", "version": "9.4.0", "path": "/usr/bin/g++-9"}]})";
} // namespace

TEST_CASE("host says what this machine is and what it exports is read back") {
    const Client client;
    const Ran shown = client.run({"host"});
    CHECK(shown.status == 0);
    CHECK(shown.out.starts_with("host "));
    CHECK(shown.err.empty());

    const Ran exported = client.run({"host", "--export", "facts.json"});
    CHECK(exported.status == 0);
    CHECK(exported.out.empty());
    CHECK(exported.err == "cudaenv: facts written to facts.json\n");
    const auto facts = nlohmann::json::parse(read_file(client.directory + "/facts.json"));
    CHECK(facts["schema"] == "cudaenv.host/1");
    for (const auto& toolkit : facts["toolkits"]) {
        CHECK_FALSE(toolkit.contains("fits")); // facts, not what follows from them
    }
    const Ran again = client.run({"host", "--host", "facts.json", "--export", "-"});
    CHECK(nlohmann::json::parse(again.out) == facts);
}

TEST_CASE("an answer that is no ends in 1, bad input in 2, what cannot be done in 3") {
    const Client client;
    write_file(client.directory + "/lab.json", k_lab);
    CHECK(client.run({"resolve", "torch", "--cuda", "11.3", "--host", "lab.json"}).status == 0);
    CHECK(client.run({"resolve", "torch==2.4", "--cuda", "12.1", "--host", "lab.json"}).status ==
          1);
    CHECK(client.run({"resolve", "torch=="}).status == 2);
    CHECK(client.run({"resolve", "--cuda"}).status == 2);
    CHECK(client.run({"host", "--host", "none.json"}).status == 2);
    CHECK(client.run({"host", "--export", "/no/such/directory/f"}).status == 3);
    CHECK(client.run({"resolve", "x", "-c", "https://conda.example/c"}).status == 3);
}

TEST_CASE("with --json every outcome is exactly one object on standard output") {
    const Client client;
    write_file(client.directory + "/lab.json", k_lab);
    write_file(client.directory + "/bad.json", "{");
    const auto arguments = GENERATE(
        std::vector<std::string>{"host"}, std::vector<std::string>{"toolkits"},
        std::vector<std::string>{"status"}, std::vector<std::string>{},
        std::vector<std::string>{"pin"}, std::vector<std::string>{"config", "list"},
        std::vector<std::string>{"resolve", "torch", "--host", "lab.json"},
        std::vector<std::string>{"resolve", "torch==2.4", "--cuda", "12.1", "--host", "lab.json"},
        std::vector<std::string>{"resolve", "torch=="}, std::vector<std::string>{"resolve", "--no"},
        std::vector<std::string>{"host", "--host", "bad.json"}, std::vector<std::string>{"hosst"},
        std::vector<std::string>{"schema", "host"});
    std::vector<std::string> words = arguments;
    words.emplace_back("--json");
    const Ran ran = client.run(words);
    INFO(ran.out);
    CHECK(ran.err.empty());
    const auto object = nlohmann::json::parse(ran.out);
    CHECK(object.is_object());
    if (ran.status > 1) {
        CHECK(object["schema"] == "cudaenv.error/1");
        for (const char* key : {"code", "message", "path", "line", "column", "hint"}) {
            CHECK(object.contains(key));
        }
    }
}

TEST_CASE("pin writes the project's file, status and resolve obey it, unpin removes it") {
    const Client client;
    write_file(client.directory + "/lab.json", k_lab);
    const Ran pinned = client.run({"pin", "11.3", "--host", "lab.json"});
    CHECK(pinned.status == 0);
    CHECK(pinned.out == "cuda 11.3   written to ./cudaenv.toml\n"
                        "            toolkit /usr/local/cuda-11.3 (11.3.109), compiled with g++-9\n"
                        "            driver 470.199.02 runs it fully\n"
                        "            newest torch with CUDA 11.3 is 1.12.1\n"
                        "next        cudaenv resolve torch torchvision\n");
    const auto resolved =
        nlohmann::json::parse(client.run({"resolve", "torch", "--host", "lab.json", "--json"}).out);
    CHECK(resolved["cuda"] == "11.3");
    CHECK(client.run({"--host", "lab.json"}).out.find("cuda 11.3   the project") !=
          std::string::npos);
    CHECK(client.run({"unpin", "cuda"}).out == "cuda       no longer pinned in ./cudaenv.toml (was "
                                               "11.3)\n");
}

TEST_CASE("a pin that this host cannot have is written with a warning, with --strict status 1") {
    const Client client;
    write_file(client.directory + "/lab.json", k_lab);
    const Ran pinned = client.run({"pin", "13.0", "--host", "lab.json"});
    CHECK(pinned.status == 0);
    CHECK(pinned.out.find("✗ driver 470.199.02: needs driver 580.65.06") != std::string::npos);
    CHECK(client.run({"pin", "13.0", "--strict", "--host", "lab.json"}).status == 1);
}

TEST_CASE("messages name the argument as the command line counts it") {
    const Client client;
    CHECK(client.run({"pin", "cuda=eleven"}).err ==
          "cudaenv: \"eleven\" is not a version: expected digits and dots, as in 11.3 (argument 1, "
          "column 6)\n");
    CHECK(client.run({"pin", "--here", "cuda=eleven"}).err.find("(argument 2, column 6)") !=
          std::string::npos);
    write_file(client.directory + "/cudaenv.toml", "[pins]\ncudaa = \"11.3\"\n");
    CHECK(client.run({"status"}).err == "cudaenv: ./cudaenv.toml line 2, column 1: unknown pin "
                                        "\"cudaa\"; did you mean \"cuda\"?\n");
    CHECK_FALSE(std::filesystem::exists(client.directory + "/cudaenv.local.toml"));
}

TEST_CASE("the text is ASCII where the locale is, and colour comes only when asked for") {
    Client client;
    write_file(client.directory + "/lab.json", k_lab);
    client.environment["LANG"] = "C";
    const Ran plain = client.run({"host", "--host", "lab.json"});
    CHECK(plain.out.find("ok fits the driver") != std::string::npos);
    CHECK(plain.out.find('\x1b') == std::string::npos);
    CHECK(client.run({"host", "--host", "lab.json", "--color", "always"}).out.find("\x1b[32mok") !=
          std::string::npos);
}

TEST_CASE("host --export replaces a file whole, follows a symlink and writes to a device") {
    const Client client;
    namespace fs = std::filesystem;
    write_file(client.directory + "/real.json", "old");
    fs::create_symlink("real.json", client.directory + "/link.json");
    CHECK(client.run({"host", "-q", "--export", "link.json"}).err.empty());
    CHECK(fs::is_symlink(client.directory + "/link.json"));
    CHECK(read_file(client.directory + "/real.json").starts_with("{"));
    CHECK(client.run({"host", "--export", "/dev/null"}).status == 0);
    CHECK(fs::is_character_file("/dev/null"));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(client.directory)) {
        ++files;
    }
    CHECK(files == 2); // no temporary file is left
}

TEST_CASE("only config get shows a channel's token") {
    const Client client;
    const std::string channel = "https://me:s3cret@host/t/tk-1/c";
    const Ran set = client.run({"config", "set", "resolve.channels", channel});
    CHECK(set.status == 0);
    for (const Ran& ran :
         {set, client.run({"config", "list"}), client.run({"config", "list", "--json"}),
          client.run({"resolve", "torch"})}) {
        CHECK(ran.out.find("s3cret") == std::string::npos);
        CHECK(ran.out.find("https://***@host/t/***/c") != std::string::npos);
    }
    CHECK(client.run({"config", "get", "resolve.channels"}).out.find(channel) != std::string::npos);
}
