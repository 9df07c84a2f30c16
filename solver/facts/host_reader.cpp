#include "solver/facts/host_json.hpp"
#include "solver/facts/json_member.hpp"
#include "solver/facts/json_place.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace cudaenv::facts {

namespace {

using nlohmann::json;

Driver read_driver(const Member& member) {
    constexpr std::array<const char*, 2> k_kinds = {"open", "proprietary"};
    Driver driver;
    driver.version = member.version("version");
    driver.cuda = member.version("cuda");
    if (const auto kind =
            member.one_of("kind", k_kinds, "expected \"open\", \"proprietary\" or null")) {
        driver.kind = *kind == 0 ? DriverKind::Open : DriverKind::Proprietary;
    }
    driver.derived = member.flag("derived");
    driver.source = member.text("source");
    driver.measured = member.flag("measured");
    return driver;
}

Measured read_measured(const Member& member) {
    Measured measured;
    measured.verdict = member.text("verdict");
    measured.summary = member.text("summary");
    measured.at = member.text("at");
    measured.driver_cuda = member.version("driver_cuda");
    member.objects("gpus", [&](const Member& gpu) {
        measured.gpus.push_back(
            {gpu.text("name"), gpu.text("uuid"), gpu.capability("compute_capability")});
    });
    measured.runtime = member.version("runtime");
    member.objects("failed", [&](const Member& rung) {
        measured.failed.push_back(
            {rung.text("step"), rung.text("code"), rung.text("detail"), rung.text("cause")});
    });
    return measured;
}

Gpu read_gpu(const Member& member, int index) {
    Gpu gpu;
    gpu.index =
        static_cast<int>(member.count("index", 9999).value_or(static_cast<std::uint64_t>(index)));
    gpu.name = member.text("name");
    gpu.uuid = member.text("uuid");
    gpu.compute_capability = member.capability("compute_capability");
    gpu.pci_device = member.text("pci_device");
    gpu.memory_bytes = member.count("memory_bytes", std::numeric_limits<std::uint64_t>::max());
    gpu.mig = member.flag("mig");
    gpu.source = member.text("source");
    gpu.last_driver_branch = member.version("last_driver_branch");
    return gpu;
}

Toolkit read_toolkit(const Member& member) {
    Toolkit toolkit;
    toolkit.path =
        member.required_text("path", "each toolkit has a path, as in \"/usr/local/cuda-11.3\"");
    toolkit.version = member.version("version");
    toolkit.nvcc = member.flag("nvcc");
    toolkit.gcc_min = member.major("gcc_min");
    toolkit.gcc_max = member.major("gcc_max");
    toolkit.clang_min = member.major("clang_min");
    toolkit.clang_max = member.major("clang_max");
    toolkit.cudnn = member.version("cudnn");
    toolkit.cudnn_library = member.version("cudnn_library");
    toolkit.nccl = member.version("nccl");
    toolkit.nccl_library = member.version("nccl_library");
    toolkit.problem = member.text("problem");
    toolkit.source = member.text("source");
    toolkit.aliases = member.texts("aliases");
    toolkit.sources = member.named_texts("sources");
    toolkit.absent = member.named_texts("absent");
    toolkit.warnings = member.texts("warnings");
    return toolkit;
}

Compiler read_compiler(const Member& member) {
    constexpr std::array<const char*, 2> k_families = {"gcc", "clang"};
    Compiler compiler;
    member.required_text("family", "each compiler has a family, \"gcc\" or \"clang\"");
    if (const auto family = member.one_of("family", k_families, "expected \"gcc\" or \"clang\"")) {
        compiler.family = *family == 0 ? CompilerFamily::Gcc : CompilerFamily::Clang;
    }
    member.required_text("version", "each compiler has a version, as in \"9.4.0\"");
    compiler.version = member.version("version").value_or(DottedVersion());
    compiler.path = member.text("path");
    compiler.source = member.text("source");
    compiler.is_default = member.flag("default");
    return compiler;
}

Host read_host(const Member& member) {
    Host host;
    host.hostname = member.text("hostname");
    host.captured = member.text("captured");
    member.object("driver", [&](const Member& driver) { host.driver = read_driver(driver); });
    host.driver_absent = member.text("driver_absent");
    member.objects("gpus", [&](const Member& gpu) {
        host.gpus.push_back(read_gpu(gpu, static_cast<int>(host.gpus.size())));
    });
    host.gpus_absent = member.text("gpus_absent");
    member.objects("toolkits",
                   [&](const Member& toolkit) { host.toolkits.push_back(read_toolkit(toolkit)); });
    member.objects("compilers", [&](const Member& compiler) {
        host.compilers.push_back(read_compiler(compiler));
    });
    // A file need not say which compiler is the default: then it is the g++ or clang++ of that very
    // name.
    if (std::none_of(host.compilers.begin(), host.compilers.end(),
                     [](const Compiler& one) { return one.is_default; })) {
        for (Compiler& compiler : host.compilers) {
            compiler.is_default =
                compiler.path.ends_with("/g++") || compiler.path.ends_with("/clang++");
        }
    }
    host.glibc = member.version("glibc");
    host.machine = member.text("machine");
    host.kernel = member.text("kernel");
    host.distribution = member.text("distribution");
    member.object("platform", [&](const Member& platform) {
        host.platform.wsl = platform.flag("wsl");
        host.platform.container = platform.text("container");
        host.platform.jetson = platform.flag("jetson");
    });
    member.objects("conda", [&](const Member& install) {
        CondaInstall read;
        read.kind = install.required_text("kind", "each conda install has a kind, as in \"conda\"");
        read.path = install.text("path");
        if (auto version = install.text("version"); !version.empty()) {
            read.version = std::move(version);
        }
        read.source = install.text("source");
        host.conda.push_back(std::move(read));
    });
    host.sources = member.named_texts("sources");
    host.absent = member.named_texts("absent");
    host.notes = member.texts("notes");
    member.object("measured",
                  [&](const Member& measured) { host.measured = read_measured(measured); });
    return host;
}

// "parse error at line 3, column 5: syntax error while parsing value - unexpected ...": the place
// is told apart, so only what follows it is kept.
std::string syntax_problem(std::string_view what) {
    for (const std::string_view mark : {"syntax error while ", "column "}) {
        if (const auto at = what.find(mark); at != std::string_view::npos) {
            what.remove_prefix(mark == "column " ? what.find(": ", at) + 2 : at + mark.size());
            break;
        }
    }
    return "not JSON: " + std::string(what);
}

} // namespace

Result<Host> parse_host(std::string_view text, std::string_view path) {
    constexpr const char* k_schema_hint =
        "a facts file is an object with \"schema\": \"cudaenv.host/1\", as `cudaenv host --export` "
        "writes it";
    json document;
    try {
        document = json::parse(text);
    } catch (const json::parse_error& error) {
        // `byte` counts from 1 and stands behind what was read.
        const auto place = place_of_offset(text, error.byte == 0 ? 0 : error.byte - 1);
        return tl::unexpected(Error{ErrorKind::BadInput, "bad-facts", syntax_problem(error.what()),
                                    std::string(path), place.line, place.column, k_schema_hint});
    } catch (const json::exception& error) { // a number out of range
        return tl::unexpected(Error{ErrorKind::BadInput, "bad-facts", syntax_problem(error.what()),
                                    std::string(path), 1, 1, k_schema_hint});
    }
    Reader reader(text, path);
    if (!document.is_object()) {
        reader.fail({}, "is " + described(document), k_schema_hint);
        return tl::unexpected(*reader.error());
    }
    const Member member(reader, document, {});
    if (member.find("schema") == nullptr) {
        reader.fail({}, "`schema` is missing", k_schema_hint);
    } else if (member.text("schema") != k_host_schema) {
        member.wrong("schema", document["schema"], k_schema_hint);
    }
    if (reader.error()) {
        return tl::unexpected(*reader.error());
    }
    Host host = read_host(member);
    if (reader.error()) {
        return tl::unexpected(*reader.error());
    }
    return host;
}

} // namespace cudaenv::facts
