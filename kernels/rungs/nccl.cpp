#include "base/ranges.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/rungs.hpp"

#include <array>
#include <deque>

namespace cudaenv::kernels {
namespace {

constexpr std::size_t k_elements = 1024;
constexpr int k_float = 7; // ncclFloat32
constexpr int k_sum = 0;   // ncclSum

// Those after group_end may be null.
struct NcclApi {
    int (*get_version)(int*) = nullptr;
    const char* (*get_error_string)(int) = nullptr;
    int (*init_all)(void**, int, const int*) = nullptr;
    int (*destroy)(void*) = nullptr;
    int (*all_reduce)(const void*, void*, std::size_t, int, int, void*, void*) = nullptr;
    int (*group_start)() = nullptr;
    int (*group_end)() = nullptr;
    int (*abort)(void*) = nullptr;                  // 2.4
    const char* (*get_last_error)(void*) = nullptr; // 2.13
};

MaybeStop load_nccl_api(const LoadedLibrary& library, NcclApi& api) {
    find_function(library.handle, "ncclCommAbort", api.abort);
    find_function(library.handle, "ncclGetLastError", api.get_last_error);
    return NeededFunctions(library.handle, library.path)
        .find("ncclGetVersion", api.get_version)
        .find("ncclGetErrorString", api.get_error_string)
        .find("ncclCommInitAll", api.init_all)
        .find("ncclCommDestroy", api.destroy)
        .find("ncclAllReduce", api.all_reduce)
        .find("ncclGroupStart", api.group_start)
        .find("ncclGroupEnd", api.group_end)
        .missing();
}

// NCCL has words for its errors and no names; these are nccl.h's.
constexpr auto k_result_names = std::to_array<const char*>(
    {"", "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclInvalidArgument",
     "ncclInvalidUsage", "ncclRemoteError", "ncclInProgress"});

MaybeStop checked(const NcclApi& api, const char* call, int result) {
    if (result == 0) {
        return std::nullopt;
    }
    const auto number = static_cast<std::size_t>(result);
    Stop stop{.call = call,
              .error = result,
              .error_name = number < k_result_names.size() ? k_result_names[number] : "",
              .message = words_of(api.get_error_string, result)};
    if (api.get_last_error != nullptr) {
        if (const char* words = api.get_last_error(nullptr); words != nullptr && *words != '\0') {
            stop.message += (stop.message.empty() ? "" : ": ") + std::string(words);
        }
    }
    stop.message = shortened(stop.message);
    return stop;
}

// One communicator for each GPU, of this one process.
class Communicators {
public:
    explicit Communicators(const NcclApi& api) : m_api(api) {}
    ~Communicators() {
        for (void* communicator : m_all) {
            if (communicator == nullptr) {
                continue;
            }
            if (!m_broken) {
                m_api.destroy(communicator);
            } else if (m_api.abort != nullptr) { // destroy would wait for what never ends
                m_api.abort(communicator);
            }
        }
    }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;

    MaybeStop create(std::span<const GpuUnderTest> gpus) {
        const auto ordinals = each_of(gpus, &GpuUnderTest::ordinal);
        m_all.assign(gpus.size(), nullptr);
        MaybeStop stop =
            checked(m_api, "ncclCommInitAll",
                    m_api.init_all(m_all.data(), static_cast<int>(gpus.size()), ordinals.data()));
        if (stop) {
            m_all.clear(); // NCCL frees what it had begun
        }
        return stop;
    }
    void* of(std::size_t rank) const { return m_all[rank]; }
    void set_broken() { m_broken = true; }

private:
    const NcclApi& m_api;
    std::vector<void*> m_all;
    bool m_broken = false;
};

// What one GPU gives, and where it gets the sum.
struct Member {
    explicit Member(const GpuUnderTest& gpu) : current(gpu), given(gpu), sum(gpu) {}

    CurrentGpu current;
    DeviceBuffer given;
    DeviceBuffer sum;
};

MaybeStop reduce(const NcclApi& api, const Communicators& communicators,
                 std::deque<Member>& members) {
    CUDAENV_STOP_IF(checked(api, "ncclGroupStart", api.group_start()));
    MaybeStop stop;
    for (std::size_t rank = 0; rank < members.size() && !stop; ++rank) {
        stop = checked(api, "ncclAllReduce",
                       api.all_reduce(members[rank].given.address(), members[rank].sum.address(),
                                      k_elements, k_float, k_sum, communicators.of(rank), nullptr));
    }
    // A group that was started is ended, whatever happened in it.
    MaybeStop of_end = checked(api, "ncclGroupEnd", api.group_end());
    return stop ? stop : of_end;
}

MaybeStop climb(Rung& rung, std::span<const GpuUnderTest> gpus, const NcclApi& api) {
    std::deque<Member> members; // which cannot be moved
    std::vector<float> right(k_elements, 0.0F);
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
        const std::vector<float> given =
            small_integers(k_elements, static_cast<unsigned>(rank) + 1);
        for (std::size_t at = 0; at < k_elements; ++at) {
            right[at] += given[at];
        }
        Member& member = members.emplace_back(gpus[rank]);
        CUDAENV_STOP_IF(member.current.make_current());
        CUDAENV_STOP_IF(member.given.take(given));
        CUDAENV_STOP_IF(member.sum.take(std::vector<float>(k_elements, -1.0F)));
    }

    Communicators communicators(api);
    CUDAENV_STOP_IF(communicators.create(gpus));
    if (MaybeStop stop = reduce(api, communicators, members)) {
        communicators.set_broken();
        return stop;
    }
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
        Member& member = members[rank];
        std::vector<float> got(k_elements, -1.0F);
        MaybeStop stop = member.current.make_current();
        if (!stop) {
            stop = member.current.synchronize();
        }
        if (!stop) {
            stop = member.sum.give(got);
        }
        if (stop) {
            communicators.set_broken();
            return stop;
        }
        CUDAENV_STOP_IF(compared("all-reduce, on GPU " + std::to_string(gpus[rank].ordinal) + ": ",
                                 got, right));
    }
    rung.set("checks", nlohmann::json::array({"all-reduce"}));
    return std::nullopt;
}

} // namespace

template <>
void climb_library_rung<ProbeStep::Nccl>(std::span<const GpuUnderTest> gpus,
                                         const std::vector<std::string>& files) {
    Rung rung(ProbeStep::Nccl, std::nullopt);
    if (gpus.size() < 2) {
        rung.skipped(gpus.empty() ? "no GPU" : "one GPU: nothing to exchange");
        return;
    }
    const LoadedLibrary library = load_or_end(rung, files, ProbeStep::Nccl);
    if (library.handle == nullptr) {
        return;
    }
    rung.set_file(library.path);
    rung.set("devices", gpus.size());
    NcclApi api;
    if (const MaybeStop stop = load_nccl_api(library, api)) {
        end_rung(rung, stop);
        return;
    }
    int number = 0;
    if (api.get_version(&number) == 0 && number > 0) {
        rung.set("version", nccl_version(number));
    }
    end_rung(rung, climb(rung, gpus, api));
}

} // namespace cudaenv::kernels
