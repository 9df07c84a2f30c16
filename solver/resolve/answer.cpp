#include "solver/resolve/answer.hpp"

#include "solver/resolve/environment.hpp"
#include "solver/specs/version.hpp"

#include <algorithm>

namespace cudaenv::resolve {

namespace {

// The version of what was asked first: two managers' answers are compared by it.
specs::Version first_version(const Answer& answer) {
    for (const Item& item : answer.attempt.question.items) {
        const auto* const record = record_named(answer.records, item.name);
        if (record == nullptr || item.name == "python" || item.name == "cuda") {
            continue;
        }
        if (auto version = specs::Version::parse(record->version)) {
            return *std::move(version);
        }
    }
    return *specs::Version::parse("0");
}

// In a conda environment conda's; else the newer one, and of two equal ones conda's, which includes
// Python and toolkit, where a conda is here.
bool is_better(const Answer& answer, const Answer& best, const Request& request, bool conda_first) {
    const auto ours = first_version(answer);
    const auto theirs = first_version(best);
    return !conda_first &&
           (ours > theirs || (ours == theirs && request.environment.target.has_conda));
}

} // namespace

std::vector<WorldOptions> worlds_to_try(const Request& request, const facts::Host& host,
                                        Vocabulary vocabulary) {
    const auto known_gpus = std::ranges::count_if(
        host.gpus, [](const auto& gpu) { return gpu.compute_capability.has_value(); });
    const bool catalogue = vocabulary == Vocabulary::Catalogue;
    const bool some_gpus = known_gpus > 1 && !request.strict_host;
    const bool any_minor = request.purpose == pins::Purpose::Build && !request.strict_host;
    const std::vector<bool> both = {true, false};
    const std::vector<bool> always = {true};
    const std::vector<bool> never = {false};
    std::vector<WorldOptions> worlds;
    for (const bool known : catalogue&& known_gpus > 0 ? both : never) {
        for (const bool full : catalogue&& host.driver ? both : never) {
            for (const bool every_gpu : some_gpus ? both : always) {
                for (const bool same_minor : any_minor ? both : always) {
                    worlds.push_back({.every_gpu = every_gpu,
                                      .nvcc_same_minor = same_minor,
                                      .full_driver = full,
                                      .known_code = known});
                }
            }
        }
    }
    return worlds;
}

bool names_channel(const Request& request) {
    return std::ranges::any_of(request.specs, [](const Wanted& wanted) {
        return wanted.text.find("::") != std::string::npos;
    });
}

std::vector<Manager> managers_of(const Request& request) {
    switch (request.manager) {
    case ManagerChoice::Conda:
        return {Manager::Conda};
    case ManagerChoice::Pip:
        return {Manager::Pip};
    case ManagerChoice::Auto:
        break;
    }
    const auto& environment = request.environment;
    if (names_channel(request)) {
        return {Manager::Conda};
    }
    if (environment.target.machine != "x86_64" &&
        environment.target.kind != knowledge::Target::Kind::Conda) {
        return {Manager::Pip}; // the pytorch channel is of x86-64
    }
    if (environment.target.kind == knowledge::Target::Kind::Venv) {
        return {Manager::Pip};
    }
    if (beside_conda(request).is_for_pip()) {
        return {Manager::Pip};
    }
    for (const Installed& installed : environment.installed) {
        if (installed.name == "torch" || installed.name == "tensorflow") {
            return {installed.manager}; // partners come from where it came from
        }
    }
    return environment.target.kind == knowledge::Target::Kind::Conda
               ? std::vector{Manager::Conda, Manager::Pip}
               : std::vector{Manager::Pip, Manager::Conda};
}

Result<std::optional<Answer>> answer_in(const WorldOptions& world, const Request& request,
                                        const facts::Host& host,
                                        std::span<const Channel* const> channels, Manager manager) {
    CUDAENV_TRY(Attempt attempt, make_attempt(request, host, channels, {world, manager}));
    if (auto records = attempt.solve()) {
        return Answer{std::move(attempt), *std::move(records), world};
    }
    return std::optional<Answer>();
}

Result<std::optional<Answer>> answer_of_channels(const Request& request, const facts::Host& host,
                                                 std::span<const Channel* const> channels) {
    for (const WorldOptions& world : worlds_to_try(request, host, Vocabulary::Conda)) {
        CUDAENV_TRY(auto answer, answer_in(world, request, host, channels, Manager::Conda));
        if (answer) {
            return answer;
        }
    }
    return std::optional<Answer>();
}

Result<std::optional<Answer>> answer_of_catalogue(const Request& request, const facts::Host& host) {
    const auto managers = managers_of(request);
    const bool conda_first = managers.front() == Manager::Conda;
    std::optional<Answer> best;
    for (const WorldOptions& world : worlds_to_try(request, host, Vocabulary::Catalogue)) {
        std::optional<Error> unknown; // what only one manager has (TensorFlow's wheels)
        for (const Manager manager : managers) {
            auto tried = answer_in(world, request, host, {}, manager);
            if (!tried && tried.error().code == "no-such-package" && managers.size() > 1) {
                if (unknown) {
                    return tl::unexpected(*std::move(unknown));
                }
                unknown = std::move(tried).error();
                continue;
            }
            CUDAENV_TRY(auto answer, std::move(tried));
            if (answer && (!best || is_better(*answer, *best, request, conda_first))) {
                best = std::move(answer);
            }
        }
        if (best) {
            break;
        }
    }
    return best;
}

} // namespace cudaenv::resolve
