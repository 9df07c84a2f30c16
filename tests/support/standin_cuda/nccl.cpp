// A stand-in for libnccl.so.2 over the stand-in libcuda.so.1: communicators of one process, and
// all-reduce that sums for real when its group ends. Its version is 2.27.7 unless a scenario says
// `ncclGetVersion garbage 21805`. A rule's `gpu` is the one of the communicator.
#include "scenario.hpp"

#include <cstddef>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace standin;

constexpr int k_invalid_argument = 4;
constexpr int k_invalid_usage = 5;

struct Group {
    std::size_t size = 0;
    std::size_t left = 0; // communicators that are not destroyed
};
struct Communicator {
    int gpu = 0;
    Group* group = nullptr;
};
struct Sum {
    const Communicator* of = nullptr;
    const float* given = nullptr;
    float* into = nullptr;
    std::size_t count = 0;
    Action action = Action::Return;
};

int depth = 0;
std::vector<Sum>& pending() {
    static auto* all = new std::vector<Sum>;
    return *all;
}

int refusal(const Rule* rule) {
    return rule != nullptr && rule->action == Action::Return ? rule->number : 0;
}

int dropped(void* communicator) {
    auto* of = static_cast<Communicator*>(communicator);
    if (--of->group->left == 0) {
        delete of->group;
    }
    delete of;
    return 0;
}

// Every member of the communicators gives, or the real one would wait for ever.
int reduce_all() {
    const auto members = pending();
    pending().clear();
    if (members.empty()) {
        return 0;
    }
    for (const Sum& member : members) {
        if (members.size() != member.of->group->size || member.count != members[0].count) {
            return k_invalid_usage;
        }
    }
    std::vector<float> sum(members[0].count, 0.0F);
    for (const Sum& member : members) {
        for (std::size_t at = 0; at < sum.size(); ++at) {
            sum[at] += member.given[at];
        }
    }
    for (const Sum& member : members) {
        if (member.action == Action::Unwritten) {
            continue;
        }
        for (std::size_t at = 0; at < sum.size(); ++at) {
            member.into[at] = sum[at];
        }
        if (member.action == Action::Wrong) {
            member.into[sum.size() / 2] += 1.0F;
        }
    }
    return 0;
}

} // namespace

EXPORTED int ncclGetVersion(int* number) {
    const Rule* rule = rule_for("ncclGetVersion");
    if (const int no = refusal(rule); no != 0) {
        return no;
    }
    *number = rule != nullptr && rule->action == Action::Garbage ? rule->number : 22707;
    return 0;
}
EXPORTED const char* ncclGetErrorString(int result) {
    switch (result) {
    case 0:
        return "no error";
    case 1:
        return "unhandled cuda error";
    case 2:
        return "unhandled system error";
    case 3:
        return "internal error";
    case k_invalid_argument:
        return "invalid argument";
    case k_invalid_usage:
        return "invalid usage";
    default:
        return "unknown result code";
    }
}
EXPORTED const char* ncclGetLastError(void*) {
    return refusal(rule_for("ncclGetLastError")) == 0 ? "" : "the last of its words";
}
EXPORTED int ncclCommInitAll(void** communicators, int count, const int* gpus) {
    if (const int no = refusal(rule_for("ncclCommInitAll")); no != 0) {
        return no;
    }
    if (count < 1) {
        return k_invalid_argument;
    }
    const auto size = static_cast<std::size_t>(count);
    auto* group = new Group{size, size};
    for (int rank = 0; rank < count; ++rank) {
        communicators[rank] = new Communicator{gpus[rank], group};
    }
    return 0;
}
EXPORTED int ncclCommDestroy(void* communicator) {
    rule_for("ncclCommDestroy");
    return dropped(communicator);
}
EXPORTED int ncclCommAbort(void* communicator) {
    rule_for("ncclCommAbort");
    return dropped(communicator);
}
EXPORTED int ncclGroupStart() {
    if (const int no = refusal(rule_for("ncclGroupStart")); no != 0) {
        return no;
    }
    ++depth;
    return 0;
}
EXPORTED int ncclGroupEnd() {
    const int no = refusal(rule_for("ncclGroupEnd"));
    if (depth == 0) {
        return k_invalid_usage;
    }
    --depth;
    if (no != 0) {
        pending().clear();
        return no;
    }
    return depth == 0 ? reduce_all() : 0;
}
EXPORTED int ncclAllReduce(const void* given, void* into, std::size_t count, int type,
                           int operation, void* communicator, void*) {
    const auto* of = static_cast<const Communicator*>(communicator);
    const Rule* rule = rule_for("ncclAllReduce", {.gpu = of->gpu});
    if (const int no = refusal(rule); no != 0) {
        return no;
    }
    if (type != 7 || operation != 0) { // ncclFloat32, ncclSum
        return k_invalid_argument;
    }
    pending().push_back({of, static_cast<const float*>(given), static_cast<float*>(into), count,
                         rule == nullptr ? Action::Return : rule->action});
    return depth == 0 ? reduce_all() : 0;
}
