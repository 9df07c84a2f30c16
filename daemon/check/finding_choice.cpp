#include "daemon/check/finding_choice.hpp"

#include "base/json_bytes.hpp"
#include "base/ranges.hpp"
#include "protocol/json_field.hpp"
#include "solver/resolve/outcome_json.hpp"

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
            return bad_input("bad-code", '"' + word + "\" is not a finding's code",
                             std::string(where) + " takes codes of docs/findings.md, as in CE102");
        }
    }
    return words;
}

Result<facts::Severity> severity_to_fail_on(const nlohmann::json& params) {
    CUDAENV_TRY(const auto word, protocol::string_field(params, "fail_on"));
    if (!word || *word == "error") {
        return facts::Severity::Error;
    }
    if (*word == "warning") {
        return facts::Severity::Warning;
    }
    if (*word == "note") {
        return facts::Severity::Note;
    }
    return bad_input("bad-severity", '"' + *word + "\" is not a severity",
                     "--fail-on takes error, warning or note");
}

} // namespace

Result<FindingChoice> FindingChoice::of(const nlohmann::json& params) {
    FindingChoice choice;
    CUDAENV_TRY(choice.m_wanted, codes_in(params, "arguments", "check"));
    CUDAENV_TRY(choice.m_ignored, codes_in(params, "ignore", "--ignore"));
    CUDAENV_TRY(choice.m_fail_on, severity_to_fail_on(params));
    return choice;
}

bool FindingChoice::wants(const std::string& code, const pins::Config& config) const {
    return names_codes()
               ? is_one_of(code, m_wanted)
               : !is_one_of(code, m_ignored) && !is_one_of(code, config.ignored_findings());
}

nlohmann::json to_json(const rules::CheckFinding& found, const facts::Inventory& inventory,
                       ListRoom& room) {
    nlohmann::json object = resolve::to_json(found.finding);
    // A path is bytes.
    for (std::size_t i = 0; i < found.finding.evidence.size(); ++i) {
        const std::string& path = found.finding.evidence[i].path;
        object["evidence"][i]["path"] = bytes_or_null(path);
    }
    nlohmann::json files = nlohmann::json::array();
    for (const std::string& file : found.files) {
        if (!room.takes(file.size())) {
            break;
        }
        files.push_back(protocol::bytes_to_json(file));
    }
    object["subject"] = found.subject;
    object["files"] = std::move(files);
    object["file_count"] = found.files.size();
    object["repairs"] = json_list(found.repairs, [&](const rules::Repair& repair) {
        return protocol::bytes_to_json(rules::words_of(repair, inventory));
    });
    return object;
}

} // namespace cudaenv::daemon
