// A stand-in for libcudart.so.NN over whatever libcuda.so.1 the loader finds, as the real one is:
// of itself it has only its version (`runtime` of the scenario), the two checks of versions, and
// what a program that nvcc compiled with `-cudart shared` asks for: its kernels go through
// cuLaunchKernel.
#include "scenario.hpp"

#include <cstddef>
#include <dlfcn.h>
#include <map>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace standin;

int last_error = 0;

template <typename Function>
Function driver(const char* name) {
    static void* library = dlopen("libcuda.so.1", RTLD_LAZY);
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

template <typename... Arguments>
int call_driver(const char* name, Arguments... arguments) {
    const auto function = driver<int (*)(Arguments...)>(name);
    return function == nullptr ? 36 : function(arguments...);
}

int ended(int error) {
    if (error != 0) {
        last_error = error;
    }
    return error;
}

int driver_version() {
    int version = 0;
    const auto ask = driver<int (*)(int*)>("cuDriverGetVersion");
    return ask == nullptr || ask(&version) != 0 ? 0 : version;
}

// Too old for the family: 12.x asks for a driver of 12.0.
int version_check() {
    return driver_version() / 1000 < scenario().runtime / 1000 ? 35 : 0;
}

int refusal(const Rule* rule) {
    return rule != nullptr && rule->action == Action::Return ? rule->number : -1;
}

} // namespace

// The device that a program computes on that chose none, as of its first call that needs one.
EXPORTED int cudaSetDevice(int device);
namespace {
thread_local bool has_chosen = false;
int ready() {
    return has_chosen ? 0 : cudaSetDevice(0);
}
} // namespace

EXPORTED int cudaRuntimeGetVersion(int* version) {
    const auto* rule = rule_for("cudaRuntimeGetVersion");
    if (const int no = refusal(rule); no >= 0) {
        return ended(no);
    }
    if (rule == nullptr || rule->action != Action::Unwritten) {
        *version =
            rule != nullptr && rule->action == Action::Garbage ? rule->number : scenario().runtime;
    }
    return 0;
}
EXPORTED int cudaDriverGetVersion(int* version) {
    const auto* rule = rule_for("cudaDriverGetVersion");
    if (const int no = refusal(rule); no >= 0) {
        return ended(no);
    }
    *version = driver_version();
    return 0;
}
EXPORTED int cudaGetDeviceCount(int* count) {
    const auto* rule = rule_for("cudaGetDeviceCount");
    if (const int no = refusal(rule); no >= 0) {
        return ended(no);
    }
    if (const int no = version_check(); no != 0) {
        return ended(no);
    }
    if (const int no = call_driver("cuInit", 0U); no != 0) {
        return ended(no);
    }
    return ended(call_driver("cuDeviceGetCount", count));
}
EXPORTED int cudaSetDevice(int device) {
    if (const int no = refusal(rule_for("cudaSetDevice", {.gpu = device})); no >= 0) {
        return ended(no);
    }
    if (const int no = version_check(); no != 0) {
        return ended(no);
    }
    if (const int no = call_driver("cuInit", 0U); no != 0) {
        return ended(no);
    }
    // One reference for each device, as long as the process lives.
    static std::map<int, void*> retained;
    if (!retained.contains(device)) {
        void* context = nullptr;
        if (const int no = call_driver("cuDevicePrimaryCtxRetain", &context, device); no != 0) {
            return ended(no);
        }
        retained[device] = context;
    }
    const int error = call_driver("cuCtxSetCurrent", retained[device]);
    has_chosen = error == 0;
    return ended(error);
}
EXPORTED int cudaGetDevice(int* device) {
    return ended(call_driver("cuCtxGetDevice", device));
}
EXPORTED int cudaMalloc(void** pointer, std::size_t size) {
    if (const int no = refusal(rule_for("cudaMalloc")); no >= 0) {
        return ended(no);
    }
    if (const int no = ready(); no != 0) {
        return no;
    }
    unsigned long long made = 0;
    const int error = call_driver("cuMemAlloc_v2", &made, size);
    *pointer = error == 0 ? reinterpret_cast<void*>(made) : nullptr;
    return ended(error);
}
EXPORTED int cudaFree(void* pointer) {
    if (const int no = refusal(rule_for("cudaFree")); no >= 0) {
        return ended(no);
    }
    return pointer == nullptr
               ? 0
               : ended(call_driver("cuMemFree_v2", reinterpret_cast<unsigned long long>(pointer)));
}
EXPORTED int cudaMemcpy(void* to, const void* from, std::size_t size, int direction) {
    if (const int no = refusal(rule_for("cudaMemcpy")); no >= 0) {
        return ended(no);
    }
    if (direction == 1) {
        return ended(
            call_driver("cuMemcpyHtoD_v2", reinterpret_cast<unsigned long long>(to), from, size));
    }
    if (direction == 2) {
        return ended(
            call_driver("cuMemcpyDtoH_v2", to, reinterpret_cast<unsigned long long>(from), size));
    }
    return ended(21); // cudaErrorInvalidMemcpyDirection
}
EXPORTED int cudaDeviceSynchronize() {
    if (const int no = refusal(rule_for("cudaDeviceSynchronize")); no >= 0) {
        return ended(no);
    }
    return ended(call_driver("cuCtxSynchronize"));
}
EXPORTED int cudaGetLastError() {
    const int error = last_error;
    last_error = 0;
    return error;
}
EXPORTED const char* cudaGetErrorName(int error) {
    static const std::map<int, const char*> names = {{0, "cudaSuccess"},
                                                     {2, "cudaErrorMemoryAllocation"},
                                                     {34, "cudaErrorStubLibrary"},
                                                     {35, "cudaErrorInsufficientDriver"},
                                                     {36, "cudaErrorCallRequiresNewerDriver"},
                                                     {46, "cudaErrorDevicesUnavailable"},
                                                     {100, "cudaErrorNoDevice"},
                                                     {101, "cudaErrorInvalidDevice"},
                                                     {209, "cudaErrorNoKernelImageForDevice"},
                                                     {222, "cudaErrorUnsupportedPtxVersion"},
                                                     {700, "cudaErrorIllegalAddress"},
                                                     {719, "cudaErrorLaunchFailure"},
                                                     {802, "cudaErrorSystemNotReady"},
                                                     {803, "cudaErrorSystemDriverMismatch"},
                                                     {804, "cudaErrorCompatNotSupportedOnDevice"},
                                                     {999, "cudaErrorUnknown"}};
    const auto found = names.find(error);
    return found == names.end() ? "unrecognized error code" : found->second;
}
EXPORTED const char* cudaGetErrorString(int error) {
    return cudaGetErrorName(error);
}

// What nvcc writes into a program: the fatbin of each source file, the functions in it, and
// launches.

namespace {

struct Size {
    unsigned x = 1, y = 1, z = 1;
};
struct FatBinary { // __fatBinC_Wrapper_t
    int magic = 0;
    int version = 0;
    const void* data = nullptr;
    void* more = nullptr;
};
struct Program {
    const void* image = nullptr;
    void* module = nullptr; // loaded at the first launch
};
struct Entry {
    Program* program = nullptr;
    const char* name = nullptr;
    void* function = nullptr;
};
std::map<const void*, Entry>& entries() {
    static auto* all = new std::map<const void*, Entry>;
    return *all;
}

struct Configuration {
    Size grid;
    Size block;
    std::size_t shared = 0;
    void* stream = nullptr;
} pushed;

int launch(Entry& entry, const Size& grid, const Size& block, void** arguments, std::size_t shared,
           void* stream) {
    if (const int no = ready(); no != 0) {
        return no;
    }
    if (entry.program->module == nullptr) {
        if (const int no =
                call_driver("cuModuleLoadData", &entry.program->module, entry.program->image);
            no != 0) {
            return ended(no);
        }
    }
    if (entry.function == nullptr) {
        if (const int no = call_driver("cuModuleGetFunction", &entry.function,
                                       entry.program->module, entry.name);
            no != 0) {
            return ended(no);
        }
    }
    return ended(call_driver("cuLaunchKernel", entry.function, grid.x, grid.y, grid.z, block.x,
                             block.y, block.z, static_cast<unsigned>(shared), stream, arguments,
                             static_cast<void**>(nullptr)));
}

} // namespace

EXPORTED void** __cudaRegisterFatBinary(const FatBinary* binary) {
    auto* program = new Program{.image = binary->data};
    return reinterpret_cast<void**>(program);
}
EXPORTED void __cudaRegisterFatBinaryEnd(void**) {}
EXPORTED void __cudaUnregisterFatBinary(void** program) {
    delete reinterpret_cast<Program*>(program);
}
EXPORTED char __cudaInitModule(void**) {
    return 1;
}
EXPORTED void __cudaRegisterFunction(void** program, const void* of_host, const char*,
                                     const char* name, int, void*, void*, void*, void*, int*) {
    entries()[of_host] = {.program = reinterpret_cast<Program*>(program), .name = name};
}
EXPORTED unsigned __cudaPushCallConfiguration(Size grid, Size block, std::size_t shared,
                                              void* stream) {
    pushed = {grid, block, shared, stream};
    return 0;
}
EXPORTED int __cudaPopCallConfiguration(Size* grid, Size* block, std::size_t* shared,
                                        void** stream) {
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    *stream = pushed.stream;
    return 0;
}
EXPORTED int cudaLaunchKernel(const void* of_host, Size grid, Size block, void** arguments,
                              std::size_t shared, void* stream) {
    if (const int no = refusal(rule_for("cudaLaunchKernel")); no >= 0) {
        return ended(no);
    }
    const auto found = entries().find(of_host);
    return found == entries().end() ? ended(98) // cudaErrorInvalidDeviceFunction
                                    : launch(found->second, grid, block, arguments, shared, stream);
}
// From 13 on a kernel is looked up first; here it is known by its host function.
EXPORTED int __cudaGetKernel(const void** kernel, const void* of_host) {
    *kernel = of_host;
    return 0;
}
EXPORTED int __cudaLaunchKernel(const void* kernel, Size grid, Size block, void** arguments,
                                std::size_t shared, void* stream) {
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
