#include "solver/facts/host_json.hpp"

#include "solver/facts/json_fields.hpp"
#include "solver/facts/json_place.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::facts {

// --- What a facts file holds --------------------------------------------------------------------

constexpr auto words_of(DriverKind /*type*/) {
    return std::to_array<const char*>({"open", "proprietary"});
}

constexpr auto words_of(CompilerFamily /*type*/) {
    return std::to_array<const char*>({"gcc", "clang"});
}

constexpr auto fields_of(const Driver* /*type*/) {
    return std::tuple(Field("version", &Driver::version), Field("cuda", &Driver::cuda),
                      Field("kind", &Driver::kind), Field("derived", &Driver::derived),
                      Field("measured", &Driver::measured), Field("source", &Driver::source));
}

constexpr auto fields_of(const Gpu* /*type*/) {
    return std::tuple(
        Field("index", &Gpu::index), Field("name", &Gpu::name), Field("uuid", &Gpu::uuid),
        Field("compute_capability", &Gpu::compute_capability),
        Field("pci_device", &Gpu::pci_device), Field("memory_bytes", &Gpu::memory_bytes),
        Field("mig", &Gpu::mig), Field("source", &Gpu::source),
        Field("last_driver_branch", &Gpu::last_driver_branch));
}

constexpr auto fields_of(const Toolkit* /*type*/) {
    return std::tuple(Field("path", &Toolkit::path, Presence::Required,
                            "each toolkit has a path, as in \"/usr/local/cuda-11.3\""),
                      Field("version", &Toolkit::version), Field("nvcc", &Toolkit::nvcc),
                      Field("gcc_min", &Toolkit::gcc_min), Field("gcc_max", &Toolkit::gcc_max),
                      Field("clang_min", &Toolkit::clang_min),
                      Field("clang_max", &Toolkit::clang_max), Field("cudnn", &Toolkit::cudnn),
                      Field("cudnn_library", &Toolkit::cudnn_library),
                      Field("nccl", &Toolkit::nccl), Field("nccl_library", &Toolkit::nccl_library),
                      Field("problem", &Toolkit::problem), Field("source", &Toolkit::source),
                      Field("aliases", &Toolkit::aliases), Field("sources", &Toolkit::sources),
                      Field("absent", &Toolkit::absent), Field("warnings", &Toolkit::warnings));
}

constexpr auto fields_of(const Compiler* /*type*/) {
    return std::tuple(Field("family", &Compiler::family, Presence::Required,
                            "each compiler has a family, \"gcc\" or \"clang\""),
                      Field("version", &Compiler::version, Presence::Required,
                            "each compiler has a version, as in \"9.4.0\""),
                      Field("path", &Compiler::path, Presence::Text),
                      Field("source", &Compiler::source), Field("default", &Compiler::is_default));
}

constexpr auto fields_of(const CondaInstall* /*type*/) {
    return std::tuple(Field("kind", &CondaInstall::kind, Presence::Required,
                            "each conda install has a kind, as in \"conda\""),
                      Field("path", &CondaInstall::path, Presence::Text),
                      Field("version", &CondaInstall::version),
                      Field("source", &CondaInstall::source));
}

constexpr auto fields_of(const Platform* /*type*/) {
    return std::tuple(Field("wsl", &Platform::wsl), Field("container", &Platform::container),
                      Field("jetson", &Platform::jetson));
}

constexpr auto fields_of(const MeasuredGpu* /*type*/) {
    return std::tuple(Field("name", &MeasuredGpu::name), Field("uuid", &MeasuredGpu::uuid),
                      Field("compute_capability", &MeasuredGpu::compute_capability));
}

constexpr auto fields_of(const FailedRung* /*type*/) {
    return std::tuple(Field("step", &FailedRung::step), Field("code", &FailedRung::code),
                      Field("detail", &FailedRung::detail), Field("cause", &FailedRung::cause));
}

constexpr auto fields_of(const Measured* /*type*/) {
    return std::tuple(Field("verdict", &Measured::verdict), Field("summary", &Measured::summary),
                      Field("at", &Measured::at), Field("driver_cuda", &Measured::driver_cuda),
                      Field("gpus", &Measured::gpus), Field("runtime", &Measured::runtime),
                      Field("failed", &Measured::failed));
}

constexpr auto fields_of(const Host* /*type*/) {
    return std::tuple(Field("hostname", &Host::hostname), Field("captured", &Host::captured),
                      Field("driver", &Host::driver), Field("driver_absent", &Host::driver_absent),
                      Field("gpus", &Host::gpus), Field("gpus_absent", &Host::gpus_absent),
                      Field("toolkits", &Host::toolkits), Field("compilers", &Host::compilers),
                      Field("glibc", &Host::glibc), Field("machine", &Host::machine),
                      Field("kernel", &Host::kernel), Field("distribution", &Host::distribution),
                      Field("platform", &Host::platform), Field("conda", &Host::conda),
                      Field("sources", &Host::sources), Field("absent", &Host::absent),
                      Field("notes", &Host::notes), Field("measured", &Host::measured));
}

namespace {

// A file need not say which compiler is the default: then it is the g++ or clang++ of that very
// name.
void name_default_compilers(Host& host) {
    if (std::ranges::none_of(host.compilers, [](const Compiler& one) { return one.is_default; })) {
        for (Compiler& compiler : host.compilers) {
            compiler.is_default =
                compiler.path.ends_with("/g++") || compiler.path.ends_with("/clang++");
        }
    }
}

// "parse error at line 3, column 5: syntax error while parsing value - unexpected ...": the place
// has members of its own in the error, so only what follows it is used.
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
        At{reader, document}.wrong(k_schema_hint);
        return tl::unexpected(*reader.error());
    }
    const At whole{reader, document};
    const json schema = document.value("schema", json());
    if (schema.is_null()) {
        reader.fail({}, "`schema` is missing", k_schema_hint);
    } else if (schema != k_host_schema) {
        whole.member("schema", schema).wrong(k_schema_hint);
    }
    Host host;
    read_object(whole, host);
    if (reader.error()) {
        return tl::unexpected(*reader.error());
    }
    name_default_compilers(host);
    return host;
}

json to_json(const Host& host) {
    json written = object_json(host);
    written["schema"] = k_host_schema;
    return written;
}

} // namespace cudaenv::facts
