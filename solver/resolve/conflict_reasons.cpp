#include "solver/resolve/conflict_reasons.hpp"

#include "base/text.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/resolve/conflict.hpp"
#include "solver/resolve/package_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cudaenv::resolve {

namespace {

// "11.8, 12.1 and 12.4" of "11.8.*|12.1.*|12.4.*".
std::string versions_text(std::string_view spec) {
    std::vector<std::string> versions;
    for (const std::string_view part : split(spec, '|')) {
        std::string version(part.starts_with("==") ? part.substr(2) : part);
        if (version.ends_with(".*")) {
            version.resize(version.size() - 2);
        }
        versions.push_back(std::move(version));
    }
    if (versions.size() < 2) {
        return versions.empty() ? std::string() : versions.front();
    }
    const std::string last = versions.back();
    versions.pop_back();
    return join(versions, ", ") + " and " + last;
}

// A dependency of the catalogue in the field's words: "is built for CUDA 11.3".
std::string need_text(std::string_view dependency) {
    const auto space = std::min(dependency.find(' '), dependency.size());
    const auto name = dependency.substr(0, space);
    const std::string versions = versions_text(trim(dependency.substr(space)));
    if (name == "cuda") {
        return "is built for CUDA " + versions;
    }
    if (name == "python") {
        return "is for Python " + versions;
    }
    if (name == "cudnn") {
        return "requires cuDNN " + versions;
    }
    if (name == "nccl") {
        return "requires NCCL " + versions;
    }
    // "torch ==2.3.1 cu121": one build.
    const auto words = split(trim(dependency.substr(space)), ' ');
    if (words.size() == 2 && words.front().starts_with("==")) {
        return fmt::format("requires {} {}{}", name, words.front().substr(2),
                           words.back() == "cpu" ? " (CPU)" : '+' + std::string(words.back()));
    }
    if (words.size() == 1 && words.front().starts_with("==")) {
        return fmt::format("requires {} {}", name, words.front().substr(2));
    }
    return "requires " + std::string(dependency);
}

// What stands against it, as the user said it or as it is.
std::string wish_text(const Item& item) {
    if (!item.in_environment) {
        return "you asked for " + item.text;
    }
    return item.kind == Item::Kind::Pin
               ? "the environment has Python " + item.text.substr(item.text.find('=') + 1)
               : item.text + " is installed";
}

// The wish behind a record: a runtime or toolkit record is brought by something that was asked for.
std::string asked_for(const ConflictSearch& search, const Records& records,
                      const specs::PackageRecord& owner) {
    if (!is_virtual(owner.name) && owner.name != "cuda") {
        return display(owner, search.attempt());
    }
    for (const specs::PackageRecord* const record : records) {
        for (const std::string& dependency : record->depends) {
            if (!is_virtual(record->name) &&
                search.attempt().universe->matches(owner, dependency)) {
                return display(*record, search.attempt());
            }
        }
    }
    return owner.name == World::k_nvcc ? "nvcc " + nvcc_release(owner) : "CUDA " + owner.version;
}

// "CUDA 13.2 no longer supports sm_70" of "CUDA 13.2, which no longer supports sm_70".
std::string as_sentence(std::string need) {
    for (const auto& [clause, said] :
         {std::pair<std::string_view, std::string_view>{", which no longer", " no longer"},
          std::pair<std::string_view, std::string_view>{", whose libraries have",
                                                        "'s libraries have"}}) {
        if (const auto at = need.find(clause); at != std::string::npos) {
            return need.replace(at, clause.size(), said);
        }
    }
    return need;
}

// What a spec asks of this host, where it is about that fact and not so here.
const HostNeed* unmet_need(const ConflictSearch& search, const Assumption& fact,
                           const std::string& spec) {
    const HostNeed* const need = search.attempt().world->need(spec);
    if (need == nullptr || need->kind != fact.kind ||
        (need->kind == FactKind::Gpu && fact.gpu >= 0 && fact.demand != "__fact_any_gpu" &&
         need->gpu != fact.gpu)) {
        return nullptr;
    }
    const auto& own = search.attempt().world->records();
    const bool met_here = std::any_of(own.begin(), own.end(), [&](const auto& record) {
        return record.build.find("assumed") == std::string::npos &&
               search.attempt().universe->matches(record, spec);
    });
    return met_here ? nullptr : need;
}

bool needs_otherwise(const ConflictSearch& search, const Assumption& fact,
                     const specs::PackageRecord& record) {
    return std::ranges::any_of(record.constrains, [&](const std::string& spec) {
        return unmet_need(search, fact, spec) != nullptr;
    });
}

// Of the packages without code for a GPU those that alone have no answer here either: TensorFlow,
// and not the torch beside it.
Records without_blameless(const ConflictSearch& search, const Assumption& fact, Records records) {
    Records blameless;
    bool another = false;
    for (const specs::PackageRecord* const record : records) {
        if (is_virtual(record->name) || record->name == "cuda" || record->name == "cudnn" ||
            !needs_otherwise(search, fact, *record)) {
            continue;
        }
        if (search.has_answer_alone(record->name)) {
            blameless.push_back(record);
        } else {
            another = true;
        }
    }
    if (another && !blameless.empty()) {
        std::erase_if(records, [&](const specs::PackageRecord* record) {
            return record->name == "cuda" ||
                   std::ranges::find(blameless, record) != blameless.end();
        });
    }
    return records;
}

} // namespace

std::string nvcc_release(const specs::PackageRecord& record) {
    const auto version = DottedVersion::parse(record.version);
    return version ? version->major_minor() : record.version;
}

UnmetNeeds unmet_needs(const ConflictSearch& search, const Records& records,
                       const Assumption& fact) {
    UnmetNeeds unmet;
    std::set<std::string> told;
    std::set<std::string> said;
    const facts::Host& host = search.attempt().world->host();
    const auto tell_need = [&](const specs::PackageRecord& owner, const std::string& spec) {
        const HostNeed* const need = unmet_need(search, fact, spec);
        if (need == nullptr) {
            return;
        }
        unmet.owners.insert(owner.name);
        if (need->bound && (!unmet.bound || *unmet.bound < *need->bound)) {
            unmet.bound = need->bound;
            unmet.at_least = need->at_least;
        }
        if ((need->kind == FactKind::Gpu || need->kind == FactKind::Processor) &&
            unmet.code.empty()) {
            unmet.code = need->text;
        }
        std::string text;
        switch (need->kind) {
        case FactKind::Driver:
            text = fmt::format("{}; {} needs {}", fact.text, asked_for(search, records, owner),
                               need->text);
            break;
        case FactKind::Gpu:
            if ((owner.name == "cuda" && said.contains(need->text)) ||
                (owner.name == "cudnn" && !said.empty())) {
                return; // the package that has them says it
            }
            said.insert(need->text);
            text = fmt::format("{}; {}", fact.text,
                               owner.name == "cuda" ? as_sentence(need->text)
                               : owner.name == World::k_nvcc
                                   ? "nvcc " + nvcc_release(owner) + " has " + need->text
                                   : display(owner, search.attempt()) + " has " + need->text);
            break;
        case FactKind::Toolkits:
            text = fmt::format("{} needs {} to build; {}", asked_for(search, records, owner),
                               need->text, fact.text);
            break;
        case FactKind::Compilers:
            text = need->at_least
                       ? fmt::format("extensions of {} need {}; {}",
                                     asked_for(search, records, owner), need->text, fact.text)
                       : fmt::format("nvcc {} accepts {}; {}", nvcc_release(owner), need->text,
                                     fact.text);
            break;
        case FactKind::Processor:
            text = fmt::format("{}; {} is for {} only", fact.text,
                               asked_for(search, records, owner), need->text);
            break;
        case FactKind::Glibc:
        case FactKind::CudaGiven:
            text = fmt::format("{}; {} needs {}", fact.text, asked_for(search, records, owner),
                               need->text);
            break;
        }
        if (!told.insert(text).second || told.size() > 4) {
            return;
        }
        std::vector<std::string> facts{fact.source.empty() ? fact.text
                                                           : fact.text + " (" + fact.source + ')'};
        if (!need->source.empty()) {
            facts.push_back(need->text + " (" + need->source + ')');
        }
        unmet.reasons.push_back({std::move(text), std::move(facts)});
    };
    Records libraries_last =
        fact.kind == FactKind::Gpu ? without_blameless(search, fact, records) : records;
    std::stable_partition(libraries_last.begin(), libraries_last.end(), [](const auto* record) {
        return record->name != "cuda" && record->name != "cudnn";
    });
    for (const specs::PackageRecord* const record : libraries_last) {
        for (const std::string& spec : record->constrains) {
            tell_need(*record, spec);
        }
        for (const std::string& spec : record->depends) {
            tell_need(*record, spec);
        }
    }
    if (!told.empty() || (fact.kind != FactKind::Driver && fact.kind != FactKind::Glibc)) {
        return unmet;
    }
    // conda's own way of asking: `__cuda >=12` or `__glibc >=2.28` in a channel's record.
    const std::string own = fact.kind == FactKind::Driver ? "__cuda" : "__glibc";
    const auto known = fact.kind == FactKind::Driver ? knowledge::driver_cuda(host) : host.glibc;
    const std::string value = known ? known->str() : "";
    for (const specs::PackageRecord* const record : records) {
        if (is_virtual(record->name)) {
            continue; // the host's own
        }
        for (const auto* const list : {&record->depends, &record->constrains}) {
            for (const std::string& spec : *list) {
                if (spec.substr(0, spec.find_first_of(" =<>!~[")) != own) {
                    continue;
                }
                specs::PackageRecord here;
                here.name = own;
                here.version = value.empty() ? "0" : value;
                here.build = "0";
                if ((value.empty() && list == &record->depends) ||
                    (!value.empty() && !search.attempt().universe->matches(here, spec))) {
                    std::string text = fmt::format(
                        "{} needs {}; {}", display(*record, search.attempt()), spec, fact.text);
                    if (told.insert(text).second && told.size() <= 3) {
                        unmet.reasons.push_back({std::move(text), {fact.text}});
                    }
                }
            }
        }
    }
    return unmet;
}

namespace {

// What it depends on, then what it holds others to.
std::vector<std::string> requirements_of(const specs::PackageRecord& record) {
    std::vector<std::string> all = record.depends;
    std::ranges::copy_if(record.constrains, std::back_inserter(all),
                         [](const std::string& one) { return !is_virtual(one); });
    return all;
}

// Which records of an answer without `item` stand against what the item wants.
void opposed(const ConflictSearch& search, const Records& records, const Item& item,
             std::vector<Reason>& reasons) {
    std::set<std::string> names;
    std::vector<std::string> wanted = item.constrains;
    if (item.kind == Item::Kind::Spec) {
        wanted = {item.demand};
    }
    std::size_t told = 0;
    const auto is_asked = [&](const specs::PackageRecord& record) {
        const auto& items = search.attempt().question.items;
        return std::ranges::any_of(items,
                                   [&](const Item& other) { return other.name == record.name; });
    };
    Records asked_first = records;
    std::stable_partition(asked_first.begin(), asked_first.end(),
                          [&](const auto* record) { return is_asked(*record); });
    for (const std::string& want : wanted) {
        const auto parsed = specs::MatchSpec::parse(want);
        if (!parsed) {
            continue;
        }
        for (const specs::PackageRecord* const record : asked_first) {
            if (told > 0 && !is_asked(*record)) {
                break; // what was asked for explains it; what it brings along only repeats it
            }
            for (const std::string& dependency : requirements_of(*record)) {
                const auto needed = specs::MatchSpec::parse(dependency);
                if (!needed || needed->name() != parsed->name() || told == 3 ||
                    !needed->constrains_anything()) {
                    continue;
                }
                // Only a dependency that none of what is wanted could meet says why.
                const auto candidates = search.attempt().universe->matching(want);
                const bool possible = std::ranges::any_of(candidates, [&](const auto* one) {
                    return search.attempt().universe->matches(*one, dependency);
                });
                if (possible && !candidates.empty()) {
                    continue;
                }
                ++told;
                reasons.push_back({fmt::format("{} {}; {}", display(*record, search.attempt()),
                                               need_text(dependency), wish_text(item)),
                                   {fmt::format("{} ({})", item.text, item.origin)}});
            }
        }
    }
}

// A spec that cannot be had even alone: what of it is missing.
void alone(const ConflictSearch& search, const Item& item, std::vector<Reason>& reasons) {
    const auto candidates = search.attempt().universe->matching(item.demand);
    if (candidates.empty()) {
        const auto all = search.attempt().universe->all_of(item.name);
        const auto other_builds = item.build_relaxed.empty()
                                      ? Records()
                                      : search.attempt().universe->matching(item.build_relaxed);
        std::string text;
        if (all.empty()) {
            const std::string& machine = search.attempt().world->host().machine;
            text = has_package(item.name)
                       ? fmt::format("{} has no wheels for {}", item.name, machine)
                       : fmt::format("no package is called {}", item.name);
        } else if (std::ranges::any_of(other_builds,
                                       [](const auto* record) { return !record->build.empty(); })) {
            std::vector<std::string> builds;
            for (const specs::PackageRecord* const record : other_builds) {
                if (std::ranges::find(builds, record->build) == builds.end()) {
                    builds.push_back(record->build);
                }
            }
            text = fmt::format("no {} here matches {}; the builds of that version are {}",
                               item.name, item.text, join(builds, ", "));
        } else {
            text = fmt::format("no {} here matches {}; the newest is {}", item.name, item.text,
                               display(*all.front(), search.attempt()));
        }
        reasons.push_back({std::move(text), {fmt::format("{} ({})", item.text, item.origin)}});
        return;
    }
    // Down the best candidate's needs until one has nobody to meet it.
    const specs::PackageRecord* at = candidates.front();
    for (int depth = 0; depth < 8 && search.may_solve(); ++depth) {
        const specs::PackageRecord* next = nullptr;
        for (const std::string& dependency : at->depends) {
            if (is_virtual(dependency)) {
                continue;
            }
            const auto providers = search.attempt().universe->matching(dependency);
            if (providers.empty()) {
                reasons.push_back({fmt::format("{} needs {}, which no channel here has",
                                               display(*at, search.attempt()), dependency),
                                   {item.text}});
                return;
            }
            if (!search.attempt().universe->solve(std::vector<std::string>{dependency})) {
                next = providers.front();
                break;
            }
        }
        if (next == nullptr) {
            break;
        }
        at = next;
    }
    std::vector<std::string> depends;
    std::ranges::copy_if(at->depends, std::back_inserter(depends), [](const auto& spec) {
        return !spec.starts_with("__cudaenv_"); // the world's own
    });
    reasons.push_back({fmt::format("the requirements of {} do not fit together: {}", item.text,
                                   join(depends, ", ")),
                       {item.text}});
}

// What one wish requires against what an answer without it holds: two requirements of one thing, by
// the wish's best build and by a package of the answer, however far down.
std::optional<Reason> clash_of(const ConflictSearch& search, const Records& records,
                               const Item& item) {
    const auto& attempt = search.attempt();
    const auto candidates = attempt.universe->matching(item.demand);
    if (candidates.empty()) {
        return std::nullopt;
    }
    for (const std::string& mine : requirements_of(*candidates.front())) {
        const std::string name = mine.substr(0, mine.find(' '));
        const auto held = std::ranges::find(
            records, name, [](const auto* one) -> const auto& { return one->name; });
        if (is_virtual(name) || held == records.end() || attempt.universe->matches(**held, mine)) {
            continue;
        }
        const auto mine_too = attempt.universe->matching(mine);
        for (const specs::PackageRecord* const record : records) {
            for (const std::string& yours : requirements_of(*record)) {
                // "12.4.*" beside "12.*" is no clash, whichever the answer without it holds.
                const bool clash = record->name != candidates.front()->name &&
                                   yours.starts_with(name + ' ') &&
                                   std::ranges::none_of(mine_too, [&](const auto* one) {
                                       return attempt.universe->matches(*one, yours);
                                   });
                if (clash) {
                    return Reason{fmt::format("{} {}; {} {}", display(*candidates.front(), attempt),
                                              need_text(mine), display(*record, attempt),
                                              need_text(yours)),
                                  {fmt::format("{} ({})", item.text, item.origin)}};
                }
            }
        }
    }
    return std::nullopt;
}

// Two wishes whose best builds require two versions of one thing.
std::optional<Reason> shared_need(const ConflictSearch& search, const Item& one,
                                  const Item& other) {
    const auto& universe = *search.attempt().universe;
    const auto ours = universe.matching(one.demand);
    const auto theirs = universe.matching(other.demand);
    if (ours.empty() || theirs.empty()) {
        return std::nullopt;
    }
    for (const std::string& mine : requirements_of(*ours.front())) {
        const auto name = mine.substr(0, mine.find(' '));
        for (const std::string& yours : requirements_of(*theirs.front())) {
            if (is_virtual(name) || yours.substr(0, yours.find(' ')) != name) {
                continue;
            }
            const auto candidates = universe.matching(mine);
            const bool possible = std::ranges::any_of(
                candidates, [&](const auto* record) { return universe.matches(*record, yours); });
            if (!possible) {
                return Reason{fmt::format("{} {}; {} {}", display(*ours.front(), search.attempt()),
                                          need_text(mine),
                                          display(*theirs.front(), search.attempt()),
                                          need_text(yours)),
                              {fmt::format("{} ({})", one.text, one.origin),
                               fmt::format("{} ({})", other.text, other.origin)}};
            }
        }
    }
    return std::nullopt;
}

} // namespace

std::vector<Reason> reasons_of(const ConflictSearch& search, const Core& core) {
    std::vector<Reason> reasons;
    std::vector<const Item*> items;
    for (const std::size_t i : core.elements) {
        if (search.elements()[i].item != nullptr) {
            items.push_back(search.elements()[i].item);
        }
    }
    if (core.elements.size() == 1 && items.size() == 1 && items.front()->kind == Item::Kind::Spec) {
        alone(search, *items.front(), reasons);
        return reasons;
    }
    for (const std::size_t i : core.elements) {
        if (search.elements()[i].fact == nullptr || !search.may_solve()) {
            continue;
        }
        if (const auto records = search.solve_around(core, i)) {
            UnmetNeeds unmet = unmet_needs(search, *records, *search.elements()[i].fact);
            std::move(unmet.reasons.begin(), unmet.reasons.end(), std::back_inserter(reasons));
        }
    }
    if (reasons.empty()) {
        for (const std::size_t i : core.elements) {
            if (search.elements()[i].item == nullptr || !search.may_solve()) {
                continue;
            }
            if (const auto records = search.solve_around(core, i)) {
                opposed(search, *records, *search.elements()[i].item, reasons);
            }
        }
    }
    for (std::size_t i = 0; i < items.size() && reasons.empty(); ++i) {
        for (std::size_t j = i + 1; j < items.size() && reasons.empty(); ++j) {
            if (auto reason = shared_need(search, *items[i], *items[j])) {
                reasons.push_back(*std::move(reason));
            }
        }
    }
    for (const std::size_t i : core.elements) {
        if (!reasons.empty() || search.elements()[i].item == nullptr || !search.may_solve()) {
            continue;
        }
        if (const auto records = search.solve_around(core, i)) {
            if (auto reason = clash_of(search, *records, *search.elements()[i].item)) {
                reasons.push_back(*std::move(reason));
            }
        }
    }
    if (reasons.empty()) {
        std::vector<std::string> texts;
        std::vector<std::string> facts;
        for (const std::size_t i : core.elements) {
            const Element& element = search.elements()[i];
            if (element.nvcc && core.elements.size() == 2) {
                continue; // the other one says what is not here
            }
            const std::string text = element.item != nullptr   ? element.item->text
                                     : element.fact != nullptr ? element.fact->text
                                                               : "an nvcc to build with";
            texts.push_back(text);
            facts.push_back(element.item != nullptr
                                ? fmt::format("{} ({})", text, element.item->origin)
                                : text);
        }
        const bool only_cpu = items.size() == 1 && core.elements.size() == 2 &&
                              std::ranges::any_of(core.elements, [&](std::size_t i) {
                                  const auto* const fact = search.elements()[i].fact;
                                  return fact != nullptr && fact->kind == FactKind::CudaGiven;
                              });
        if (only_cpu) {
            reasons.push_back({fmt::format("{} has only CPU builds here", items.front()->text),
                               std::move(facts)});
            return reasons;
        }
        reasons.push_back({texts.size() == 1
                               ? texts.front() + ", and extensions have to be compiled"
                               : "no versions of these fit together: " + join(texts, " · "),
                           std::move(facts)});
    }
    return reasons;
}

} // namespace cudaenv::resolve
