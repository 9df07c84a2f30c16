#include "daemon/pin_meaning.hpp"

#include "shellhooks/activation/host_compiler.hpp"
#include "shellhooks/activation/toolkit_match.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/resolve.hpp"

#include <algorithm>

namespace cudaenv::daemon {

namespace {

using knowledge::CudaFit;
using knowledge::Verdict;

void add_toolkit(const activation::Situation& situation, const activation::WantedCuda& wanted,
                 PinMeaning& meaning) {
    const auto matched = activation::match_toolkit(situation, wanted);
    if (!matched) {
        meaning.nvcc_command = activation::nvcc_command(situation, wanted);
        meaning.lines.push_back({Verdict::Warns, "no toolkit with nvcc here for CUDA " +
                                                     wanted.text +
                                                     ": programs run, nothing can be compiled"});
        return;
    }
    const facts::Toolkit& toolkit = matched->toolkit;
    if (matched->match == activation::ToolkitMatch::SameMajor) {
        meaning.lines.push_back(
            {Verdict::Warns, knowledge::same_major_text(*toolkit.version, *wanted.version)});
    }
    const std::string which = "toolkit " + toolkit.path + " (" + toolkit.version->str() + ')';
    const auto decided = activation::decide_host_compiler(situation, toolkit);
    if (decided.compiler) {
        const std::string& path = decided.compiler->path;
        meaning.lines.push_back(
            {Verdict::Works, which + ", compiled with " + path.substr(path.rfind('/') + 1)});
    } else {
        meaning.lines.push_back({Verdict::Unknown, which});
    }
    for (const std::string& warning : decided.warnings) {
        meaning.lines.push_back({Verdict::Warns, warning});
    }
}

// The driver and the GPUs against the pinned CUDA itself, with or without a toolkit of it here.
CudaFit host_line(const DottedVersion& cuda, const facts::Host& host) {
    if (!host.driver) {
        return {Verdict::Unknown, "no driver here: a suitable one is assumed"};
    }
    CudaFit fit = knowledge::cuda_fit(cuda, host);
    const auto driver = knowledge::driver_fit(host, cuda);
    if (fit.verdict == Verdict::Works) {
        fit.text = driver.driver + " runs it fully";
    } else if (driver.fit == knowledge::DriverFit::TooOld) {
        fit.text = driver.driver + ": " + fit.text;
    }
    return fit;
}

} // namespace

Result<PinMeaning> meaning_of(const activation::Situation& situation) {
    PinMeaning meaning;
    const pins::EffectivePin* const cuda = situation.pins.find("cuda");
    const auto wanted =
        cuda != nullptr ? activation::wanted_cuda(cuda->pin.constraint) : std::nullopt;
    if (wanted) {
        add_toolkit(situation, *wanted, meaning);
        if (wanted->version) {
            meaning.lines.push_back(host_line(*wanted->version, situation.host));
            meaning.possible = meaning.lines.back().verdict != Verdict::Fails;
        }
    }
    if (!meaning.possible) {
        return meaning; // no torch would say anything else
    }
    resolve::Request request;
    request.specs.push_back({"torch", "the pins"});
    request.pins = situation.pins.list();
    // Pins may allow no torch that is known, and still mean something: that is one line, not an
    // error.
    const auto outcome = resolve::resolve(request, situation.host, {});
    if (!outcome) {
        meaning.lines.push_back({Verdict::Unknown, outcome.error().message});
        return meaning;
    }
    if (!outcome->solved()) {
        for (const resolve::Reason& reason : outcome->conflict->reasons) {
            meaning.lines.push_back({Verdict::Warns, "no torch fits: " + reason.text});
        }
        return meaning;
    }
    // By its name: what is pinned beside it, python say, was asked for too. conda calls it pytorch.
    const auto torch = std::ranges::find_if(outcome->packages, [](const auto& package) {
        return package.name == "torch" || package.name == "pytorch";
    });
    if (torch != outcome->packages.end()) {
        const std::string with = cuda != nullptr ? " with CUDA " + cuda->pin.constraint : "";
        meaning.lines.push_back(
            {Verdict::Works,
             "newest torch" + with + " is " + torch->version.substr(0, torch->version.find('+'))});
    }
    return meaning;
}

} // namespace cudaenv::daemon
