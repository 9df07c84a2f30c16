#include "daemon/pin_meaning.hpp"

#include "shellhooks/activation/host_compiler.hpp"
#include "shellhooks/activation/toolkit_match.hpp"
#include "solver/knowledge/cuda_release.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/resolve.hpp"

#include <algorithm>
#include <set>

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

// The newest CUDA that the host's driver and GPUs run; empty: unknown.
std::string newest_possible(const facts::Host& host) {
    const auto newest = knowledge::newest_cuda_in_full(host);
    const auto releases = knowledge::cuda_releases(); // ascending
    for (auto at = releases.rbegin(); newest && at != releases.rend(); ++at) {
        if (*at <= *newest && knowledge::cuda_fit(*at, host).verdict != Verdict::Fails) {
            return at->major_minor();
        }
    }
    return {};
}

std::optional<pins::PinConstraint> constraint_of(const activation::Situation& situation,
                                                 std::string_view name) {
    const auto* const pin = situation.pins.find(name);
    auto constraint = pins::PinConstraint::parse(pin == nullptr ? "" : pin->pin.constraint);
    return pin == nullptr || !constraint ? std::nullopt : std::optional(std::move(*constraint));
}

using Releases = std::vector<const knowledge::TorchRelease*>;

// Those that are known and that the pin allows.
Releases allowed_torches(const pins::PinConstraint& torch) {
    Releases allowed;
    for (const auto& release : knowledge::torch_releases()) {
        if (torch.allows(release.torch)) {
            allowed.push_back(&release);
        }
    }
    return allowed;
}

// The majors of the cuDNN that their builds have; empty where a release has none that is known, or
// one that the pin allows. The builds of a release are all of one major.
std::set<unsigned> other_cudnns(const Releases& torches, const DottedVersion& wanted) {
    std::set<unsigned> majors;
    for (const auto* torch : torches) {
        bool known = false;
        for (const auto& variant : torch->variants) {
            for (const auto* text : {&variant.cudnn, &variant.conda_cudnn}) {
                const auto cudnn = DottedVersion::parse(text->value_or(""));
                if (cudnn && cudnn->major() == wanted.major()) {
                    return {};
                }
                if (cudnn) {
                    known = true;
                    majors.insert(cudnn->major());
                }
            }
        }
        if (!known) {
            return {};
        }
    }
    return majors;
}

// Pins that no release of torch meets, whatever the host.
void add_impossible_pins(const activation::Situation& situation, PinMeaning& meaning) {
    const auto torch = constraint_of(situation, "torch");
    if (!torch) {
        return;
    }
    const auto allowed = allowed_torches(*torch);
    if (allowed.empty()) {
        const auto& newest = knowledge::torch_releases().back().torch;
        meaning.possible = false;
        meaning.instead = "torch=" + newest.major_minor();
        meaning.lines.push_back({Verdict::Fails, "cudaenv knows no torch " + torch->str() +
                                                     ": the newest is " + newest.str()});
        return;
    }
    const auto cudnn = constraint_of(situation, "cudnn");
    const auto single = cudnn ? cudnn->single() : std::nullopt;
    const auto majors = single ? other_cudnns(allowed, *single) : std::set<unsigned>{};
    if (!majors.empty()) {
        std::string names;
        for (const auto major : majors) {
            names += (names.empty() ? "" : " or ") + std::to_string(major);
        }
        meaning.possible = false;
        meaning.to_remove = "cudnn";
        meaning.lines.push_back({Verdict::Fails, "torch " + torch->str() + " is built with cuDNN " +
                                                     names + ", not " + cudnn->str()});
    }
}

} // namespace

Result<PinMeaning> meaning_of(const activation::Situation& situation) {
    PinMeaning meaning;
    const pins::EffectivePin* const cuda = situation.pins.find("cuda");
    const auto wanted =
        cuda != nullptr ? activation::wanted_cuda(cuda->pin.constraint) : std::nullopt;
    if (wanted && wanted->version) {
        auto line = host_line(*wanted->version, situation.host);
        if (line.verdict == Verdict::Fails) {
            // Neither a toolkit nor a torch of it would help.
            meaning.possible = false;
            meaning.instead = newest_possible(situation.host);
            meaning.lines.push_back(std::move(line));
            return meaning;
        }
        add_toolkit(situation, *wanted, meaning);
        meaning.lines.push_back(std::move(line));
    } else if (wanted) {
        add_toolkit(situation, *wanted, meaning);
    }
    add_impossible_pins(situation, meaning);
    if (!meaning.possible) {
        return meaning; // no solution would say anything else
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

Result<void> check_release(const std::string& constraint,
                           const std::function<std::vector<facts::Toolkit>()>& toolkits) {
    const auto wanted = pins::PinConstraint::parse(constraint);
    const auto version = wanted ? wanted->single() : std::nullopt;
    if (!version) {
        return {};
    }
    const auto release = knowledge::cuda_release(*version);
    if (release.exists != knowledge::CudaRelease::Exists::No) {
        return {};
    }
    const auto asked = DottedVersion::of(version->major_minor());
    const auto is_it = [&](const facts::Toolkit& toolkit) {
        return toolkit.version && toolkit.version->begins_with(asked);
    };
    if (std::ranges::any_of(toolkits(), is_it)) {
        return {};
    }
    return bad_input("no-such-cuda", knowledge::no_such_cuda(*version, release.nearest));
}

} // namespace cudaenv::daemon
