/* A stand-in for libnvidia-ml.so.1, put before the real one with LD_LIBRARY_PATH. FAKE_NVML, or a
   file nvml-mode beside it where that variable does not travel, says how it behaves: "two-gpus" (the
   default, idle), "busy", "full" (512 MiB are free), "occupied" (two processes compute on the
   first), "secretive" (processes are not told), "unmeasured" (how much a GPU works is not told),
   "mismatch", "garbage", "hang". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* mode(void) {
    static char text[32];
    const char* told = getenv("FAKE_NVML");
    if (told != NULL) {
        return told;
    }
    Dl_info own;
    if (text[0] == '\0' && dladdr((void*)mode, &own) != 0) {
        char path[4096];
        const char* slash = strrchr(own.dli_fname, '/');
        snprintf(path, sizeof path, "%.*s/nvml-mode", (int)(slash - own.dli_fname), own.dli_fname);
        FILE* file = slash == NULL ? NULL : fopen(path, "r");
        if (file != NULL) {
            if (fscanf(file, "%31s", text) != 1) {
                text[0] = '\0';
            }
            fclose(file);
        }
    }
    return text[0] == '\0' ? "two-gpus" : text;
}
static int is(const char* name) { return strcmp(mode(), name) == 0; }

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
    if (is("mismatch")) {
        return 18;
    }
    *version = is("garbage") ? 123456789 : 11040;
    return 0;
}
int nvmlInit_v2(void) {
    if (is("hang")) {
        sleep(600);
    }
    return is("mismatch") ? 18 : 0;
}
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
    snprintf(text, length, "%s", is("garbage") ? "\xff\xfe" : "470.199.02");
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = is("garbage") ? 4000000000U : 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = (void*)(unsigned long)(index + 1);
    return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
    (void)uuid;
    *device = (void*)1UL;
    return 0;
}
static unsigned long index_of(void* device) { return (unsigned long)device - 1; }
int nvmlDeviceGetName(void* device, char* text, unsigned length) {
    snprintf(text, length, "%s",
             index_of(device) == 0 ? "NVIDIA GeForce RTX 3090" : "NVIDIA A100-PCIE-40GB");
    return 0;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
    snprintf(text, length, "GPU-%lu", index_of(device));
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
    *major = 8;
    *minor = index_of(device) == 0 ? 6 : 0;
    return 0;
}
struct pci {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};
int nvmlDeviceGetPciInfo_v3(void* device, struct pci* pci) {
    pci->device_id = index_of(device) == 0 ? 0x220410deU : 0x20f110deU;
    return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
    memory[0] = index_of(device) == 0 ? 25769803776ULL : 42505273344ULL;
    memory[2] = is("busy") ? 8589934592ULL : is("full") ? memory[0] - 536870912ULL : 0;
    memory[1] = memory[0] - memory[2];
    return 0;
}
struct utilization {
    unsigned gpu, memory;
};
int nvmlDeviceGetUtilizationRates(void* device, struct utilization* utilization) {
    if (is("unmeasured") || index_of(device) == 1) {
        return 3; /* not supported: of the other one, because it is cut into instances */
    }
    *utilization = (struct utilization){0, 0};
    return 0;
}
struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count,
                                            struct process* processes) {
    if (is("secretive")) {
        return 4; /* no permission */
    }
    const unsigned room = *count;
    *count = is("occupied") && index_of(device) == 0 ? 2 : 0;
    for (unsigned at = 0; at < *count && at < room; ++at) {
        processes[at] = (struct process){4711 + at, 1048576ULL * (at + 1), ~0U, ~0U};
    }
    return *count > room ? 7 : 0;
}
/* As the first drivers of 535 had it: longer entries. */
struct long_process {
    struct process first;
    unsigned long long protected_memory;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count,
                                            struct long_process* processes) {
    struct process shorter[64];
    const int code = nvmlDeviceGetComputeRunningProcesses_v2(device, count, shorter);
    for (unsigned at = 0; code == 0 && at < *count; ++at) {
        processes[at] = (struct long_process){shorter[at], 0};
    }
    return code;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
    if (index_of(device) == 0) {
        return 3; /* not supported */
    }
    *current = *pending = 1;
    return 0;
}
const char* nvmlErrorString(int code) {
    return code == 18 ? "Driver/library version mismatch" : "Unknown Error";
}
