// What a stand-in CUDA library is to do, read once from the file `scenario` beside it. One line,
// one fact; `#` begins a comment:
//
//     version 13000                                  what cuDriverGetVersion says
//     runtime 13000                                  what cudaRuntimeGetVersion says
//     ptx 9.0                                        the newest PTX that is taken; newer is 222
//     device 0 "NVIDIA H200" cc 9.0 memory 150754820096 free 150000000000 mode 3 uuid 00ff...
//     log FILE                                       each call, and at the end what is still held
//     cuInit 803                                     that function returns that number
//     cuInit hang | crash | abort | exit             it never returns, SIGSEGV, SIGABRT, exit(0)
//     cuDriverGetVersion garbage 99999999            it succeeds, and says that number; of a
//                                                    name: bytes that are no text
//     cuDeviceGetName unwritten                      it succeeds and writes nothing
//     cuLaunchKernel wrong                           it computes, and one element is off by one
//     cublasSgemm wrong                              the same of the other libraries' functions;
//                                                    `unwritten` and numbers go as well
//     cuLaunchKernel fault 700                       it succeeds; the next call that waits has 700,
//                                                    and so has every later one of that context
//
// Behind an action, any of: `gpu N`, `call N` (from the Nth call on), `name TEXT` (of a kernel),
// `ptx` or `code` (of a module's image), `say TEXT` (on standard error, before it acts). The first
// line that fits is taken. Suffixes of versions
// (_v2) are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace standin {

struct Device {
    std::string name = "Stand-in GPU";
    int major = 9;
    int minor = 0;
    std::uint64_t memory_total = 8ULL << 30;
    std::optional<std::uint64_t> memory_free;
    int compute_mode = 0;
    std::string uuid; // 32 hexadecimal digits
};

enum class Action { Return, Hang, Crash, Abort, Exit, Garbage, Unwritten, Wrong, Fault };

// On what a call is made; what is not known fits no rule that names it.
struct Where {
    std::optional<int> gpu{};
    std::string_view kernel{};
    std::string_view image{}; // "ptx", "code"
};

struct Rule {
    std::string function;
    Action action = Action::Return;
    int number = 0;
    std::optional<int> gpu{};
    int from_call = 1;
    std::string kernel{};
    std::string image{};
    std::string words{};
    int calls = 0; // that it fitted so far
};

struct Scenario {
    int version = 13000;
    int runtime = 13000;
    double newest_ptx = 99;
    std::vector<Device> devices;
    std::string log;
    std::vector<Rule> rules;
};

// Aborts with a word on standard error if the file is invalid: a misspelled test must fail.
Scenario& scenario();

void note(std::string_view line); // into the log, whole and at once

// The call is noted; where it is to hang or die, this does not return.
const Rule* rule_for(std::string_view function, const Where& where = {});

} // namespace standin
