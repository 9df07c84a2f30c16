// A stand-in for libcuda.so.1: it answers as its scenario says, keeps device memory in the host's,
// and computes what the kernels of cudaenv's probe compute (kernels.hpp). No header of NVIDIA's.
#include "kernels.hpp"
#include "scenario.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <string>
#include <unistd.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace standin;

struct Context {
    int gpu = 0;
    int broken = 0; // an error of a kernel stays with its context
};
struct Module {
    int gpu = 0;
    std::string_view image;
};
struct Function {
    int gpu = 0;
    std::string name;
    std::string_view image;
};

enum : int {
    k_ok = 0,
    k_invalid_value = 1,
    k_out_of_memory = 2,
    k_not_initialized = 3,
    k_unavailable = 46,
    k_invalid_device = 101,
    k_invalid_context = 201,
    k_unsupported_ptx = 222,
    k_not_found = 500
};

bool initialized = false;
thread_local Context* current = nullptr;

std::map<int, Context>& contexts() {
    static auto* made = new std::map<int, Context>;
    return *made;
}
std::map<void*, std::size_t>& allocations() {
    static auto* made = new std::map<void*, std::size_t>;
    return *made;
}

// What is still held when the program ends, for the log.
struct AtTheEnd {
    ~AtTheEnd() {
        std::size_t held = 0;
        for (const auto& [_, size] : allocations()) {
            held += size;
        }
        note("held " + std::to_string(held) + " bytes");
    }
} at_the_end;

// The number that a call returns before it does anything; -1: it goes on.
int refusal(const Rule* rule) {
    return rule != nullptr && rule->action == Action::Return ? rule->number : -1;
}

Where here() {
    return {.gpu = current == nullptr ? std::optional<int>() : current->gpu};
}

int device_check(int device) {
    if (!initialized) {
        return k_not_initialized;
    }
    return device < 0 || static_cast<std::size_t>(device) >= scenario().devices.size()
               ? k_invalid_device
               : k_ok;
}

int context_check() {
    if (!initialized) {
        return k_not_initialized;
    }
    return current == nullptr ? k_invalid_context : current->broken;
}

// Writes a number, or what the scenario has instead of it.
int scripted(const Rule* rule, int* out, int value) {
    if (rule != nullptr && rule->action == Action::Return) {
        return rule->number;
    }
    if (rule == nullptr || rule->action != Action::Unwritten) {
        *out = rule != nullptr && rule->action == Action::Garbage ? rule->number : value;
    }
    return k_ok;
}

// Visible devices only, as numbers; names of the form GPU-... are not for this stand-in.
std::size_t visible_devices() {
    const char* told_so = std::getenv("CUDA_VISIBLE_DEVICES");
    if (told_so == nullptr) {
        return scenario().devices.size();
    }
    std::vector<Device> visible;
    static const auto all = scenario().devices;
    for (std::string rest = told_so; !rest.empty();) {
        char* end = nullptr;
        const auto number = std::strtoul(rest.c_str(), &end, 10);
        if (end == rest.c_str() || number >= all.size()) {
            break;
        }
        visible.push_back(all[number]);
        rest = *end == ',' ? end + 1 : "";
    }
    scenario().devices = visible;
    return visible.size();
}

// ".version 9.0" of an image that is text; 0: it is machine code.
double ptx_version(const void* image) {
    const auto* text = static_cast<const char*>(image);
    if (std::memcmp(text,
                    "\x7f"
                    "ELF",
                    4) == 0 ||
        std::memcmp(text, "\x50\xed\x55\xba", 4) == 0) {
        return 0;
    }
    const char* version = std::strstr(text, ".version");
    return version == nullptr ? -1 : std::atof(version + 8);
}

} // namespace

EXPORTED int cuInit(unsigned) {
    if (const int no = refusal(rule_for("cuInit")); no >= 0) {
        initialized = no == k_ok;
        return no;
    }
    initialized = true;
    return visible_devices() == 0 ? 100 : k_ok;
}

EXPORTED int cuDriverGetVersion(int* version) {
    return scripted(rule_for("cuDriverGetVersion"), version, scenario().version);
}

EXPORTED int cuDeviceGetCount(int* count) {
    const auto* rule = rule_for("cuDeviceGetCount");
    return initialized ? scripted(rule, count, static_cast<int>(scenario().devices.size()))
                       : k_not_initialized;
}

EXPORTED int cuDeviceGet(int* device, int ordinal) {
    const auto* rule = rule_for("cuDeviceGet", {.gpu = ordinal});
    if (const int no = device_check(ordinal); no != k_ok) {
        return no;
    }
    return scripted(rule, device, ordinal);
}

EXPORTED int cuDeviceGetName(char* text, int length, int device) {
    const auto* rule = rule_for("cuDeviceGetName", {.gpu = device});
    if (const int no = refusal(rule); no >= 0) {
        return no;
    }
    if (const int no = device_check(device); no != k_ok || length <= 0) {
        return no != k_ok ? no : k_invalid_value;
    }
    if (rule != nullptr && rule->action == Action::Garbage) {
        std::memset(text, 0xff, static_cast<std::size_t>(length)); // no UTF-8 and no end
    } else if (rule == nullptr || rule->action != Action::Unwritten) {
        const auto& name = scenario().devices[static_cast<std::size_t>(device)].name;
        std::snprintf(text, static_cast<std::size_t>(length), "%s", name.c_str());
    }
    return k_ok;
}

EXPORTED int cuDeviceGetUuid_v2(void* uuid, int device) {
    const auto* rule = rule_for("cuDeviceGetUuid", {.gpu = device});
    if (const int no = refusal(rule); no >= 0) {
        return no;
    }
    if (const int no = device_check(device); no != k_ok) {
        return no;
    }
    std::array<unsigned char, 16> bytes{};
    const auto& text = scenario().devices[static_cast<std::size_t>(device)].uuid;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto digits = text.size() == 32 ? text.substr(2 * i, 2) : std::to_string(device);
        bytes[i] = static_cast<unsigned char>(std::strtoul(digits.c_str(), nullptr, 16));
    }
    std::memcpy(uuid, bytes.data(), bytes.size());
    return k_ok;
}
EXPORTED int cuDeviceGetUuid(void* uuid, int device) {
    return cuDeviceGetUuid_v2(uuid, device);
}

EXPORTED int cuDeviceGetAttribute(int* value, int attribute, int device) {
    const auto* rule = rule_for("cuDeviceGetAttribute", {.gpu = device});
    if (const int no = device_check(device); no != k_ok) {
        return no;
    }
    const auto& of = scenario().devices[static_cast<std::size_t>(device)];
    const std::map<int, int> known = {
        {1, 1024}, {8, 49152},     {10, 32},       {16, 132},   {20, of.compute_mode},
        {31, 1},   {75, of.major}, {76, of.minor}, {81, 233472}};
    const auto found = known.find(attribute);
    return scripted(rule, value, found == known.end() ? 0 : found->second);
}

EXPORTED int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    const auto* rule = rule_for("cuDeviceTotalMem", {.gpu = device});
    if (const int no = refusal(rule); no >= 0) {
        return no;
    }
    if (const int no = device_check(device); no != k_ok) {
        return no;
    }
    *bytes = scenario().devices[static_cast<std::size_t>(device)].memory_total;
    return k_ok;
}

EXPORTED int cuDevicePrimaryCtxRetain(void** context, int device) {
    const auto* rule = rule_for("cuDevicePrimaryCtxRetain", {.gpu = device});
    if (const int no = refusal(rule); no >= 0) {
        return no;
    }
    if (const int no = device_check(device); no != k_ok) {
        return no;
    }
    const auto mode = scenario().devices[static_cast<std::size_t>(device)].compute_mode;
    if (mode == 2) {
        return k_unavailable; // prohibited
    }
    auto& made = contexts()[device];
    made.gpu = device;
    *context = &made;
    return k_ok;
}
EXPORTED int cuDevicePrimaryCtxRelease_v2(int device) {
    const int no = refusal(rule_for("cuDevicePrimaryCtxRelease", {.gpu = device}));
    return no >= 0 ? no : k_ok;
}
EXPORTED int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    rule_for("cuDevicePrimaryCtxGetState", {.gpu = device});
    *flags = 0;
    *active = contexts().contains(device) ? 1 : 0;
    return k_ok;
}
EXPORTED int cuCtxSetCurrent(void* context) {
    auto* wanted = static_cast<Context*>(context);
    const int no = refusal(
        rule_for("cuCtxSetCurrent", {.gpu = wanted ? std::optional(wanted->gpu) : std::nullopt}));
    if (no >= 0) {
        return no;
    }
    current = wanted;
    return k_ok;
}
EXPORTED int cuCtxGetCurrent(void** context) {
    rule_for("cuCtxGetCurrent", here());
    *context = current;
    return k_ok;
}
EXPORTED int cuCtxGetDevice(int* device) {
    rule_for("cuCtxGetDevice", here());
    if (current == nullptr) {
        return k_invalid_context;
    }
    *device = current->gpu;
    return k_ok;
}
EXPORTED int cuCtxSynchronize() {
    const int no = refusal(rule_for("cuCtxSynchronize", here()));
    return no >= 0 ? no : context_check();
}
EXPORTED int cuStreamSynchronize(void*) {
    const int no = refusal(rule_for("cuStreamSynchronize", here()));
    return no >= 0 ? no : context_check();
}

EXPORTED int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
    const int no = refusal(rule_for("cuMemGetInfo", here()));
    if (no >= 0 || context_check() != k_ok) {
        return no >= 0 ? no : context_check();
    }
    const auto& of = scenario().devices[static_cast<std::size_t>(current->gpu)];
    *total = of.memory_total;
    *free_bytes = of.memory_free.value_or(of.memory_total - of.memory_total / 64);
    return k_ok;
}
EXPORTED int cuMemAlloc_v2(unsigned long long* pointer, std::size_t size) {
    const int no = refusal(rule_for("cuMemAlloc", here()));
    if (no >= 0 || context_check() != k_ok) {
        return no >= 0 ? no : context_check();
    }
    const auto& of = scenario().devices[static_cast<std::size_t>(current->gpu)];
    if (size > of.memory_free.value_or(of.memory_total)) {
        return k_out_of_memory;
    }
    void* made = std::malloc(size);
    // Device memory is not zeroed: who reads before writing shall see it.
    std::memset(made, 0xcd, size);
    allocations()[made] = size;
    *pointer = reinterpret_cast<unsigned long long>(made);
    return k_ok;
}
EXPORTED int cuMemFree_v2(unsigned long long pointer) {
    const int no = refusal(rule_for("cuMemFree", here()));
    auto* at = reinterpret_cast<void*>(pointer);
    if (no >= 0 || allocations().erase(at) == 0) {
        return no >= 0 ? no : k_invalid_value;
    }
    std::free(at);
    return context_check();
}
EXPORTED int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t size) {
    const int no = refusal(rule_for("cuMemcpyHtoD", here()));
    if (no >= 0 || context_check() != k_ok) {
        return no >= 0 ? no : context_check();
    }
    std::memcpy(reinterpret_cast<void*>(to), from, size);
    return k_ok;
}
EXPORTED int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t size) {
    const auto* rule = rule_for("cuMemcpyDtoH", here());
    if (const int no = refusal(rule); no >= 0 || context_check() != k_ok) {
        return no >= 0 ? no : context_check();
    }
    std::memcpy(to, reinterpret_cast<const void*>(from), size);
    if (rule != nullptr && rule->action == Action::Wrong && size > 0) {
        static_cast<unsigned char*>(to)[size / 2] ^= 1;
    }
    return k_ok;
}
EXPORTED int cuMemsetD8_v2(unsigned long long at, unsigned char value, std::size_t size) {
    const int no = refusal(rule_for("cuMemsetD8", here()));
    if (no >= 0 || context_check() != k_ok) {
        return no >= 0 ? no : context_check();
    }
    std::memset(reinterpret_cast<void*>(at), value, size);
    return k_ok;
}

EXPORTED int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
    const double version = ptx_version(image);
    auto where = here();
    where.image = version == 0 ? "code" : "ptx";
    const int no = refusal(rule_for("cuModuleLoadDataEx", where));
    if (no >= 0 || context_check() != k_ok) {
        return no >= 0 ? no : context_check();
    }
    if (version < 0) {
        return 200; // CUDA_ERROR_INVALID_IMAGE
    }
    if (version > scenario().newest_ptx + 0.001) {
        return k_unsupported_ptx;
    }
    *module = new Module{.gpu = current->gpu, .image = where.image};
    return k_ok;
}
EXPORTED int cuModuleLoadData(void** module, const void* image) {
    return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
EXPORTED int cuModuleUnload(void* module) {
    const int no = refusal(rule_for("cuModuleUnload", here()));
    delete static_cast<Module*>(module);
    return no >= 0 ? no : k_ok;
}
EXPORTED int cuModuleGetFunction(void** function, void* module, const char* name) {
    const auto* of = static_cast<const Module*>(module);
    const int no = refusal(
        rule_for("cuModuleGetFunction", {.gpu = of->gpu, .kernel = name, .image = of->image}));
    if (no >= 0) {
        return no;
    }
    if (!knows_kernel(name)) {
        std::fprintf(stderr, "stand-in CUDA: it cannot compute %s\n", name);
        return k_not_found;
    }
    // As with the driver: functions live as long as the process, or their module.
    static std::map<std::pair<void*, std::string>, Function> functions;
    auto& made = functions[{module, name}];
    made = {.gpu = of->gpu, .name = name, .image = of->image};
    *function = &made;
    return k_ok;
}
EXPORTED int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned, void*,
                            void** parameters, void**) {
    const auto* of = static_cast<const Function*>(function);
    const auto* rule =
        rule_for("cuLaunchKernel", {.gpu = of->gpu, .kernel = of->name, .image = of->image});
    if (const int no = refusal(rule); no >= 0 || context_check() != k_ok) {
        return no >= 0 ? no : context_check();
    }
    if (rule != nullptr && rule->action == Action::Fault) {
        current->broken = rule->number;
        return k_ok;
    }
    const bool wrong = rule != nullptr && rule->action == Action::Wrong;
    run_kernel(of->name, {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .parameters = parameters,
                          .wrong = wrong});
    return k_ok;
}

EXPORTED int cuGetErrorName(int error, const char** name) {
    static const std::map<int, const char*> names = {
        {0, "CUDA_SUCCESS"},
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {34, "CUDA_ERROR_STUB_LIBRARY"},
        {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"},
        {200, "CUDA_ERROR_INVALID_IMAGE"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
        {218, "CUDA_ERROR_INVALID_PTX"},
        {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"},
        {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
        {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
        {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
        {999, "CUDA_ERROR_UNKNOWN"}};
    const auto found = names.find(error);
    *name = found == names.end() ? nullptr : found->second;
    return found == names.end() ? k_invalid_value : k_ok;
}

// Real runtimes find the driver's functions by this. Their private tables cannot be made
// up: over this stand-in they can tell versions and a failed cuInit, and nothing beyond.
EXPORTED int cuGetProcAddress(const char* symbol, void** function, int version,
                              unsigned long long flags);
EXPORTED int cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                 unsigned long long, int* status) {
    static void* self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const std::string name = symbol;
    *function = nullptr;
    if (name == "cuGetProcAddress") {
        *function = version < 12000 ? reinterpret_cast<void*>(&cuGetProcAddress)
                                    : reinterpret_cast<void*>(&cuGetProcAddress_v2);
    }
    for (const char* suffix : {"_v2", ""}) {
        if (*function == nullptr) {
            *function = dlsym(self, (name + suffix).c_str());
        }
    }
    if (status != nullptr) {
        *status = *function == nullptr ? 1 : 0;
    }
    return *function == nullptr ? k_not_found : k_ok;
}
EXPORTED int cuGetProcAddress(const char* symbol, void** function, int version,
                              unsigned long long flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
EXPORTED int cuGetExportTable(const void**, const void*) {
    return k_not_found;
}
