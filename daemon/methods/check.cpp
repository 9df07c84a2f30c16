#include "daemon/check/examination.hpp"
#include "daemon/check/finding_json.hpp"
#include "daemon/methods/json_values.hpp"
#include "daemon/methods/methods.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>

namespace cudaenv::daemon {

namespace {

bool is_code(std::string_view word) {
    return word.size() == 5 && word.starts_with("CE") &&
           word.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

// Codes as they are written in any case.
Result<std::vector<std::string>> codes_in(const nlohmann::json& params, std::string_view name,
                                          std::string_view where) {
    CUDAENV_TRY(auto words, protocol::strings_field(params, name));
    for (std::string& word : words) {
        std::ranges::transform(word, word.begin(), [](unsigned char letter) {
            return static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 32 : letter);
        });
        if (!is_code(word)) {
            return bad_input("bad-code", '"' + word + "\" is no finding's code",
                             std::string(where) + " takes codes of docs/findings.md, as in CE102");
        }
    }
    return words;
}

bool is_one_of(const std::string& code, const std::vector<std::string>& codes) {
    return std::ranges::find(codes, code) != codes.end();
}

Result<plan::Severity> severity_to_fail_on(const nlohmann::json& params) {
    CUDAENV_TRY(const auto word, protocol::string_field(params, "fail_on"));
    if (!word || *word == "error") {
        return plan::Severity::Error;
    }
    if (*word == "warning") {
        return plan::Severity::Warning;
    }
    if (*word == "note") {
        return plan::Severity::Note;
    }
    return bad_input("bad-severity", '"' + *word + "\" is no severity",
                     "--fail-on takes error, warning or note");
}

// Params beside those of Examination: `arguments` (codes: only these), `ignore` (codes: not these),
// `fail_on`.
Result<protocol::Reply> check(const nlohmann::json& params, const protocol::Caller& caller,
                              Machine& machine) {
    CUDAENV_TRY(const auto wanted, codes_in(params, "arguments", "check"));
    CUDAENV_TRY(auto ignored, codes_in(params, "ignore", "--ignore"));
    CUDAENV_TRY(const auto fail_on, severity_to_fail_on(params));
    CUDAENV_TRY(const auto examination,
                Examination::of(params, caller, machine, plan::CheckDepth::Everything));
    const auto& by_config = examination->config().ignored_findings();
    ignored.insert(ignored.end(), by_config.begin(), by_config.end());
    nlohmann::json findings = nlohmann::json::array();
    std::size_t left_out = 0;
    bool fails = false;
    for (const plan::CheckFinding& found : examination->findings()) {
        const std::string& code = found.finding.code;
        if (!wanted.empty() && !is_one_of(code, wanted)) {
            continue;
        }
        if (wanted.empty() && is_one_of(code, ignored)) {
            ++left_out;
            continue;
        }
        fails = fails || found.finding.severity <= fail_on;
        findings.push_back(to_json(found, examination->inventory()));
    }
    const facts::Inventory& inventory = examination->inventory();
    std::size_t files = 0;
    for (const auto& package : inventory.conda) {
        files += package.files.size();
    }
    for (const auto& distribution : inventory.distributions) {
        files += distribution.files.size();
    }
    nlohmann::json unread = nlohmann::json::array();
    for (const facts::InventoryNote& note : inventory.notes) {
        unread.push_back({{"path", protocol::bytes_to_json(note.path)},
                          {"reason", protocol::bytes_to_json(note.reason)}});
    }
    memories_of(caller).write(inventory.prefix, examination->memory_now());
    return protocol::Reply{fails ? 1 : 0,
                           {{"schema", "cudaenv.check/1"},
                            {"environment", protocol::bytes_to_json(inventory.prefix)},
                            {"conda_packages", inventory.conda.size()},
                            {"distributions", inventory.distributions.size()},
                            {"files", files},
                            {"findings", std::move(findings)},
                            {"ignored", left_out},
                            {"unread", std::move(unread)}}};
}

} // namespace

void add_check_methods(Service& service, const std::shared_ptr<Machine>& machine) {
    service.add("check", [machine](const nlohmann::json& params, const protocol::Caller& caller) {
        return check(params, caller, *machine);
    });
}

} // namespace cudaenv::daemon
