#include "solver/resolve/choices.hpp"

#include "solver/resolve/conflict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

const specs::PackageRecord* newest_of(const std::vector<const specs::PackageRecord*>& records) {
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

std::string obstacle(const Request& request, const Item& item, const std::string& version,
                     const std::function<Result<Outcome>(const Request&)>& resolve_again) {
    Request changed = request;
    changed.tell_choices = false;
    for (Wanted& wanted : changed.specs) {
        if (wanted.text == item.text) {
            wanted.text = item.name + "==" + version;
        }
    }
    const auto outcome = resolve_again(changed);
    if (outcome && outcome->conflict && !outcome->conflict->reasons.empty()) {
        return outcome->conflict->reasons.front().text;
    }
    return outcome && outcome->solved() ? "what was asked for before it holds it back"
                                        : "it could not be tried";
}

} // namespace

std::vector<Choice>
choices_of(const Request& request, const Attempt& answered,
           const std::vector<const specs::PackageRecord*>& records, const Attempt& unnarrowed,
           const std::function<Result<Outcome>(const Request&)>& resolve_again) {
    std::vector<Choice> choices;
    for (const Item& item : answered.question.items) {
        const auto chosen = std::find_if(records.begin(), records.end(), [&](const auto* record) {
            return record->name == item.name;
        });
        if (item.kind != Item::Kind::Spec || chosen == records.end() || item.name == "cuda") {
            continue;
        }
        const auto* const newest = newest_of(unnarrowed.universe->matching(item.demand));
        if (newest == nullptr || newest->version == (*chosen)->version) {
            choices.push_back({display(**chosen, answered), {}, "the newest that was asked for"});
            continue;
        }
        choices.push_back({display(**chosen, answered), newest->version,
                           obstacle(request, item, newest->version, resolve_again)});
    }
    return choices;
}

} // namespace cudaenv::resolve
