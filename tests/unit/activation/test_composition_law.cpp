// What holds of every patch, tried in situations by chance.
#include "base/variables.hpp"
#include "composition_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace {

using namespace cudaenv;
using namespace cudaenv::activation;
using namespace cudaenv::patch;
using namespace cudaenv::pins;
using namespace cudaenv::activation::test;

class RandomSituation {
public:
    explicit RandomSituation(unsigned seed) : m_random(seed) {}

    Case make() {
        Case there;
        Situation& situation = there.situation;
        situation = machine();
        situation.config = config(
            "[activate]\nld_library_path = \"" + one<std::string>({"auto", "never", "always"}) +
            "\"\ncompilers = " + one<std::string>({"true", "false"}) + "\n[resolve]\nfor = \"" +
            one<std::string>({"run", "build"}) + "\"\n");
        if (chance(4)) {
            situation.host.toolkits.clear();
        }
        if (!chance(4)) {
            situation.environment =
                environment(chance(2) ? EnvironmentKind::Conda : EnvironmentKind::Venv,
                            one<std::string>({"/home/u/envs/apex", "/home/u/a:b", "/usr", "/opt",
                                              "/home/u/a b"}));
            auto& inside = *situation.environment;
            if (chance(2)) {
                inside.frameworks = {
                    torch("1", one<std::string>({"11.3", "12.4", "11.8", "10.2", "13.0"}))};
            }
            if (chance(3)) {
                inside.toolkits = {
                    toolkit(chance(2) ? inside.prefix : inside.prefix + "/nvidia/cu13",
                            one<std::string>({"11.3.1", "12.9.86", "13.0.88"}))};
            }
            if (chance(3)) {
                inside.cudnn = {directory(), directory(), directory(), directory() + "/x.so",
                                std::nullopt};
            }
            if (chance(3)) {
                inside.compilers = {gcc(inside.prefix + "/bin/x86_64-conda-linux-gnu-c++",
                                        one<std::string>({"9.5.0", "11.4.0", "15.1.0"}))};
            }
            if (chance(2)) {
                inside.sonames = {"libcudart.so.11.0"};
            }
        }
        if (chance(2)) {
            situation.pins.pins = {
                pin(one<PinSource>({PinSource::Shell, PinSource::Project, PinSource::Environment,
                                    PinSource::User, PinSource::System}),
                    one<std::string>({"11.3", "12", ">=11,<13", "==11.3.1", "*", "10.0"}))};
        }
        for (const std::string_view name : managed_variables()) {
            if (chance(5)) {
                situation.base[std::string(name)] = one<std::string>(
                    {"", "mine", "/usr/local/cuda", "/usr/local/cuda-11.3/", "g++", "gcc-9",
                     "/usr/bin/g++-12", ":/x:", "/usr/local/cuda-11.3/bin:/usr/bin"});
            }
            if (chance(20)) {
                situation.kept.emplace_back(name);
            }
        }
        situation.host.gpus.resize(static_cast<std::size_t>(below(3)));
        for (auto& gpu : situation.host.gpus) {
            gpu.compute_capability = ComputeCapability{5 + below(5), below(3)};
        }
        situation.machine.cores = below(70);
        situation.machine.memory_bytes = static_cast<std::uint64_t>(below(100)) << 30;
        auto& layout = there.layout;
        layout.path = chance(2) ? "/usr/local/cuda-11.3" : directory();
        layout.bin = directory();
        layout.include = directory();
        layout.library = directory();
        layout.libdevice_root = directory();
        return there;
    }

private:
    int below(int limit) { return static_cast<int>(m_random() % static_cast<unsigned>(limit)); }
    bool chance(int one_in) { return below(one_in) == 0; }
    template <typename T>
    T one(std::vector<T> of) {
        return of[static_cast<std::size_t>(below(static_cast<int>(of.size())))];
    }
    std::string directory() {
        return one<std::string>({"",
                                 "/",
                                 "/usr",
                                 "/usr/bin",
                                 "/usr/bin/",
                                 "/usr//include",
                                 "/usr/lib/x86_64-linux-gnu",
                                 "/usr/lib/nvidia-cuda-toolkit/bin",
                                 "/lib64",
                                 "/usr/local/bin",
                                 "/usr/local/lib",
                                 "/usr/local/cuda/lib64/stubs",
                                 "/usr/local/cuda/compat",
                                 "/usr/local/cuda-11.3/bin",
                                 "/usr/local/cuda-11.3/lib64/",
                                 "/home/u/envs/a b",
                                 "/home/u/envs/$(x)",
                                 "/home/u/a:b",
                                 "/home/u/envs/apex",
                                 "/home/u/envs/./apex/../../../usr/bin",
                                 "relative",
                                 "/home/u/\n"});
    }

    std::mt19937 m_random;
};

} // namespace

TEST_CASE("whatever the situation, a patch keeps its laws") {
    constexpr unsigned k_rounds = 4000;
    int patched = 0;
    for (unsigned seed = 0; seed < k_rounds; ++seed) {
        const Case there = RandomSituation(seed).make();
        const CudaChoice choice = choose(there.situation);
        const Composition composition = there.compose();
        CAPTURE(seed, choice.reason, choice.cuda);
        CHECK(set_to(composition, "CUDA_HOME") == set_to(composition, "CUDA_PATH"));
        patched += composition.patch.variables.empty() ? 0 : 1;
        CHECK((choice.toolkit ||
               (composition.patch.variables.empty() && composition.patch.entries.empty())));
        CHECK((!choice.none() || composition.patch.variables.empty()));
        std::set<std::string> names;
        for (const SetVariable& variable : composition.patch.variables) {
            CAPTURE(variable.name, variable.value);
            CHECK(names.insert(variable.name).second);
            CHECK(is_managed(variable.name));
            CHECK_FALSE(is_managed_list(variable.name));
            CHECK_FALSE(there.situation.is_kept(variable.name));
            const bool may_replace = variable.name == "CUDA_HOME" || variable.name == "CUDA_PATH" ||
                                     variable.name == "CC" || variable.name == "CXX";
            CHECK((may_replace || there.situation.value(variable.name) == nullptr));
        }
        std::set<std::pair<std::string, std::string>> entries;
        for (const AddEntry& entry : composition.patch.entries) {
            CAPTURE(entry.list, entry.entry);
            CHECK(is_managed_list(entry.list));
            CHECK_FALSE(there.situation.is_kept(entry.list));
            CHECK(entries.insert({entry.list, entry.entry}).second);
            CHECK(entry.entry.starts_with('/'));
            CHECK(entry.entry.find(':') == std::string::npos);
            CHECK(entry.entry.find("/stubs") == std::string::npos);
            CHECK(entry.entry.find("/compat") == std::string::npos);
            CHECK(entry.entry.find("/..") == std::string::npos);
            CHECK_FALSE(entry.entry.ends_with('/'));
            CHECK((entry.list == "PATH") == (entry.end == End::Front));
            for (const std::string system :
                 {"/usr/bin", "/usr/lib", "/usr/include", "/lib", "/bin"}) {
                CHECK_FALSE(entry.entry.starts_with(system));
            }
            for (const std::string system : {"/", "/usr", "/usr/local/bin", "/usr/local/lib"}) {
                CHECK(entry.entry != system);
            }
        }
        const std::string line = quiet_line(there.situation, choice, composition, true);
        CHECK(line.empty() == choice.none());
        CHECK(std::ranges::all_of(line, [](char c) { return c >= 0x20 && c < 0x7f; }));
    }
    CHECK(patched > 1000); // the laws were tried on something
}
