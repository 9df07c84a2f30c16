#include "scenario.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace standin {

namespace {

[[noreturn]] void misspelt(const std::string& what) {
    std::fprintf(stderr, "stand-in CUDA: %s\n", what.c_str());
    std::_Exit(99);
}

std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::size_t at = 0;
    while (at < line.size()) {
        if (line[at] == ' ') {
            ++at;
        } else if (line[at] == '#') {
            break;
        } else if (line[at] == '"') {
            const auto end = line.find('"', at + 1);
            if (end == std::string::npos) {
                misspelt("no closing quote: " + line);
            }
            words.push_back(line.substr(at + 1, end - at - 1));
            at = end + 1;
        } else {
            const auto end = std::min(line.find(' ', at), line.size());
            words.push_back(line.substr(at, end - at));
            at = end;
        }
    }
    return words;
}

// The words of one line, one after the other.
struct Words {
    std::vector<std::string> all;
    std::string line;
    std::size_t at = 0;

    bool more() const { return at < all.size(); }
    std::string next() {
        if (!more()) {
            misspelt("a word is missing: " + line);
        }
        return all[at++];
    }
    std::uint64_t number() {
        const auto text = next();
        char* end = nullptr;
        const auto value = std::strtoull(text.c_str(), &end, 10);
        if (end == text.c_str() || *end != '\0') {
            misspelt("`" + text + "` is no number: " + line);
        }
        return value;
    }
};

Device device_of(Words& words) {
    Device device;
    device.name = words.next();
    while (words.more()) {
        const auto what = words.next();
        if (what == "cc") {
            const auto text = words.next();
            std::sscanf(text.c_str(), "%d.%d", &device.major, &device.minor);
        } else if (what == "memory") {
            device.memory_total = words.number();
        } else if (what == "free") {
            device.memory_free = words.number();
        } else if (what == "mode") {
            device.compute_mode = static_cast<int>(words.number());
        } else if (what == "uuid") {
            device.uuid = words.next();
        } else {
            misspelt("`" + what + "`: " + words.line);
        }
    }
    return device;
}

Rule rule_of(const std::string& function, Words& words) {
    Rule rule{.function = function};
    const auto action = words.next();
    if (action == "hang") {
        rule.action = Action::Hang;
    } else if (action == "crash") {
        rule.action = Action::Crash;
    } else if (action == "abort") {
        rule.action = Action::Abort;
    } else if (action == "exit") {
        rule.action = Action::Exit;
    } else if (action == "unwritten") {
        rule.action = Action::Unwritten;
    } else if (action == "wrong") {
        rule.action = Action::Wrong;
    } else if (action == "garbage") {
        rule.action = Action::Garbage;
        rule.number = std::atoi(words.next().c_str());
    } else if (action == "fault") {
        rule.action = Action::Fault;
        rule.number = static_cast<int>(words.number());
    } else {
        --words.at;
        rule.number = static_cast<int>(words.number());
    }
    while (words.more()) {
        const auto what = words.next();
        if (what == "gpu") {
            rule.gpu = static_cast<int>(words.number());
        } else if (what == "call") {
            rule.from_call = static_cast<int>(words.number());
        } else if (what == "name") {
            rule.kernel = words.next();
        } else if (what == "ptx" || what == "code") {
            rule.image = what;
        } else if (what == "say") {
            rule.words = words.next();
        } else {
            misspelt("`" + what + "`: " + words.line);
        }
    }
    return rule;
}

// Not by a variable: who starts a program may hand on only what it knows.
std::string beside_this_library() {
    Dl_info self{};
    if (dladdr(reinterpret_cast<void*>(&beside_this_library), &self) == 0) {
        return {};
    }
    const std::string path = self.dli_fname;
    return path.substr(0, path.rfind('/') + 1) + "scenario";
}

Scenario read_scenario() {
    const auto path = beside_this_library();
    std::ifstream file(path);
    if (!file) {
        misspelt("cannot read " + path);
    }
    Scenario read;
    for (std::string line; std::getline(file, line);) {
        Words words{.all = words_of(line), .line = line};
        if (!words.more()) {
            continue;
        }
        const auto what = words.next();
        if (what == "version") {
            read.version = static_cast<int>(words.number());
        } else if (what == "runtime") {
            read.runtime = static_cast<int>(words.number());
        } else if (what == "ptx") {
            read.newest_ptx = std::atof(words.next().c_str());
        } else if (what == "log") {
            read.log = words.next();
        } else if (what == "device") {
            if (words.number() != read.devices.size()) {
                misspelt("devices are numbered from 0: " + line);
            }
            read.devices.push_back(device_of(words));
        } else if (what.starts_with("cu") || what.starts_with("nccl")) {
            read.rules.push_back(rule_of(what, words));
        } else {
            misspelt("`" + what + "`: " + line);
        }
    }
    return read;
}

} // namespace

Scenario& scenario() {
    // Never destroyed: what ends the process may still ask.
    static auto* the_only = new Scenario(read_scenario());
    return *the_only;
}

void note(std::string_view line) {
    const auto& path = scenario().log;
    if (path.empty()) {
        return;
    }
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) {
        misspelt("cannot write " + path);
    }
    const std::string whole = std::string(line) + "\n";
    if (write(file, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) {
        misspelt("cannot write " + path);
    }
    close(file);
}

const Rule* rule_for(std::string_view function, const Where& where) {
    note(function);
    for (auto& rule : scenario().rules) {
        if (rule.function != function || (rule.gpu && rule.gpu != where.gpu) ||
            (!rule.kernel.empty() && rule.kernel != where.kernel) ||
            (!rule.image.empty() && rule.image != where.image)) {
            continue;
        }
        if (++rule.calls < rule.from_call) {
            continue;
        }
        if (!rule.words.empty()) {
            std::fprintf(stderr, "%s\n", rule.words.c_str());
        }
        switch (rule.action) {
        case Action::Hang:
            note("hangs");
            for (;;) {
                pause();
            }
        case Action::Crash:
        case Action::Abort: {
            // As without anybody's handler; a sanitizer has one.
            const int number = rule.action == Action::Crash ? SIGSEGV : SIGABRT;
            std::signal(number, SIG_DFL);
            std::raise(number);
            break;
        }
        case Action::Exit:
            std::_Exit(0);
        default:
            break;
        }
        return &rule;
    }
    return nullptr;
}

} // namespace standin
