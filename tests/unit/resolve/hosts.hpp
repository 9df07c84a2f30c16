// Machines for tests, built in a line each.
#pragma once

#include "solver/facts/host.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "solver/resolve/outcome.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cudaenv::test {

class HostBuilder {
public:
    HostBuilder() {
        m_host.hostname = "lab-07";
        m_host.machine = "x86_64";
        m_host.kernel = "6.1.0";
        m_host.glibc = DottedVersion::of("2.36");
        m_host.driver_absent = "no kernel module";
    }
    HostBuilder& driver(const std::string& version) {
        facts::Driver driver;
        driver.version = DottedVersion::of(version);
        if (const auto cuda = knowledge::cuda_of_driver(*driver.version)) {
            driver.cuda = cuda->cuda;
        }
        driver.derived = true;
        driver.source = "/proc/driver/nvidia/version";
        m_host.driver = driver;
        m_host.driver_absent.clear();
        return *this;
    }
    HostBuilder& only_cuda(const std::string& cuda) {
        facts::Driver driver;
        driver.cuda = DottedVersion::of(cuda);
        m_host.driver = driver;
        m_host.driver_absent.clear();
        return *this;
    }
    HostBuilder& gpu(const std::string& name, const std::string& capability) {
        facts::Gpu gpu;
        gpu.index = static_cast<int>(m_host.gpus.size());
        gpu.name = name;
        gpu.compute_capability = *ComputeCapability::parse(capability);
        gpu.source = "NVML";
        m_host.gpus.push_back(gpu);
        return *this;
    }
    HostBuilder& toolkit(const std::string& version) {
        facts::Toolkit toolkit;
        toolkit.version = DottedVersion::of(version);
        toolkit.path = "/usr/local/cuda-" + toolkit.version->major_minor();
        toolkit.nvcc = true;
        if (const auto range = knowledge::compilers_of_toolkit(*toolkit.version)) {
            toolkit.gcc_min = range->gcc_min;
            toolkit.gcc_max = range->gcc_max;
            toolkit.clang_max = range->clang_max;
        }
        m_host.toolkits.push_back(toolkit);
        return *this;
    }
    HostBuilder& gcc(const std::string& version) {
        facts::Compiler compiler;
        compiler.version = DottedVersion::of(version);
        compiler.path = "/usr/bin/g++-" + std::to_string(compiler.version.major());
        m_host.compilers.push_back(compiler);
        return *this;
    }
    [[nodiscard]] const facts::Host& host() const { return m_host; }

private:
    facts::Host m_host;
};

// One text for a whole outcome, so that a test can look for the words that people will read.
inline std::string words_of(const resolve::Outcome& outcome) {
    std::string text;
    const auto say = [&](const std::string& line) { text += line + '\n'; };
    for (const auto& package : outcome.packages) {
        say("package " + package.name + ' ' + package.version);
    }
    for (const auto& command : outcome.commands) {
        say("run " + command);
    }
    for (const auto& alternative : outcome.alternatives) {
        for (const auto& command : alternative.commands) {
            say("or " + command);
        }
    }
    for (const auto& warning : outcome.warnings) {
        say(warning.code + ' ' + warning.title);
    }
    for (const auto& missing : outcome.missing) {
        say("missing " + missing.code + ' ' + missing.title);
    }
    if (outcome.conflict) {
        for (const auto& reason : outcome.conflict->reasons) {
            say("because " + reason.text);
        }
        for (const auto& fix : outcome.conflict->fixes) {
            say("fix " + std::to_string(fix.cost) + ' ' + fix.text + " | " + fix.command);
        }
    }
    return text;
}

} // namespace cudaenv::test
