#include "solver/specs/oracle.hpp"

#include "solver/specs/match_spec.hpp"
#include "solver/specs/version.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::specs::oracle {

namespace {

using Json = nlohmann::json;
const std::string k_error = R"("error")";

tl::unexpected<Error> bad_line(std::string what, std::string hint = {}) {
    return bad_input("bad-oracle-line", std::move(what), std::move(hint));
}

Result<std::string> text(const Json& line, const char* key) {
    const auto found = line.find(key);
    if (found == line.end()) {
        return bad_line(std::string("the key \"") + key + "\" is missing");
    }
    if (!found->is_string()) {
        return bad_line(std::string("\"") + key + "\" is not a string");
    }
    return found->get<std::string>();
}

Result<std::string> optional_text(const Json& line, const char* key) {
    const auto found = line.find(key);
    if (found == line.end() || found->is_null()) {
        return std::string();
    }
    return text(line, key);
}

Result<std::string> answer_cmp(const Json& line) {
    CUDAENV_TRY(const std::string a, text(line, "a"));
    CUDAENV_TRY(const std::string b, text(line, "b"));
    const auto left = Version::parse(a);
    const auto right = Version::parse(b);
    if (!left || !right) {
        return k_error;
    }
    const auto order = *left <=> *right;
    return std::string(order < 0 ? "-1" : order > 0 ? "1" : "0");
}

Result<std::string> answer_match(const Json& line) {
    CUDAENV_TRY(const std::string spec_text, text(line, "spec"));
    const auto spec = MatchSpec::parse(spec_text);
    if (!line.contains("version")) {
        return spec ? std::string(R"("ok")") : k_error;
    }
    PackageRecord record;
    CUDAENV_TRY(record.version, text(line, "version"));
    CUDAENV_TRY(record.build, optional_text(line, "build"));
    CUDAENV_TRY(record.subdir, optional_text(line, "subdir"));
    CUDAENV_TRY(record.channel, optional_text(line, "channel"));
    CUDAENV_TRY(record.url, optional_text(line, "url"));
    CUDAENV_TRY(record.file_name, optional_text(line, "fn"));
    CUDAENV_TRY(record.sha256, optional_text(line, "sha256"));
    if (const auto number = line.find("build_number"); number != line.end()) {
        if (!number->is_number_unsigned()) {
            return bad_line("\"build_number\" is not a number from 0");
        }
        record.build_number = number->get<std::uint64_t>();
    }
    if (!spec) {
        return k_error;
    }
    record.name = spec->name();
    if (!spec->name_matches(record.name)) {
        return std::string("false");
    }
    const auto version = Version::parse(record.version);
    switch (spec->evaluate(record, version ? &*version : nullptr)) {
    case Verdict::Yes:
        return std::string("true");
    case Verdict::No:
        return std::string("false");
    case Verdict::Undefined:
        break;
    }
    return k_error;
}

} // namespace

Result<std::string> answer(std::string_view json_line) {
    Json line;
    try {
        line = Json::parse(json_line);
    } catch (const Json::parse_error& problem) {
        auto failure = bad_line("the line is not JSON", "expected one JSON object a line");
        failure.value().column = static_cast<int>(problem.byte);
        return failure;
    }
    if (!line.is_object()) {
        return bad_line("the line is not a JSON object");
    }
    CUDAENV_TRY(const std::string kind, text(line, "k"));
    if (kind == "cmp") {
        return answer_cmp(line);
    }
    if (kind == "match") {
        return answer_match(line);
    }
    if (kind == "parse") {
        CUDAENV_TRY(const std::string spec, text(line, "spec"));
        return MatchSpec::parse(spec) ? std::string(R"("ok")") : k_error;
    }
    return bad_line("\"k\" is \"" + kind + "\"", "expected cmp, match or parse");
}

} // namespace cudaenv::specs::oracle
