#include "solver/plan/conflict.hpp"

#include "base/text.hpp"
#include "solver/plan/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cudaenv::plan {

namespace {

using Records = std::vector<const specs::PackageRecord*>;

// Solves are cheap, not free: the search for reasons and fixes stops here.
constexpr std::size_t k_most_solves = 160;

const std::string k_cpu_fix = "a CPU build: ";

// One thing that can be left out or loosened.
struct Element {
    std::string demand;
    const Item* item = nullptr;
    const Assumption* fact = nullptr;
    bool nvcc = false; // the wish for an nvcc that `--for build` is
};

class Explanation {
public:
    Explanation(const Attempt& attempt, const Request& request)
        : m_attempt(attempt), m_request(request) {
        for (const Assumption& fact : attempt.world->assumptions()) {
            m_elements.push_back({fact.demand, nullptr, &fact, false});
        }
        for (const Item& item : attempt.question.items) {
            m_elements.push_back({item.demand, &item, nullptr, false});
        }
        if (request.purpose == Purpose::Build) {
            m_elements.push_back({World::k_nvcc, nullptr, nullptr, true});
        }
    }

    Conflict tell() {
        const std::vector<std::size_t> core = minimal_core();
        Conflict conflict;
        reasons_of(core, conflict);
        fixes_for(core, conflict);
        return conflict;
    }

private:
    // `loosened`: left out, or for a spec reduced to its name.
    std::optional<Records> solve_without(const std::set<std::size_t>& loosened,
                                         bool keep_version = false) const {
        std::vector<std::string> demands;
        for (std::size_t i = 0; i < m_elements.size(); ++i) {
            const Element& element = m_elements[i];
            if (!loosened.contains(i)) {
                demands.push_back(element.demand);
            } else if (element.item != nullptr && keep_version &&
                       !element.item->build_relaxed.empty()) {
                demands.push_back(element.item->build_relaxed);
            } else if (element.item != nullptr && !element.item->relaxed.empty()) {
                demands.push_back(element.item->relaxed);
            }
        }
        return m_attempt.universe->solve(demands);
    }

    [[nodiscard]] bool may_solve() const {
        return m_attempt.universe->solve_count() < k_most_solves;
    }

    // Deletion: what can go without giving an answer is not part of the reason. Facts are tried
    // last to go, so that a reason names what was asked as well as what is.
    std::vector<std::size_t> minimal_core() const {
        std::vector<std::size_t> core;
        for (std::size_t i = 0; i < m_elements.size(); ++i) {
            core.push_back(i);
        }
        const auto solvable = [&](const std::vector<std::size_t>& kept) {
            std::vector<std::string> demands;
            for (const std::size_t i : kept) {
                demands.push_back(m_elements[i].demand);
            }
            return m_attempt.universe->solve(demands).has_value();
        };
        for (std::size_t i = 0; i < m_elements.size() && may_solve(); ++i) {
            std::vector<std::size_t> without;
            std::copy_if(core.begin(), core.end(), std::back_inserter(without),
                         [&](std::size_t kept) { return kept != i; });
            if (!solvable(without)) {
                core = std::move(without);
            }
        }
        return core;
    }

    // --- reasons --------------------------------------------------------------------------------

    [[nodiscard]] std::string asked_for(const Records& records,
                                        const specs::PackageRecord& owner) const {
        // A runtime or toolkit record is brought by something that was asked for: name that.
        if (!is_virtual(owner.name) && owner.name != "cuda") {
            return display(owner, m_attempt);
        }
        for (const specs::PackageRecord* const record : records) {
            for (const std::string& dependency : record->depends) {
                if (!is_virtual(record->name) && m_attempt.universe->matches(owner, dependency)) {
                    return display(*record, m_attempt);
                }
            }
        }
        return owner.name == World::k_nvcc ? "nvcc " + nvcc_version(owner)
                                           : "CUDA " + owner.version;
    }

    [[nodiscard]] static std::string nvcc_version(const specs::PackageRecord& record) {
        const auto version = DottedVersion::parse(record.version);
        return version ? version->major_minor() : record.version;
    }

    // What the records of an answer in a world without `fact` ask of the host and do not get.
    void unmet_needs(const Records& records, const Assumption& fact, std::vector<Reason>& reasons,
                     std::optional<DottedVersion>& bound) const {
        std::set<std::string> told;
        const facts::Host& host = m_attempt.world->host();
        const auto tell_need = [&](const specs::PackageRecord& owner, const std::string& spec) {
            const HostNeed* const need = m_attempt.world->need(spec);
            if (need == nullptr || need->kind != fact.kind ||
                (need->kind == FactKind::Gpu && fact.gpu >= 0 && fact.demand != "__fact_any_gpu" &&
                 need->gpu != fact.gpu)) {
                return;
            }
            const bool met_here =
                std::any_of(m_attempt.world->records().begin(), m_attempt.world->records().end(),
                            [&](const auto& own) {
                                return own.build.find("assumed") == std::string::npos &&
                                       m_attempt.universe->matches(own, spec);
                            });
            if (met_here) {
                return;
            }
            if (need->bound && (!bound || *bound < *need->bound)) {
                bound = need->bound;
            }
            std::string text;
            switch (need->kind) {
            case FactKind::Driver:
                text = fmt::format("{}; {} needs {}", fact.text, asked_for(records, owner),
                                   need->text);
                break;
            case FactKind::Gpu:
                text = fmt::format("{}; {} has {}", fact.text,
                                   owner.name == World::k_nvcc ? "nvcc " + nvcc_version(owner)
                                                               : display(owner, m_attempt),
                                   need->text);
                break;
            case FactKind::Toolkits:
                text = fmt::format("{} wants {} to build with; {}", asked_for(records, owner),
                                   need->text, fact.text);
                break;
            case FactKind::Compilers:
                text = fmt::format("nvcc {} accepts {}; {}", nvcc_version(owner), need->text,
                                   fact.text);
                break;
            case FactKind::Glibc:
            case FactKind::CudaGiven:
                text = fmt::format("{}; {} needs {}", fact.text, asked_for(records, owner),
                                   need->text);
                break;
            }
            if (!told.insert(text).second || told.size() > 4) {
                return;
            }
            std::vector<std::string> facts{
                fact.source.empty() ? fact.text : fact.text + " (" + fact.source + ')'};
            if (!need->source.empty()) {
                facts.push_back(need->text + " (" + need->source + ')');
            }
            reasons.push_back({std::move(text), std::move(facts)});
        };
        for (const specs::PackageRecord* const record : records) {
            for (const std::string& spec : record->constrains) {
                tell_need(*record, spec);
            }
            for (const std::string& spec : record->depends) {
                tell_need(*record, spec);
            }
        }
        if (!told.empty() || (fact.kind != FactKind::Driver && fact.kind != FactKind::Glibc)) {
            return;
        }
        // conda's own way of asking: `__cuda >=12` or `__glibc >=2.28` in a channel's record.
        const std::string own = fact.kind == FactKind::Driver ? "__cuda" : "__glibc";
        const std::string value =
            fact.kind == FactKind::Driver
                ? (host.driver && host.driver->cuda ? host.driver->cuda->str() : "")
                : (host.glibc ? host.glibc->str() : "");
        for (const specs::PackageRecord* const record : records) {
            for (const auto* const list : {&record->depends, &record->constrains}) {
                for (const std::string& spec : *list) {
                    if (!spec.starts_with(own)) {
                        continue;
                    }
                    specs::PackageRecord here;
                    here.name = own;
                    here.version = value.empty() ? "0" : value;
                    here.build = "0";
                    if ((value.empty() && list == &record->depends) ||
                        (!value.empty() && !m_attempt.universe->matches(here, spec))) {
                        std::string text = fmt::format(
                            "{} needs {}; {}", display(*record, m_attempt), spec, fact.text);
                        if (told.insert(text).second && told.size() <= 3) {
                            reasons.push_back({std::move(text), {fact.text}});
                        }
                    }
                }
            }
        }
    }

    // Which records of an answer without `item` stand against what the item wants.
    void opposed(const Records& records, const Item& item, std::vector<Reason>& reasons) const {
        std::set<std::string> names;
        std::vector<std::string> wanted = item.constrains;
        if (item.kind == Item::Kind::Spec) {
            wanted = {item.demand};
        }
        std::size_t told = 0;
        for (const std::string& want : wanted) {
            const auto parsed = specs::MatchSpec::parse(want);
            if (!parsed) {
                continue;
            }
            for (const specs::PackageRecord* const record : records) {
                for (const std::string& dependency : record->depends) {
                    const auto needed = specs::MatchSpec::parse(dependency);
                    if (!needed || needed->name() != parsed->name() || told == 3 ||
                        !needed->constrains_anything()) {
                        continue;
                    }
                    // Only a dependency that none of what is wanted could meet says why.
                    const auto candidates = m_attempt.universe->matching(want);
                    const bool possible =
                        std::any_of(candidates.begin(), candidates.end(), [&](const auto* one) {
                            return m_attempt.universe->matches(*one, dependency);
                        });
                    if (possible && !candidates.empty()) {
                        continue;
                    }
                    ++told;
                    reasons.push_back(
                        {fmt::format("{} needs {}; asked for is {}", display(*record, m_attempt),
                                     dependency, item.text),
                         {fmt::format("{} ({})", item.text, item.origin)}});
                }
            }
        }
    }

    // A spec that cannot be had even alone: what of it is missing.
    void alone(const Item& item, std::vector<Reason>& reasons) const {
        const auto candidates = m_attempt.universe->matching(item.demand);
        if (candidates.empty()) {
            const auto all = m_attempt.universe->all_of(item.name);
            reasons.push_back(
                {all.empty() ? fmt::format("nothing here is called {}", item.name)
                             : fmt::format("no {} here matches {}; the newest is {}", item.name,
                                           item.text, display(*all.front(), m_attempt)),
                 {fmt::format("{} ({})", item.text, item.origin)}});
            return;
        }
        // Down the best candidate's needs until one has nobody to meet it.
        const specs::PackageRecord* at = candidates.front();
        for (int depth = 0; depth < 8 && may_solve(); ++depth) {
            const specs::PackageRecord* next = nullptr;
            for (const std::string& dependency : at->depends) {
                if (is_virtual(dependency)) {
                    continue;
                }
                const auto providers = m_attempt.universe->matching(dependency);
                if (providers.empty()) {
                    reasons.push_back({fmt::format("{} needs {}, which no channel here has",
                                                   display(*at, m_attempt), dependency),
                                       {item.text}});
                    return;
                }
                if (!m_attempt.universe->solve(std::vector<std::string>{dependency})) {
                    next = providers.front();
                    break;
                }
            }
            if (next == nullptr) {
                break;
            }
            at = next;
        }
        reasons.push_back({fmt::format("what {} needs does not fit together: {}", item.text,
                                       join(at->depends, ", ")),
                           {item.text}});
    }

    void reasons_of(const std::vector<std::size_t>& core, Conflict& conflict) {
        std::vector<const Item*> items;
        for (const std::size_t i : core) {
            if (m_elements[i].item != nullptr) {
                items.push_back(m_elements[i].item);
            }
        }
        if (core.size() == 1 && items.size() == 1 && items.front()->kind == Item::Kind::Spec) {
            alone(*items.front(), conflict.reasons);
            return;
        }
        for (const std::size_t i : core) {
            if (m_elements[i].fact == nullptr || !may_solve()) {
                continue;
            }
            if (const auto records = solve_only(core, i)) {
                std::optional<DottedVersion> bound;
                unmet_needs(*records, *m_elements[i].fact, conflict.reasons, bound);
            }
        }
        if (conflict.reasons.empty()) {
            for (const std::size_t i : core) {
                if (m_elements[i].item == nullptr || !may_solve()) {
                    continue;
                }
                if (const auto records = solve_only(core, i)) {
                    opposed(*records, *m_elements[i].item, conflict.reasons);
                }
            }
        }
        if (conflict.reasons.empty()) {
            std::vector<std::string> texts;
            std::vector<std::string> facts;
            for (const std::size_t i : core) {
                const Element& element = m_elements[i];
                const std::string text = element.item != nullptr   ? element.item->text
                                         : element.fact != nullptr ? element.fact->text
                                                                   : "an nvcc to build with";
                texts.push_back(text);
                facts.push_back(element.item != nullptr
                                    ? fmt::format("{} ({})", text, element.item->origin)
                                    : text);
            }
            conflict.reasons.push_back(
                {"these cannot all be had together: " + join(texts, " · "), std::move(facts)});
        }
    }

    // The core without element `out`, and nothing else: what made the rest impossible is then
    // visible.
    std::optional<Records> solve_only(const std::vector<std::size_t>& core, std::size_t out) const {
        if (auto everything_else = solve_without({out})) {
            return everything_else; // names the very builds that the request would get
        }
        std::vector<std::string> demands;
        for (const std::size_t i : core) {
            const Element& element = m_elements[i];
            if (i != out) {
                demands.push_back(element.demand);
            } else if (element.item != nullptr && !element.item->relaxed.empty()) {
                demands.push_back(element.item->relaxed);
            }
        }
        return m_attempt.universe->solve(demands);
    }

    // --- fixes ----------------------------------------------------------------------------------

    [[nodiscard]] bool gpu_list_unknown(const Records& records) const {
        return m_attempt.catalogue &&
               std::any_of(records.begin(), records.end(), [&](const auto* record) {
                   const auto* variant = record->name == "torch"
                                             ? torch_variant(record->version, record->build)
                                             : nullptr;
                   const auto* code = variant == nullptr ? nullptr
                                      : m_attempt.manager == Manager::Conda
                                          ? &variant->conda_architectures
                                          : &variant->wheel_architectures;
                   return code != nullptr && *code && (*code)->derived;
               });
    }

    [[nodiscard]] std::string summary(const Records& records) const {
        std::vector<std::string> parts;
        std::set<std::string> told;
        for (const Item& item : m_attempt.question.items) {
            for (const specs::PackageRecord* const record : records) {
                if (item.kind == Item::Kind::Spec && record->name == item.name &&
                    record->name != "cuda" && told.insert(record->name).second) {
                    parts.push_back(display(*record, m_attempt));
                }
            }
        }
        std::string text = join(parts, ", ");
        if (!m_attempt.world->host().gpus.empty() && gpu_list_unknown(records)) {
            text += " (which GPUs that build has code for is not known)";
        }
        for (const specs::PackageRecord* const record : records) {
            if (record->name == "cuda" || record->name == "cuda-version" ||
                record->name == "cudatoolkit") {
                text += fmt::format("{}CUDA {}", text.empty() ? "" : " on ",
                                    DottedVersion::parse(record->version)
                                        ? DottedVersion::of(record->version).major_minor()
                                        : record->version);
                break;
            }
        }
        return text;
    }

    // The command with what was loosened replaced by what the solve chose.
    [[nodiscard]] std::string command_with(const std::set<std::size_t>& loosened,
                                           const Records& records) const {
        Request changed = m_request;
        for (const std::size_t i : loosened) {
            const Item* const item = m_elements[i].item;
            if (item == nullptr) {
                continue;
            }
            const std::string pinned = item->kind == Item::Kind::Pin && item->name == "torch"
                                           ? (m_attempt.catalogue ? "torch" : "pytorch")
                                           : item->name;
            const auto chosen =
                std::find_if(records.begin(), records.end(), [&](const auto* record) {
                    if (item->kind == Item::Kind::Pin && item->name == "cuda") {
                        return record->name == "cuda" || runtime_of(*record).has_value();
                    }
                    return record->name == pinned;
                });
            std::string version = chosen == records.end() ? "" : (*chosen)->version;
            if (item->name == "cuda" && !version.empty()) {
                version = DottedVersion::of(version).major_minor();
            }
            if (item->kind == Item::Kind::Pin) {
                std::erase_if(changed.pins, [&](const Pin& pin) { return pin.name == item->name; });
                if (!version.empty()) {
                    changed.pins.push_back({item->name, version, "this fix"});
                }
                continue;
            }
            for (Wanted& wanted : changed.specs) {
                if (wanted.text == item->text && !version.empty()) {
                    wanted.text =
                        item->name == "cuda" ? "cuda=" + version : item->name + "==" + version;
                }
            }
        }
        return resolve_command(changed, m_attempt);
    }

    void add_fix(Conflict& conflict, RankedFix fix) const {
        const bool known =
            std::any_of(conflict.fixes.begin(), conflict.fixes.end(), [&](const RankedFix& other) {
                return other.text == fix.text ||
                       (!fix.command.empty() && other.command == fix.command);
            });
        if (!known) {
            conflict.fixes.push_back(std::move(fix));
        }
    }

    void fix_by_item(const std::set<std::size_t>& loosened, const Records& records, int cost,
                     Conflict& conflict) const {
        std::string text = summary(records);
        if (text.empty()) {
            text = "without " + m_elements[*loosened.begin()].item->text;
        }
        add_fix(conflict, {std::move(text), command_with(loosened, records), cost});
    }

    void fix_by_fact(std::size_t element, const Records& records, Conflict& conflict) const {
        const Assumption& fact = *m_elements[element].fact;
        std::vector<Reason> ignored;
        std::optional<DottedVersion> bound;
        unmet_needs(records, fact, ignored, bound);
        const std::string machine = m_attempt.world->host().hostname;
        const std::string with = summary(records);
        switch (fact.kind) {
        case FactKind::Driver: {
            const std::string newer =
                bound && m_attempt.world->host().driver && m_attempt.world->host().driver->version
                    ? fmt::format("driver {} or newer", bound->str())
                : bound ? fmt::format("driver {} or newer", bound->str())
                        : std::string("a newer NVIDIA driver");
            add_fix(conflict,
                    {fmt::format("{} (as root{}): then {}", newer,
                                 machine.empty() ? "" : "; ask whoever runs " + machine, with),
                     {},
                     4});
            return;
        }
        case FactKind::Gpu: {
            add_fix(conflict,
                    {fmt::format("another GPU: {} does not run on what is here", with), {}, 5});
            return;
        }
        case FactKind::Toolkits:
            for (const specs::PackageRecord* const record : records) {
                if (record->name == World::k_nvcc) {
                    add_fix(conflict, toolkit_fix(nvcc_version(*record), with));
                }
            }
            return;
        case FactKind::Compilers:
            if (bound) {
                add_fix(conflict, {fmt::format("g++-{} beside the compilers here: then {}",
                                               bound->str(), with),
                                   {},
                                   4});
            }
            return;
        case FactKind::CudaGiven: {
            Request cpu = m_request;
            cpu.cpu = true;
            add_fix(conflict, {k_cpu_fix + with, resolve_command(cpu, m_attempt), 2});
            return;
        }
        case FactKind::Glibc:
            add_fix(conflict, {"a newer system (glibc): then " + with, {}, 4});
            return;
        }
    }

    [[nodiscard]] static RankedFix toolkit_fix(const std::string& cuda, const std::string& with) {
        const DottedVersion version = DottedVersion::of(cuda);
        std::string how;
        if (version >= DottedVersion::of("11.3")) {
            how = fmt::format("conda install -c nvidia/label/cuda-{}.0 cuda-nvcc", cuda);
        }
        return {fmt::format("nvcc {} {}: then {}", cuda,
                            how.empty() ? "from NVIDIA's runfile (--toolkit "
                                          "--toolkitpath=$HOME/cuda-" +
                                              cuda + ", no root needed)"
                                        : "in the environment (no root needed)",
                            with),
                how, 3};
    }

    void fixes_for(const std::vector<std::size_t>& core, Conflict& conflict) const {
        const auto loosenable = [&](std::size_t i) {
            const Element& element = m_elements[i];
            return element.item != nullptr &&
                   (!element.item->relaxed.empty() || element.item->kind == Item::Kind::Pin);
        };
        for (const std::size_t i : core) {
            if (!may_solve()) {
                break;
            }
            const Element& element = m_elements[i];
            if (element.item != nullptr && !element.item->build_relaxed.empty()) {
                if (const auto records = solve_without({i}, true)) {
                    fix_by_item({i}, *records, 1, conflict);
                    continue;
                }
            }
            if (loosenable(i)) {
                if (const auto records = solve_without({i})) {
                    fix_by_item({i}, *records, 2, conflict);
                }
            } else if (element.fact != nullptr) {
                if (const auto records = solve_without({i})) {
                    fix_by_fact(i, *records, conflict);
                }
            } else if (element.nvcc) {
                if (const auto records = solve_without({i})) {
                    Request run = m_request;
                    run.purpose = Purpose::Run;
                    add_fix(conflict, {"to run it only, without building: " + summary(*records),
                                       resolve_command(run, m_attempt), 3});
                }
            }
        }
        // Two or more of what was asked at once, where one is not enough; then one fact more.
        std::vector<std::size_t> wishes;
        for (std::size_t i = 0; i < m_elements.size(); ++i) {
            if (loosenable(i)) {
                wishes.push_back(i);
            }
        }
        const auto user_can = [&] {
            return std::any_of(conflict.fixes.begin(), conflict.fixes.end(),
                               [](const RankedFix& fix) {
                                   return fix.cost <= 3 && !fix.text.starts_with(k_cpu_fix);
                               });
        };
        for (std::size_t a = 0; a < wishes.size() && !user_can(); ++a) {
            for (std::size_t b = a + 1; b < wishes.size() && may_solve(); ++b) {
                if (const auto records = solve_without({wishes[a], wishes[b]})) {
                    fix_by_item({wishes[a], wishes[b]}, *records, 2, conflict);
                }
            }
        }
        if (!user_can() && wishes.size() > 2) {
            const std::set<std::size_t> all(wishes.begin(), wishes.end());
            if (const auto records = solve_without(all)) {
                fix_by_item(all, *records, 2, conflict);
            }
        }
        for (std::size_t i = 0; i < m_elements.size() && conflict.fixes.empty(); ++i) {
            for (std::size_t j = i + 1; j < m_elements.size() && may_solve(); ++j) {
                if (m_elements[i].fact == nullptr || m_elements[j].nvcc) {
                    continue;
                }
                if (const auto records = solve_without({i, j})) {
                    fix_by_fact(i, *records, conflict);
                    break;
                }
            }
        }
        // A CPU build is the last of its cost: it is not what was asked for.
        const auto order = [](const RankedFix& fix) {
            return 2 * fix.cost + (fix.text.starts_with(k_cpu_fix) ? 1 : 0);
        };
        std::stable_sort(conflict.fixes.begin(), conflict.fixes.end(),
                         [&](const auto& a, const auto& b) { return order(a) < order(b); });
        if (conflict.fixes.size() > 6) {
            conflict.fixes.resize(6);
        }
    }

    const Attempt& m_attempt;
    const Request& m_request;
    std::vector<Element> m_elements;
};

} // namespace

std::string display(const specs::PackageRecord& record, const Attempt& attempt) {
    if (attempt.catalogue) {
        if (record.build.empty() || record.build == "cpu") {
            return record.name + ' ' + record.version + (record.build.empty() ? "" : " (CPU)");
        }
        return fmt::format("{} {}+{}", record.name, record.version, record.build);
    }
    return record.build.empty()
               ? record.name + ' ' + record.version
               : fmt::format("{} {} ({})", record.name, record.version, record.build);
}

Conflict explain_conflict(const Attempt& attempt, const Request& request) {
    return Explanation(attempt, request).tell();
}

} // namespace cudaenv::plan
