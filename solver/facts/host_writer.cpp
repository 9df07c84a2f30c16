#include "solver/facts/host_json.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::facts {

namespace {

using nlohmann::json;

json text_or_null(const std::string& text) {
    return text.empty() ? json(nullptr) : json(text);
}
json version_or_null(const std::optional<DottedVersion>& version) {
    return version ? json(version->str()) : json(nullptr);
}
template <typename T>
json value_or_null(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

json driver_json(const Driver& driver) {
    json kind = nullptr;
    if (driver.kind) {
        kind = *driver.kind == DriverKind::Open ? "open" : "proprietary";
    }
    return {{"version", version_or_null(driver.version)},
            {"cuda", version_or_null(driver.cuda)},
            {"kind", std::move(kind)},
            {"derived", driver.derived},
            {"measured", driver.measured},
            {"source", text_or_null(driver.source)}};
}

json gpu_json(const Gpu& gpu) {
    return {{"index", gpu.index},
            {"name", text_or_null(gpu.name)},
            {"uuid", text_or_null(gpu.uuid)},
            {"compute_capability",
             gpu.compute_capability ? json(gpu.compute_capability->str()) : json(nullptr)},
            {"pci_device", text_or_null(gpu.pci_device)},
            {"memory_bytes", value_or_null(gpu.memory_bytes)},
            {"mig", gpu.mig},
            {"source", text_or_null(gpu.source)},
            {"last_driver_branch", version_or_null(gpu.last_driver_branch)}};
}

json toolkit_json(const Toolkit& toolkit) {
    return {{"path", toolkit.path},
            {"version", version_or_null(toolkit.version)},
            {"nvcc", toolkit.nvcc},
            {"gcc_min", value_or_null(toolkit.gcc_min)},
            {"gcc_max", value_or_null(toolkit.gcc_max)},
            {"clang_min", value_or_null(toolkit.clang_min)},
            {"clang_max", value_or_null(toolkit.clang_max)},
            {"cudnn", version_or_null(toolkit.cudnn)},
            {"cudnn_library", version_or_null(toolkit.cudnn_library)},
            {"nccl", version_or_null(toolkit.nccl)},
            {"nccl_library", version_or_null(toolkit.nccl_library)},
            {"problem", text_or_null(toolkit.problem)},
            {"source", text_or_null(toolkit.source)},
            {"aliases", toolkit.aliases},
            {"sources", toolkit.sources},
            {"absent", toolkit.absent},
            {"warnings", toolkit.warnings}};
}

json compiler_json(const Compiler& compiler) {
    return {{"family", compiler.family == CompilerFamily::Gcc ? "gcc" : "clang"},
            {"version", compiler.version.str()},
            {"path", compiler.path},
            {"source", text_or_null(compiler.source)},
            {"default", compiler.is_default}};
}

template <typename T, typename F>
json array_of(const std::vector<T>& values, F one) {
    json array = json::array();
    for (const auto& value : values) {
        array.push_back(one(value));
    }
    return array;
}

json measured_json(const Measured& measured) {
    return {{"verdict", text_or_null(measured.verdict)},
            {"summary", text_or_null(measured.summary)},
            {"at", text_or_null(measured.at)},
            {"driver_cuda", version_or_null(measured.driver_cuda)},
            {"gpus", array_of(measured.gpus,
                              [](const MeasuredGpu& gpu) -> json {
                                  return {{"name", text_or_null(gpu.name)},
                                          {"uuid", text_or_null(gpu.uuid)},
                                          {"compute_capability",
                                           gpu.compute_capability
                                               ? json(gpu.compute_capability->str())
                                               : json(nullptr)}};
                              })},
            {"runtime", version_or_null(measured.runtime)},
            {"failed", array_of(measured.failed, [](const FailedRung& rung) -> json {
                 return {{"step", text_or_null(rung.step)},
                         {"code", text_or_null(rung.code)},
                         {"detail", text_or_null(rung.detail)},
                         {"cause", text_or_null(rung.cause)}};
             })}};
}

} // namespace

json to_json(const Host& host) {
    return {{"schema", k_host_schema},
            {"hostname", text_or_null(host.hostname)},
            {"captured", text_or_null(host.captured)},
            {"driver", host.driver ? driver_json(*host.driver) : json(nullptr)},
            {"driver_absent", text_or_null(host.driver_absent)},
            {"gpus", array_of(host.gpus, gpu_json)},
            {"gpus_absent", text_or_null(host.gpus_absent)},
            {"toolkits", array_of(host.toolkits, toolkit_json)},
            {"compilers", array_of(host.compilers, compiler_json)},
            {"glibc", version_or_null(host.glibc)},
            {"machine", text_or_null(host.machine)},
            {"kernel", text_or_null(host.kernel)},
            {"distribution", text_or_null(host.distribution)},
            {"platform",
             {{"wsl", host.platform.wsl},
              {"container", text_or_null(host.platform.container)},
              {"jetson", host.platform.jetson}}},
            {"conda", array_of(host.conda,
                               [](const CondaInstall& install) -> json {
                                   return {{"kind", install.kind},
                                           {"path", install.path},
                                           {"version", value_or_null(install.version)},
                                           {"source", text_or_null(install.source)}};
                               })},
            {"sources", host.sources},
            {"absent", host.absent},
            {"notes", host.notes},
            {"measured", host.measured ? measured_json(*host.measured) : json(nullptr)}};
}

} // namespace cudaenv::facts
