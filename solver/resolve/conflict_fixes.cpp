#include "solver/resolve/conflict_fixes.hpp"

#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/command_line.hpp"
#include "solver/resolve/conflict.hpp"
#include "solver/resolve/conflict_reasons.hpp"
#include "solver/resolve/package_records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

constexpr std::size_t k_most_fixes = 6;

// A fix and what it is sorted by beside its cost.
struct Candidate {
    ProposedFix proposed;
    bool cpu = false; // a CPU build is not what was asked for: the last of its cost
};

// What has to change on the host for a fact to be otherwise.
struct HostChange {
    std::string text;
    std::string command;
    int cost = 4;
};

// Before a question about a new environment, in the shell of this one.
std::string deactivation(const knowledge::Target& target) {
    return !target.active                                 ? ""
           : target.kind == knowledge::Target::Kind::Venv ? "deactivate && "
                                                          : target.conda + " deactivate && ";
}

knowledge::Target target_without_environment(knowledge::Target target) {
    target.kind = knowledge::Target::Kind::None;
    target.prefix.clear();
    target.python.clear();
    target.project.clear();
    target.active = false;
    return target;
}

// The builds of a conflict's fixes whose list of GPUs nobody has published.
bool gpu_list_unknown(const Attempt& attempt, const Records& records) {
    return attempt.catalogue && std::ranges::any_of(records, [&](const auto* record) {
               const auto* const variant =
                   record->name == "torch"
                       ? knowledge::torch_variant(record->version, record->build)
                       : nullptr;
               if (variant == nullptr) {
                   return false;
               }
               const auto& code = attempt.manager == Manager::Conda ? variant->conda_architectures
                                                                    : variant->wheel_architectures;
               return !code || code->derived;
           });
}

// "torch 1.12.1+cu113, torchvision 0.13.1+cu113 on CUDA 11.3"
std::string summary(const Attempt& attempt, const Records& records) {
    std::vector<std::string> parts;
    std::set<std::string> told;
    for (const Item& item : attempt.question.items) {
        for (const specs::PackageRecord* const record : records) {
            if (item.kind == Item::Kind::Spec && record->name == item.name &&
                record->name != "cuda" && !is_extra(record->name) &&
                told.insert(record->name).second) {
                parts.push_back(display(*record, attempt));
            }
        }
    }
    std::string text = join(parts, ", ");
    if (!attempt.world->host().gpus.empty() && gpu_list_unknown(attempt, records)) {
        text += " (its GPU list is not published)";
    }
    for (const specs::PackageRecord* const record : records) {
        const auto cuda = record->name == "cuda" ? DottedVersion::parse(record->version)
                                                 : Result<DottedVersion>(DottedVersion());
        const auto runtime =
            record->name == "cuda" && cuda ? std::optional(*cuda) : runtime_of(*record);
        if (runtime && record->name != "cuda-cudart") {
            return text +
                   fmt::format("{}CUDA {}", text.empty() ? "" : " on ", runtime->major_minor());
        }
    }
    return text;
}

class Fixes {
public:
    explicit Fixes(const ConflictSearch& search)
        : m_search(search), m_attempt(search.attempt()), m_elements(search.elements()) {}

    void loosen_one(std::size_t i) {
        const Element& element = m_elements[i];
        if (element.item != nullptr && !element.item->build_relaxed.empty()) {
            if (const auto records = m_search.solve_without({i}, Loosening::ToItsVersion)) {
                change_wishes({i}, *records, 1);
                return;
            }
        }
        if (element.item != nullptr) {
            take_sibling(i);
            take_nearest(i);
        }
        if (!element.loosenable() && element.fact == nullptr && !element.nvcc) {
            return;
        }
        const auto records = m_search.solve_without({i});
        if (!records) {
            return;
        }
        if (element.loosenable()) {
            // Without the pin of a CUDA what was asked stays, in another build.
            const bool build =
                element.item->kind == Item::Kind::Pin && element.item->name == "cuda";
            change_wishes({i}, *records, build ? 1 : 2);
        } else if (element.nvcc) {
            Request run = m_search.request();
            run.purpose = pins::Purpose::Run;
            const std::string lead = "to run it only, without building: ";
            // The command says it in full: a project's `for = "build"` would hold otherwise.
            add({{{lead + summary(m_attempt, *records),
                   resolve_command(run, channels()) + " --for run", 3},
                  lead,
                  run}});
        } else {
            change_facts({i}, *records);
        }
    }

    void loosen_wishes(const std::set<std::size_t>& wishes) {
        const std::size_t first = *wishes.begin();
        for (const std::string& nearest : m_elements[first].item->nearest) {
            if (!m_search.may_solve()) {
                return;
            }
            if (const auto records = m_search.solve_with(first, nearest, wishes)) {
                change_wishes(wishes, *records, 2);
                break;
            }
        }
        if (const auto records = m_search.solve_without(wishes)) {
            change_wishes(wishes, *records, 2);
        }
    }

    void loosen_facts(std::set<std::size_t> facts) {
        auto records = m_search.solve_without(facts);
        if (!records) {
            return;
        }
        // What need not change stays, the hardest first: GPU, driver, then toolkit and compiler.
        for (const FactKind hard : {FactKind::Gpu, FactKind::Glibc, FactKind::Driver}) {
            for (const std::size_t i : std::set<std::size_t>(facts)) {
                std::set<std::size_t> fewer = facts;
                fewer.erase(i);
                if (m_elements[i].fact->kind != hard || fewer.empty() || !m_search.may_solve()) {
                    continue;
                }
                if (auto still = m_search.solve_without(fewer)) {
                    facts = std::move(fewer);
                    records = std::move(still);
                }
            }
        }
        change_facts(facts, *records);
    }

    // Other names of the same family: cupy-cuda12x for cupy-cuda13x, jax[cuda12] for jax[cuda13].
    void take_sibling(std::size_t i) {
        const Item& item = *m_elements[i].item;
        for (const std::string& sibling : item.siblings) {
            if (!m_search.may_solve()) {
                return;
            }
            const auto records = m_search.solve_with(i, sibling);
            if (!records) {
                continue;
            }
            Request changed = m_search.request();
            for (Wanted& wanted : changed.specs) {
                if (redact_secrets(wanted.text) == item.text) {
                    wanted.text = shown_name(sibling);
                }
            }
            add({{{fmt::format("{} instead of {}", shown_name(sibling), shown_name(item.name)),
                   resolve_command(changed, channels()), 1},
                  {},
                  {}}});
            return;
        }
    }

    // Facts and wishes at once: the host changed, and the question with it.
    void loosen_both(const std::set<std::size_t>& facts, const std::set<std::size_t>& wishes) {
        std::set<std::size_t> all = facts;
        all.insert(wishes.begin(), wishes.end());
        const auto records = m_search.solve_without(all);
        if (!records) {
            return;
        }
        std::vector<std::string> texts;
        int cost = 2;
        for (const std::size_t i : facts) {
            const HostChange change = change_of(*m_elements[i].fact, *records);
            texts.push_back(change.text);
            cost = std::max(cost, change.cost);
        }
        // Before the host has changed, the command has the same conflict.
        add({{{join(texts, "; and ") + ": then " + summary(m_attempt, *records),
               cost > 3 ? "" : resolve_command(changed_by(wishes, *records), channels()), cost},
              {},
              {}}});
    }

    void add_text(RankedFix fix) { add({{std::move(fix), {}, {}}}); }

    // Something that the user can do without root or new hardware, and that is what was asked for.
    [[nodiscard]] bool user_can() const {
        return std::ranges::any_of(
            m_found, [](const Candidate& one) { return one.proposed.fix.cost <= 3 && !one.cpu; });
    }
    [[nodiscard]] bool empty() const { return m_found.empty(); }

    std::vector<ProposedFix> ranked() {
        const auto order = [](const Candidate& one) {
            return 2 * one.proposed.fix.cost + (one.cpu ? 1 : 0);
        };
        std::ranges::stable_sort(m_found,
                                 [&](const auto& a, const auto& b) { return order(a) < order(b); });
        std::vector<ProposedFix> fixes;
        for (Candidate& one : m_found) {
            if (fixes.size() < k_most_fixes) {
                fixes.push_back(std::move(one.proposed));
            }
        }
        return fixes;
    }

private:
    // The nearest version to the requested one, if it fits: 2.7.1 for 2.6.0.
    void take_nearest(std::size_t i) {
        const Item& item = *m_elements[i].item;
        for (const std::string& nearest : item.nearest) {
            if (!m_search.may_solve()) {
                return;
            }
            if (const auto records = m_search.solve_with(i, nearest)) {
                change_wishes({i}, *records, item.name == "cuda" ? 1 : 2);
                return;
            }
        }
    }

    void add(Candidate candidate) {
        const bool known = std::ranges::any_of(m_found, [&](const Candidate& other) {
            const RankedFix& old = other.proposed.fix;
            const RankedFix& fresh = candidate.proposed.fix;
            return old.text == fresh.text ||
                   (!fresh.command.empty() && old.command == fresh.command);
        });
        if (!known) {
            m_found.push_back(std::move(candidate));
        }
    }

    void change_wishes(const std::set<std::size_t>& wishes, const Records& records, int cost) {
        std::string text = summary(m_attempt, records);
        if (text.empty()) {
            text = "without " + m_elements[*wishes.begin()].item->text;
        }
        Request changed = changed_by(wishes, records);
        std::string lead;
        std::string leave;
        if (std::ranges::any_of(wishes, [&](std::size_t i) {
                const Item& item = *m_elements[i].item;
                return item.kind == Item::Kind::Pin && item.in_environment;
            })) {
            // The Python of an environment is not changed: another environment has it.
            lead = "in a new environment: ";
            leave = deactivation(target());
            changed.environment = {};
            changed.environment.target = target_without_environment(target());
            changed.kept.clear();
            cost = 3;
        }
        add({{{lead + text, leave + resolve_command(changed, channels()), cost},
              lead,
              std::move(changed)}});
    }

    // The question with what was loosened replaced by what the solve chose.
    [[nodiscard]] Request changed_by(const std::set<std::size_t>& wishes,
                                     const Records& records) const {
        Request changed = m_search.request();
        for (const std::size_t i : wishes) {
            const Item& item = *m_elements[i].item;
            const pins::PinName* const known = item.kind == Item::Kind::Pin && !m_attempt.catalogue
                                                   ? pins::find_pin_name(item.name)
                                                   : nullptr;
            const std::string name = known != nullptr && !known->conda_name.empty()
                                         ? std::string(known->conda_name)
                                         : item.name;
            const bool cuda_pin = item.kind == Item::Kind::Pin && item.name == "cuda";
            const auto chosen = std::ranges::find_if(records, [&](const auto* record) {
                return record->name == name || (cuda_pin && runtime_of(*record).has_value());
            });
            std::string version = chosen == records.end() ? "" : (*chosen)->version;
            if (item.name == "cuda" && !version.empty()) {
                version = DottedVersion::of(version).major_minor();
            }
            if (item.kind == Item::Kind::Pin) {
                std::erase_if(changed.pins,
                              [&](const pins::Pin& pin) { return pin.name == item.name; });
                if (!version.empty()) {
                    changed.pins.push_back({item.name, version, std::string(k_this_fix)});
                }
                continue;
            }
            for (Wanted& wanted : changed.specs) {
                if (redact_secrets(wanted.text) == item.text && !version.empty()) {
                    wanted.text = item.name == "cuda" ? "cuda=" + version
                                                      : shown_name(item.name) + "==" + version;
                }
            }
        }
        return changed;
    }

    void change_facts(const std::set<std::size_t>& facts, const Records& records) {
        const std::string with = summary(m_attempt, records);
        std::vector<std::string> texts;
        std::vector<std::string> commands;
        int cost = 0;
        for (const std::size_t i : facts) {
            const Assumption& fact = *m_elements[i].fact;
            if (fact.kind == FactKind::CudaGiven) {
                // Nothing is built against CUDA then: only a request to run can be met so.
                if (m_search.request().purpose == pins::Purpose::Run && facts.size() == 1) {
                    Request cpu = m_search.request();
                    cpu.cpu = true;
                    std::erase_if(cpu.pins,
                                  [](const pins::Pin& pin) { return pin.name == "cuda"; });
                    const std::string lead = "a CPU build: ";
                    add({{{lead + with, resolve_command(cpu, channels()), 2}, lead, cpu}, true});
                }
                return;
            }
            const HostChange change = change_of(fact, records);
            texts.push_back(change.text);
            if (!change.command.empty()) {
                commands.push_back(change.command);
            }
            cost = std::max(cost, change.cost);
        }
        add({{{join(texts, "; and ") + ": then " + with, join(commands, " && "), cost}, {}, {}}});
    }

    [[nodiscard]] HostChange change_of(const Assumption& fact, const Records& records) const {
        const UnmetNeeds unmet = unmet_needs(m_search, records, fact);
        const std::string machine = m_attempt.world->host().hostname;
        switch (fact.kind) {
        case FactKind::Driver:
            if (unmet.bound) {
                const auto recipe =
                    knowledge::driver_recipe({*unmet.bound, {}}, m_attempt.world->host());
                return {recipe.text, {}, recipe.other_gpu ? 5 : 4};
            }
            return {fmt::format("a newer NVIDIA driver (as root{})",
                                machine.empty() ? "" : "; ask whoever runs " + machine),
                    {},
                    4};
        case FactKind::Gpu:
            return {unmet.code.empty() ? "another GPU"
                                       : "another GPU (this build has " + unmet.code + ')',
                    {},
                    5};
        case FactKind::Toolkits:
            for (const specs::PackageRecord* const record : records) {
                if (record->name == World::k_nvcc) {
                    return nvcc_to_get(nvcc_release(*record));
                }
            }
            return {"another CUDA toolkit", {}, 3};
        case FactKind::Compilers:
            return compiler_to_get(unmet.bound, unmet.at_least ? knowledge::GccBound::OrNewer
                                                               : knowledge::GccBound::OrOlder);
        case FactKind::Processor:
            return {"a machine with another processor (" + unmet.code + ')', {}, 5};
        case FactKind::Glibc:
        case FactKind::CudaGiven:
            break;
        }
        return {"a newer system (glibc)", {}, 4};
    }

    [[nodiscard]] HostChange nvcc_to_get(const std::string& cuda) const {
        const auto recipe = knowledge::nvcc_recipe(DottedVersion::of(cuda), target());
        return {recipe.text + " (no root needed)", recipe.command, 3};
    }

    [[nodiscard]] HostChange compiler_to_get(const std::optional<DottedVersion>& gcc,
                                             knowledge::GccBound bound) const {
        if (!gcc) {
            return {"another host compiler", {}, 4};
        }
        const auto recipe =
            knowledge::compiler_recipe(static_cast<int>(gcc->major()), bound, target());
        return {recipe.text, recipe.command, recipe.root ? 4 : 3};
    }

    // Of the request: the catalogue is not named in a command.
    [[nodiscard]] std::span<const Channel* const> channels() const {
        return m_attempt.catalogue ? std::span<const Channel* const>() : m_attempt.channels;
    }

    [[nodiscard]] const knowledge::Target& target() const {
        return m_search.request().environment.target;
    }

    const ConflictSearch& m_search;
    const Attempt& m_attempt;
    const std::vector<Element>& m_elements;
    std::vector<Candidate> m_found;
};

RankedFix torch_from_source(const std::string& torch, const std::string& cuda,
                            ComputeCapability gpu) {
    return {fmt::format("{} built from source for {}, with nvcc {}: TORCH_CUDA_ARCH_LIST={}", torch,
                        gpu.sm(), cuda, gpu.str()),
            {},
            3};
}

// Whether what nvcc of that release builds for the GPU runs here.
bool can_build_for(const facts::Host& host, const DottedVersion& cuda, ComputeCapability gpu) {
    return knowledge::toolkit_serves(cuda, gpu).runs() == knowledge::Answer::Yes &&
           knowledge::driver_fit(host, cuda).runs() != knowledge::Answer::No;
}

// torch's own packages, whose device code a build from source has.
bool is_of_torch(const std::string& name) {
    const auto* const row = knowledge::find_framework(name);
    return name == "cuda" || name == "cudnn" || (row != nullptr && row->table == "torch");
}

// A GPU that no release serves runs what is built for it here, with the last CUDA that knows it.
std::optional<RankedFix> build_for_gpu(const ConflictSearch& search, std::size_t element) {
    const Assumption* const fact = search.elements()[element].fact;
    if (fact == nullptr || fact->kind != FactKind::Gpu || fact->gpu < 0) {
        return std::nullopt;
    }
    const facts::Host& host = search.attempt().world->host();
    const auto& gpu = host.gpus[static_cast<std::size_t>(fact->gpu)].compute_capability;
    std::string last;
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        if (gpu && can_build_for(host, release, *gpu)) {
            last = release.str();
        }
    }
    const auto records = last.empty() ? std::nullopt : search.solve_without({element});
    if (!records ||
        !std::ranges::all_of(unmet_needs(search, *records, *fact).owners, is_of_torch)) {
        return std::nullopt; // what else is in the answer needs another GPU too
    }
    return torch_from_source("torch", last, *gpu);
}

// A release without a build for the CUDA that is wanted.
std::optional<RankedFix> build_for_cuda(const ConflictSearch& search, const Core& core) {
    const Item* torch = nullptr;
    std::optional<DottedVersion> cuda;
    for (const std::size_t i : core.elements) {
        const Item* const item = search.elements()[i].item;
        if (item != nullptr && item->name == "torch" && exact_pin(item->demand)) {
            torch = item;
        } else if (item != nullptr && item->name == "cuda") {
            const bool pin = item->kind == Item::Kind::Pin;
            const auto wanted =
                pins::PinConstraint::parse((pin ? item->text : item->demand).substr(4));
            cuda = wanted ? wanted->single() : std::nullopt;
        }
    }
    const facts::Host& host = search.attempt().world->host();
    if (torch == nullptr || !cuda || host.gpus.empty() || !host.gpus.front().compute_capability ||
        !can_build_for(host, *cuda, *host.gpus.front().compute_capability)) {
        return std::nullopt;
    }
    return torch_from_source("torch " + exact_pin(torch->demand)->second, cuda->major_minor(),
                             *host.gpus.front().compute_capability);
}

std::optional<RankedFix> build_from_source(const ConflictSearch& search,
                                           const std::vector<Core>& cores) {
    if (!is_asked(search.attempt(), "torch")) {
        return std::nullopt;
    }
    for (const Core& core : cores) {
        if (auto fix = build_for_cuda(search, core)) {
            return fix;
        }
        for (const std::size_t i : core.elements) {
            if (auto fix = build_for_gpu(search, i)) {
                return fix;
            }
        }
    }
    return std::nullopt;
}

// The last resort: everything loosened, then put back what can be, facts of the host first: what is
// left is a minimal change, however many things it takes.
void loosen_least(const ConflictSearch& search, Fixes& fixes) {
    const std::vector<Element>& elements = search.elements();
    std::set<std::size_t> loosened;
    std::vector<std::size_t> order;
    for (const bool fact : {true, false}) {
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const bool may_give_way =
                fact ? elements[i].fact != nullptr && elements[i].fact->kind != FactKind::CudaGiven
                     : elements[i].loosenable();
            if (may_give_way) {
                loosened.insert(i);
                order.push_back(i);
            }
        }
    }
    if (!search.solve_without(loosened)) {
        return;
    }
    for (const std::size_t i : order) {
        loosened.erase(i);
        if (!search.solve_without(loosened)) {
            loosened.insert(i);
        }
    }
    std::set<std::size_t> facts;
    std::set<std::size_t> wishes;
    for (const std::size_t i : loosened) {
        (elements[i].fact != nullptr ? facts : wishes).insert(i);
    }
    if (facts.empty()) {
        fixes.loosen_wishes(wishes);
    } else {
        fixes.loosen_both(facts, wishes);
    }
}

} // namespace

std::vector<ProposedFix> fixes_for(const ConflictSearch& search, const std::vector<Core>& cores) {
    const std::vector<Element>& elements = search.elements();
    Fixes fixes(search);
    std::set<std::size_t> facts_of_all;
    for (const Core& core : cores) {
        for (const std::size_t i : core.elements) {
            if (search.may_solve()) {
                fixes.loosen_one(i);
            }
            if (elements[i].fact != nullptr && elements[i].fact->kind != FactKind::CudaGiven) {
                facts_of_all.insert(i);
            }
        }
    }
    if (cores.size() > 1 && facts_of_all.size() > 1 && search.may_solve()) {
        fixes.loosen_facts(facts_of_all); // a host with two faults needs both mended
    }
    // Several wishes at once, where one is not enough.
    std::vector<std::size_t> wishes;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i].loosenable()) {
            wishes.push_back(i);
        }
    }
    for (std::size_t a = 0; a < wishes.size() && !fixes.user_can(); ++a) {
        for (std::size_t b = a + 1; b < wishes.size() && search.may_solve(); ++b) {
            fixes.loosen_wishes({wishes[a], wishes[b]});
        }
    }
    if (!fixes.user_can() && wishes.size() > 2) {
        fixes.loosen_wishes({wishes.begin(), wishes.end()});
    }
    for (std::size_t i = 0; i < elements.size() && fixes.empty(); ++i) {
        for (std::size_t j = i + 1; j < elements.size() && search.may_solve() && fixes.empty();
             ++j) {
            if (elements[i].fact != nullptr && elements[j].fact != nullptr) {
                fixes.loosen_facts({i, j});
            }
        }
    }
    if (fixes.empty()) {
        loosen_least(search, fixes);
    }
    if (!fixes.user_can()) {
        if (auto fix = build_from_source(search, cores)) {
            fixes.add_text(*std::move(fix));
        }
    }
    return fixes.ranked();
}

} // namespace cudaenv::resolve
