#include "solver/resolve/outcome_json.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::resolve {

namespace {
using nlohmann::json;

json text_or_null(const std::string& text) {
    return text.empty() ? json() : json(text);
}

const char* manager_name(Manager manager) {
    return manager == Manager::Conda ? "conda" : "pip";
}

template <typename T>
json list_of(const std::vector<T>& values) {
    json list = json::array();
    for (const T& value : values) {
        list.push_back(to_json(value));
    }
    return list;
}
} // namespace

json to_json(const facts::Finding& finding) {
    json evidence = json::array();
    for (const facts::Evidence& one : finding.evidence) {
        evidence.push_back({{"path", text_or_null(one.path)},
                            {"line", one.line > 0 ? json(one.line) : json()},
                            {"text", one.text}});
    }
    json value = {{"code", finding.code},
                  {"severity", finding.severity == facts::Severity::Error     ? "error"
                               : finding.severity == facts::Severity::Warning ? "warning"
                                                                              : "note"},
                  {"title", finding.title},
                  {"evidence", std::move(evidence)},
                  {"cause", finding.cause},
                  {"fix", nullptr}};
    if (finding.fix) {
        value["fix"] = {{"text", finding.fix->text},
                        {"command", text_or_null(finding.fix->command)}};
    }
    return value;
}

json to_json(const Outcome& outcome) {
    json packages = json::array();
    for (const ChosenPackage& package : outcome.packages) {
        packages.push_back({{"name", package.name},
                            {"version", package.version},
                            {"build", text_or_null(package.build)},
                            {"manager", manager_name(package.manager)},
                            {"channel", text_or_null(package.channel)},
                            {"url", text_or_null(package.url)},
                            {"sha256", text_or_null(package.sha256)},
                            {"asked", package.asked},
                            {"kept", package.kept},
                            {"framework", package.framework}});
    }
    json alternatives = json::array();
    for (const Alternative& alternative : outcome.alternatives) {
        alternatives.push_back(
            {{"manager", manager_name(alternative.manager)}, {"commands", alternative.commands}});
    }
    json runs = json::array();
    for (const Verdict& verdict : outcome.runs) {
        const char* const answer = verdict.answer == knowledge::Answer::Yes  ? "yes"
                                   : verdict.answer == knowledge::Answer::No ? "no"
                                                                             : "unknown";
        runs.push_back({{"text", verdict.text}, {"answer", answer}});
    }
    json changes = json::array();
    for (const Change& change : outcome.changes) {
        changes.push_back({{"name", change.name},
                           {"from", change.from},
                           {"to", change.to},
                           {"why", text_or_null(change.why)}});
    }
    json value = {{"schema", "cudaenv.resolve/1"},
                  {"status", outcome.solved() ? "solved" : "conflict"},
                  {"request", outcome.request},
                  {"cuda", outcome.cuda ? json(outcome.cuda->str()) : json()},
                  {"python", outcome.python ? json(*outcome.python) : json()},
                  {"cudnn", outcome.cudnn ? json(*outcome.cudnn) : json()},
                  {"driver_assumed", outcome.driver_assumed},
                  {"packages", std::move(packages)},
                  {"toolkit", nullptr},
                  {"host_compiler", nullptr},
                  {"commands", outcome.commands},
                  {"alternatives", std::move(alternatives)},
                  {"missing", list_of(outcome.missing)},
                  {"warnings", list_of(outcome.warnings)},
                  {"runs", std::move(runs)},
                  {"changes", std::move(changes)},
                  {"kept", outcome.kept},
                  {"conflict", nullptr}};
    if (!outcome.choices.empty()) {
        json choices = json::array();
        for (const Choice& choice : outcome.choices) {
            choices.push_back({{"chosen", choice.chosen},
                               {"newest", text_or_null(choice.newest)},
                               {"next", text_or_null(choice.next)},
                               {"why", choice.why}});
        }
        value["choices"] = std::move(choices);
    }
    if (outcome.toolkit) {
        value["toolkit"] = {
            {"path", outcome.toolkit->path},
            {"version", outcome.toolkit->version ? json(outcome.toolkit->version->str()) : json()},
            {"gcc_min", outcome.toolkit->gcc_min ? json(*outcome.toolkit->gcc_min) : json()},
            {"gcc_max", outcome.toolkit->gcc_max ? json(*outcome.toolkit->gcc_max) : json()}};
    }
    if (outcome.host_compiler) {
        value["host_compiler"] = {
            {"family",
             outcome.host_compiler->family == facts::CompilerFamily::Gcc ? "gcc" : "clang"},
            {"version", outcome.host_compiler->version.str()},
            {"path", outcome.host_compiler->path}};
    }
    if (outcome.conflict) {
        json reasons = json::array();
        for (const Reason& reason : outcome.conflict->reasons) {
            reasons.push_back({{"text", reason.text}, {"facts", reason.facts}});
        }
        json fixes = json::array();
        for (const RankedFix& fix : outcome.conflict->fixes) {
            fixes.push_back(
                {{"text", fix.text}, {"command", text_or_null(fix.command)}, {"cost", fix.cost}});
        }
        value["conflict"] = {{"reasons", std::move(reasons)}, {"fixes", std::move(fixes)}};
    }
    return value;
}

} // namespace cudaenv::resolve
