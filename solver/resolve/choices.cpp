#include "solver/resolve/choices.hpp"

#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/resolve/conflict.hpp"
#include "solver/resolve/resolve.hpp"
#include "solver/specs/ask.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

const specs::PackageRecord* newest_of(const Records& records) {
    const specs::PackageRecord* newest = nullptr;
    std::optional<specs::Version> newest_version;
    for (const specs::PackageRecord* const record : records) {
        auto version = specs::Version::parse(record->version);
        if (version && (!newest_version || *newest_version < *version)) {
            newest = record;
            newest_version = *std::move(version);
        }
    }
    return newest;
}

std::string obstacle(const Request& request, const facts::Host& host,
                     std::span<const Channel* const> channels, const Item& item,
                     const std::string& version) {
    Request changed = request;
    changed.tell_choices = false;
    for (Wanted& wanted : changed.specs) {
        if (wanted.text == item.text) {
            wanted.text = item.name + "==" + version;
        }
    }
    const auto outcome = resolve(changed, host, channels);
    if (!outcome) {
        return "it could not be tried";
    }
    if (outcome->conflict) {
        return outcome->conflict->reasons.empty() ? "it has no answer here"
                                                  : outcome->conflict->reasons.front().text;
    }
    if (!outcome->changes.empty()) {
        const Change& change = outcome->changes.front();
        return fmt::format("{} would change from {} to {}", change.name, change.from, change.to);
    }
    const auto warned = [&](std::string_view code) {
        return std::ranges::any_of(outcome->warnings,
                                   [&](const auto& finding) { return finding.code == code; });
    };
    if (warned("CE202") && outcome->cuda) {
        return fmt::format("it has CUDA {}, which the driver runs by minor version compatibility "
                           "only: no new PTX",
                           outcome->cuda->major_minor());
    }
    return warned("CE214") ? "whether it has code for this GPU is unknown"
                           : "it does not fit the packages requested before it";
}

// Of several CUDA builds of one release: why this one.
std::string why_this_build(const specs::PackageRecord& torch, const facts::Host& host) {
    const auto* const release = knowledge::torch_release(torch.version);
    const auto* const variant = knowledge::torch_variant(torch.version, torch.build, host.machine);
    if (release == nullptr || variant == nullptr || !host.driver || release->variants.size() < 2) {
        return {};
    }
    const auto judged = knowledge::driver_fit(host, variant->cuda);
    const bool newest = std::ranges::none_of(
        release->variants, [&](const auto& other) { return variant->cuda < other.cuda; });
    return judged.fit == knowledge::DriverFit::Full
               ? fmt::format("; of its builds {} has the newest CUDA{}", torch.build,
                             newest ? ""
                                    : " that the driver fully supports and that supports the GPU")
           : judged.fit == knowledge::DriverFit::MachineCode
               ? fmt::format("; of its builds {} is the nearest to the driver's CUDA", torch.build)
               : std::string();
}

// What of the answer was asked for first.
const specs::PackageRecord* first_asked(const Answer& answer) {
    for (const Item& item : answer.attempt.question.items) {
        const auto* const record = record_named(answer.records, item.name);
        if (item.kind == Item::Kind::Spec && !item.in_environment && record != nullptr &&
            item.name != "python" && item.name != "cuda") {
            return record;
        }
    }
    return nullptr;
}

// What would be taken without the answer: a newer one for which less is asked of the host, else the
// version before it. Empty: nothing else is possible.
Result<std::string> next_best(const Request& request, const facts::Host& host,
                              const Answer& answer) {
    const auto* const chosen = first_asked(answer);
    if (chosen == nullptr) {
        return std::string();
    }
    const std::string shown = display(*chosen, answer.attempt);
    for (const WorldOptions& world : worlds_to_try(request, host, Vocabulary::Catalogue)) {
        const bool asks_less = world.full_driver <= answer.world.full_driver &&
                               world.known_code <= answer.world.known_code &&
                               world.every_gpu <= answer.world.every_gpu;
        if (!asks_less) {
            continue;
        }
        CUDAENV_TRY(const auto other, answer_in(world, request, host, {}, answer.attempt.manager));
        const auto* const record = other ? first_asked(*other) : nullptr;
        if (record == nullptr || display(*record, other->attempt) == shown) {
            continue;
        }
        return display(*record, other->attempt) +
               (!world.known_code && answer.world.known_code ? ": its GPU list is not published"
                : !world.full_driver && answer.world.full_driver
                    ? ": the driver runs its CUDA by minor version compatibility only"
                    : ": it does not support every GPU here");
    }
    Request older = request;
    for (Wanted& wanted : older.specs) {
        const auto ask = specs::Ask::parse(wanted.text);
        const bool pinned = wanted.text.find_first_of("=<>~ ") != std::string::npos;
        if (ask && !pinned && shown.starts_with(ask->name() + ' ')) {
            wanted.text += '<' + chosen->version;
            CUDAENV_TRY(const auto other,
                        answer_in(answer.world, older, host, {}, answer.attempt.manager));
            const auto* const record = other ? first_asked(*other) : nullptr;
            return record == nullptr ? std::string()
                                     : display(*record, other->attempt) + ": the version before";
        }
    }
    return std::string();
}

} // namespace

Result<std::optional<NewerRelease>> newer_by_minor_compatibility(const Request& request,
                                                                 const facts::Host& host,
                                                                 const Outcome& outcome) {
    const std::string& text = request.specs.front().text;
    if (!outcome.cuda || text.find_first_of("=<>~!@ ") != std::string::npos ||
        knowledge::driver_fit(host, *outcome.cuda).fit != knowledge::DriverFit::Full) {
        return std::optional<NewerRelease>();
    }
    const auto ask = specs::Ask::parse(text);
    const auto chosen = std::ranges::find_if(outcome.packages, [&](const ChosenPackage& package) {
        return ask && package.asked && package.name == ask->name();
    });
    for (const WorldOptions& world : worlds_to_try(request, host, Vocabulary::Catalogue)) {
        if (world.full_driver || chosen == outcome.packages.end() || chosen->framework) {
            continue;
        }
        CUDAENV_TRY(const auto other, answer_in(world, request, host, {}, chosen->manager));
        if (!other) {
            continue;
        }
        const auto* const record = first_asked(*other);
        const auto* const cuda = record_named(other->records, "cuda");
        if (record == nullptr || cuda == nullptr) {
            break;
        }
        const auto release = DottedVersion::of(cuda->version);
        const auto newer = knowledge::release_numbers(record->version);
        const auto taken = knowledge::release_numbers(chosen->version);
        if (taken < newer && taken.major_minor() != newer.major_minor() &&
            knowledge::driver_fit(host, release).fit == knowledge::DriverFit::MachineCode) {
            return std::optional(NewerRelease{record->name, record->version, release});
        }
        break;
    }
    return std::optional<NewerRelease>();
}

Result<std::vector<Choice>> choices_of(const Request& request, const facts::Host& host,
                                       std::span<const Channel* const> channels,
                                       const Answer& answer) {
    const Attempt& attempt = answer.attempt;
    CUDAENV_TRY(
        const Attempt whole,
        make_attempt(request, host, channels, {answer.world, attempt.manager, Narrowing::None}));
    const bool cuda_named = std::ranges::find(attempt.question.items, "cuda", &Item::name) !=
                            attempt.question.items.end();
    std::vector<Choice> choices;
    for (const Item& item : attempt.question.items) {
        const auto* const chosen = record_named(answer.records, item.name);
        if (item.kind != Item::Kind::Spec || chosen == nullptr || item.name == "cuda") {
            continue;
        }
        Choice choice{display(*chosen, attempt), {}, "installed, and it can stay", {}};
        const auto* const newest =
            item.kept ? nullptr : newest_of(whole.universe->matching(item.demand));
        if (newest != nullptr && newest->version != chosen->version) {
            choice.newest = newest->version;
            choice.why = obstacle(request, host, channels, item, newest->version);
        } else if (!item.kept) {
            choice.why = "the newest requested version";
            if (item.name == "torch" && attempt.catalogue && !cuda_named) {
                choice.why += why_this_build(*chosen, attempt.world->host());
            }
        }
        choices.push_back(std::move(choice));
    }
    if (!choices.empty() && channels.empty()) {
        CUDAENV_TRY(choices.front().next, next_best(request, host, answer));
    }
    return choices;
}

} // namespace cudaenv::resolve
