#include "solver/specs/match_spec.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <string>

using namespace cudaenv::specs;

namespace {

MatchSpec spec(const std::string& text) {
    auto parsed = MatchSpec::parse(text);
    INFO(text << ": " << (parsed ? "" : parsed.error().message));
    REQUIRE(parsed);
    return std::move(*parsed);
}

PackageRecord record(const std::string& version, const std::string& build,
                     std::uint64_t build_number = 0) {
    PackageRecord made;
    made.name = "pkg";
    made.version = version;
    made.build = build;
    made.build_number = build_number;
    made.subdir = "linux-64";
    made.channel = "conda-forge";
    return made;
}

bool matches(const std::string& text, const PackageRecord& candidate) {
    const auto version = Version::parse(candidate.version);
    REQUIRE(version);
    return spec(text).matches(candidate, *version);
}

bool matches(const std::string& text, const std::string& version,
             const std::string& build = "py38_0") {
    return matches(text, record(version, build));
}

} // namespace

TEST_CASE("a name alone constrains nothing") {
    CHECK(spec("numpy").name() == "numpy");
    CHECK_FALSE(spec("numpy").constrains_anything());
    CHECK_FALSE(spec("numpy *").constrains_anything());
    CHECK_FALSE(spec("numpy=").constrains_anything());
    CHECK(spec("numpy >=1").constrains_anything());
    CHECK(matches("numpy", "1.0"));
}

TEST_CASE("a name is read in lower case") {
    CHECK(spec("PyTorch >=1").name() == "pytorch");
    CHECK(spec("PyTorch").str() == "PyTorch");
}

TEST_CASE("one equals sign is a prefix, two are exact, and a space is exact") {
    CHECK(matches("numpy=1.7", "1.7.9"));
    CHECK_FALSE(matches("numpy=1.7", "1.70"));
    CHECK(matches("numpy==1.7", "1.7.0"));
    CHECK_FALSE(matches("numpy==1.7", "1.7.1"));
    CHECK(matches("numpy 1.7", "1.7.0"));
    CHECK_FALSE(matches("numpy 1.7", "1.7.1"));
    CHECK(matches("numpy 1.7.*", "1.7.1"));
    CHECK(matches("numpy =1.7", "1.7.1"));
}

TEST_CASE("with a build one equals sign is exact, as conda has it") {
    CHECK(matches("pytorch=1.7=*cuda11.0*", "1.7.0", "py3.8_cuda11.0.221_cudnn8.0.3_0"));
    CHECK_FALSE(matches("pytorch=1.7=*cuda11.0*", "1.7.1", "py3.8_cuda11.0.221_cudnn8.0.5_0"));
    CHECK_FALSE(matches("pytorch=1.7=*cuda11.0*", "1.7.0", "py3.8_cpu_0"));
    CHECK(matches("pytorch=1.7.*=*cuda11.0*", "1.7.1", "py3.8_cuda11.0.221_cudnn8.0.5_0"));
}

TEST_CASE("a star at the end of a version ends a component") {
    CHECK(matches("nccl=2.2*", "2.2.13"));
    CHECK_FALSE(matches("nccl=2.2*", "2.20"));
    CHECK(matches("nccl 2.2.*", "2.2"));
}

TEST_CASE("a star inside a version is a glob over the text") {
    CHECK(matches("numpy 1.*.3", "1.25.3"));
    CHECK_FALSE(matches("numpy 1.*.3", "1.25.4"));
}

TEST_CASE("comparisons, commas, bars and parentheses") {
    CHECK(matches("numpy >=1.19,<2", "1.26.4"));
    CHECK_FALSE(matches("numpy >=1.19,<2", "2.0"));
    CHECK(matches("numpy <1|>=2,<3", "2.5"));
    CHECK(matches("numpy <1|>=2,<3", "0.9"));
    CHECK_FALSE(matches("numpy <1|>=2,<3", "1.5"));
    CHECK(matches("numpy[version='(1.5|1.6),!=1.6.1']", "1.6"));
    CHECK_FALSE(matches("numpy[version='(1.5|1.6.1),!=1.6.1']", "1.6.1"));
    CHECK(matches("numpy >= 1.19 , < 2 py38_0", "1.20"));
    CHECK(matches("numpy !=1.7.*", "1.8"));
    CHECK_FALSE(matches("numpy !=1.7.*", "1.7.3"));
}

TEST_CASE("a compatible release keeps all but the last part") {
    CHECK(matches("numpy ~=1.4.2", "1.4.9"));
    CHECK_FALSE(matches("numpy ~=1.4.2", "1.5"));
    CHECK_FALSE(matches("numpy ~=1.4.2", "1.4.1"));
}

TEST_CASE("where conda fails while matching the answer is Undefined, and no match") {
    const auto one = Version::parse("1.16");
    const auto low = Version::parse("0.5");
    CHECK(spec("numpy ~=1").evaluate(record("1.16", "x"), &*one) == Verdict::Undefined);
    CHECK(spec("numpy ~=1").evaluate(record("0.5", "x"), &*low) == Verdict::No);
    CHECK(spec("numpy >=1").evaluate(record("1..2", "x"), nullptr) == Verdict::Undefined);
    CHECK(spec("numpy * x").evaluate(record("1..2", "x"), nullptr) == Verdict::Yes);
    CHECK_FALSE(spec("numpy ~=1").matches(record("1.16", "x"), *one));
}

TEST_CASE("builds are equal, globs or regular expressions") {
    CHECK(matches("numpy 1.0 py38_0", "1.0", "py38_0"));
    CHECK(matches("numpy * py3*", "1.0", "py38_0"));
    CHECK_FALSE(matches("numpy * py2*", "1.0", "py38_0"));
    CHECK(matches("numpy[build='^py3\\d_0$']", "1.0", "py38_0"));
    CHECK_FALSE(matches("numpy * py3.*", "1.0", "py38_0"));
    CHECK(matches("numpy 1.0=py38_0", "1.0", "py38_0"));
}

TEST_CASE("brackets override what stands before them") {
    CHECK(matches("numpy 1.0[version='2.*']", "2.1"));
    CHECK(matches("numpy[version=1.*, build=*_0]", "1.4"));
    CHECK(matches("numpy[version='>=1.0,<2' build=\"py38_0\"]", "1.4"));
    CHECK(matches("numpy[name=other]", "1.0"));
    CHECK(spec("numpy[name=other]").name() == "numpy");
}

TEST_CASE("a build number is a number or a comparison") {
    CHECK(matches("numpy[build_number=3]", record("1.0", "x", 3)));
    CHECK_FALSE(matches("numpy[build_number=3]", record("1.0", "x", 4)));
    CHECK(matches("numpy[build_number='>=2']", record("1.0", "x", 10)));
    CHECK_FALSE(matches("numpy[build_number='<2']", record("1.0", "x", 10)));
    CHECK(matches("numpy[build_number='!=2']", record("1.0", "x", 10)));
}

TEST_CASE("channel and subdir stand before the name or in brackets") {
    CHECK(matches("conda-forge::numpy", "1.0"));
    CHECK_FALSE(matches("nvidia::numpy", "1.0"));
    CHECK(matches("conda-forge/linux-64::numpy", "1.0"));
    CHECK_FALSE(matches("conda-forge/noarch::numpy", "1.0"));
    CHECK(matches("numpy[channel=conda-forge, subdir=linux-64]", "1.0"));
    CHECK_FALSE(matches("numpy[subdir=osx-64]", "1.0"));
    CHECK(matches("https://conda.anaconda.org/conda-forge::numpy", "1.0"));
    CHECK(matches("*/linux-64::numpy >=1", "1.0"));
    CHECK(spec("conda-forge::numpy").name() == "numpy");
}

TEST_CASE("hashes, file names and URLs are compared as they are") {
    PackageRecord made = record("1.14.0", "py27_0");
    made.name = "numpy";
    made.sha256 = std::string(64, 'a');
    made.file_name = "numpy-1.14.0-py27_0.conda";
    made.url = "https://conda.anaconda.org/conda-forge/linux-64/numpy-1.14.0-py27_0.conda";
    CHECK(matches("*[sha256=" + made.sha256 + "]", made));
    CHECK_FALSE(matches("*[sha256=" + std::string(64, 'b') + "]", made));
    CHECK(matches("numpy[fn=" + made.file_name + "]", made));
    CHECK(matches(made.url, made));
    CHECK(spec(made.url).name() == "numpy");
    CHECK(*spec(made.url).value("version") == "1.14.0");
    made.channel = "nvidia";
    CHECK_FALSE(matches(made.url, made));
    CHECK(*spec("numpy-1.14.0-py27_0.tar.bz2").value("fn") == "numpy-1.14.0-py27_0.tar.bz2");
}

TEST_CASE("features are matched as a set") {
    PackageRecord made = record("1.0", "x");
    made.track_features = {"nomkl"};
    CHECK(matches("nomkl@", made));
    CHECK_FALSE(matches("mkl@", made));
    CHECK(matches("numpy[track_features=nomkl]", made));
    CHECK_FALSE(matches("numpy[track_features='nomkl blas']", made));
}

TEST_CASE("comments, conditions and options in parentheses are looked over") {
    CHECK(matches("numpy >=1 # why", "1.0"));
    CHECK(matches("numpy >=1 if win", "1.0"));
    CHECK(matches("numpy (optional)", "1.0"));
}

TEST_CASE("a name may be a pattern") {
    const MatchSpec pattern = spec("py*");
    CHECK(pattern.name() == "*");
    CHECK(pattern.name_is_pattern());
    CHECK(pattern.name_matches("pytorch"));
    CHECK_FALSE(pattern.name_matches("numpy"));
    CHECK(spec("numpy").name_matches("numpy"));
    CHECK_FALSE(spec("numpy").name_matches("num"));
    CHECK(spec("*").name_matches("anything"));
}

TEST_CASE("virtual and underscored names are names") {
    const auto text = GENERATE("__cuda >=11", "__glibc", "_libgcc_mutex 0.1 main", "libstdcxx-ng",
                               "a.b-c_d", "7zip");
    CHECK(spec(text).name() == std::string(text).substr(0, std::string(text).find(' ')));
}
