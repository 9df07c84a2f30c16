#include "daemon/pin_meaning.hpp"

#include "solver/plan/pins.hpp"
#include "solver/plan/resolve.hpp"

#include <algorithm>

namespace cudaenv::daemon {

namespace {

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

const plan::Pin* find_pin(const std::vector<plan::Pin>& pins, std::string_view name) {
    const auto found = std::ranges::find(pins, name, &plan::Pin::name);
    return found == pins.end() ? nullptr : &*found;
}

// The newest compiler of the host's that the toolkit takes, gcc before clang.
std::optional<facts::Compiler> best_compiler(const facts::Toolkit& toolkit,
                                             const facts::Host& host) {
    std::optional<facts::Compiler> best;
    for (const facts::Compiler& compiler : accepted_compilers(toolkit, host)) {
        const bool gcc = compiler.family == facts::CompilerFamily::Gcc;
        const bool better = !best || (gcc && best->family != facts::CompilerFamily::Gcc) ||
                            (compiler.family == best->family && compiler.version > best->version);
        if (better) {
            best = compiler;
        }
    }
    return best;
}

Fit toolkit_line(const std::string& constraint, const std::optional<facts::Toolkit>& toolkit,
                 const facts::Host& host) {
    if (!toolkit) {
        return {FitState::Warns, "no toolkit with nvcc here for CUDA " + constraint +
                                     ": programs run, nothing can be compiled"};
    }
    const std::string which = "toolkit " + toolkit->path + " (" + toolkit->version->str() + ')';
    if (const auto compiler = best_compiler(*toolkit, host)) {
        return {FitState::Fits, which + ", compiled with " + file_name(compiler->path)};
    }
    std::string accepts;
    if (toolkit->gcc_max) {
        accepts = "; it accepts gcc ";
        accepts += toolkit->gcc_min ? std::to_string(*toolkit->gcc_min) + '-' : "up to ";
        accepts += std::to_string(*toolkit->gcc_max);
    }
    return {FitState::Warns, which + ", but no compiler here for it" + accepts};
}

// The driver against the pinned CUDA itself, with or without a toolkit of it here.
std::optional<Fit> driver_line(const DottedVersion& cuda, const facts::Host& host) {
    if (!host.driver) {
        return Fit{FitState::Unknown, "no driver here: taken to be good enough"};
    }
    facts::Toolkit wanted;
    wanted.version = cuda;
    Fit fit = fit_of(wanted, host);
    const std::string driver =
        host.driver->version ? "driver " + host.driver->version->str() : "the driver";
    if (fit.state == FitState::Fits) {
        fit.text = driver + " runs it fully";
    } else if (!fit.text.empty()) {
        fit.text = driver + ": " + fit.text;
    }
    return fit.text.empty() ? std::nullopt : std::optional(fit);
}

} // namespace

std::optional<facts::Toolkit> pinned_toolkit(const facts::Host& host,
                                             const std::string& constraint) {
    const auto allowed = plan::PinConstraint::parse(constraint);
    std::optional<facts::Toolkit> newest;
    for (const facts::Toolkit& toolkit : host.toolkits) {
        if (allowed && toolkit.version && toolkit.nvcc && toolkit.problem.empty() &&
            allowed->allows(*toolkit.version) && (!newest || *toolkit.version > *newest->version)) {
            newest = toolkit;
        }
    }
    return newest;
}

Result<PinMeaning> meaning_of(const std::vector<plan::Pin>& pins, const facts::Host& host) {
    PinMeaning meaning;
    const plan::Pin* cuda = find_pin(pins, "cuda");
    if (cuda != nullptr) {
        meaning.toolkit = pinned_toolkit(host, cuda->constraint);
        meaning.lines.push_back(toolkit_line(cuda->constraint, meaning.toolkit, host));
        const auto constraint = plan::PinConstraint::parse(cuda->constraint);
        if (const auto version = constraint ? constraint->single() : std::nullopt) {
            if (auto line = driver_line(*version, host)) {
                meaning.possible = line->state != FitState::Breaks;
                meaning.lines.push_back(*std::move(line));
            }
        }
    }
    if (!meaning.possible) {
        return meaning; // no torch would say anything else
    }
    plan::Request request;
    request.specs.push_back({"torch", "the pins"});
    request.pins = pins;
    // Pins may allow no torch that is known, and still mean something: that is one line, not an
    // error.
    const auto outcome = plan::resolve(request, host, {});
    if (!outcome) {
        meaning.lines.push_back({FitState::Unknown, outcome.error().message});
        return meaning;
    }
    if (!outcome->solved()) {
        for (const plan::Reason& reason : outcome->conflict->reasons) {
            meaning.lines.push_back({FitState::Warns, "no torch fits: " + reason.text});
        }
        return meaning;
    }
    // By its name: what is pinned beside it, python say, was asked for too. conda calls it pytorch.
    const auto torch = std::ranges::find_if(outcome->packages, [](const auto& package) {
        return package.name == "torch" || package.name == "pytorch";
    });
    if (torch != outcome->packages.end()) {
        const std::string with = cuda != nullptr ? " with CUDA " + cuda->constraint : "";
        meaning.lines.push_back(
            {FitState::Fits,
             "newest torch" + with + " is " + torch->version.substr(0, torch->version.find('+'))});
    }
    return meaning;
}

} // namespace cudaenv::daemon
