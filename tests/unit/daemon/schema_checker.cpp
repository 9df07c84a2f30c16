#include "schema_checker.hpp"

#include <algorithm>
#include <regex>

namespace cudaenv::test {

namespace {

using nlohmann::json;

class Checker {
public:
    explicit Checker(const json& root) : m_root(root) {}

    void check(const json& schema, const json& value, const std::string& at) {
        for (const auto& [keyword, rule] : schema.items()) {
            check_keyword(keyword, rule, value, at);
        }
    }

    std::vector<std::string> found;

private:
    static bool has_type(const json& value, const std::string& type) {
        return (type == "null" && value.is_null()) || (type == "string" && value.is_string()) ||
               (type == "boolean" && value.is_boolean()) ||
               (type == "integer" && value.is_number_integer()) ||
               (type == "array" && value.is_array()) || (type == "object" && value.is_object());
    }

    void fail(const std::string& at, const std::string& what) {
        found.push_back((at.empty() ? "/" : at) + ": " + what);
    }

    void check_keyword(const std::string& keyword, const json& rule, const json& value,
                       const std::string& at) {
        if (keyword == "$schema" || keyword == "title" || keyword == "description" ||
            keyword == "$defs") {
            return;
        }
        if (keyword == "$ref") {
            check(m_root.at(json::json_pointer(rule.get<std::string>().substr(1))), value, at);
        } else if (keyword == "type") {
            const auto types = rule.is_array() ? rule : json::array({rule});
            if (std::none_of(types.begin(), types.end(),
                             [&](const json& type) { return has_type(value, type); })) {
                fail(at, value.dump() + " is not of type " + rule.dump());
            }
        } else if (keyword == "const") {
            if (value != rule) {
                fail(at, value.dump() + " is not " + rule.dump());
            }
        } else if (keyword == "enum") {
            if (std::find(rule.begin(), rule.end(), value) == rule.end()) {
                fail(at, value.dump() + " is not one of " + rule.dump());
            }
        } else if (keyword == "anyOf") {
            if (std::none_of(rule.begin(), rule.end(), [&](const json& one) {
                    Checker inner(m_root);
                    inner.check(one, value, at);
                    return inner.found.empty();
                })) {
                fail(at, value.dump() + " fits no choice");
            }
        } else {
            check_bound(keyword, rule, value, at);
        }
    }

    void check_bound(const std::string& keyword, const json& rule, const json& value,
                     const std::string& at) {
        if (keyword == "required") {
            for (const json& name : rule) {
                if (value.is_object() && !value.contains(name.get<std::string>())) {
                    fail(at, "has no " + name.dump());
                }
            }
        } else if (keyword == "properties") {
            for (const auto& [name, member] : value.items()) {
                if (value.is_object() && !rule.contains(name)) {
                    fail(at + '/' + name, "is not in the schema");
                }
            }
            for (const auto& [name, inner] : rule.items()) {
                if (value.is_object() && value.contains(name)) {
                    check(inner, value[name], at + '/' + name);
                }
            }
        } else if (keyword == "additionalProperties") {
            // Our schemas have it without "properties" beside it: it is about every member.
            if (value.is_object()) {
                for (const auto& [name, inner] : value.items()) {
                    check(rule, inner, at + '/' + name);
                }
            }
        } else if (keyword == "items") {
            for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
                check(rule, value[i], at + '/' + std::to_string(i));
            }
        } else if (keyword == "pattern") {
            if (value.is_string() &&
                !std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()))) {
                fail(at, value.dump() + " does not look like " + rule.dump());
            }
        } else if (keyword == "minLength") {
            if (value.is_string() && value.get<std::string>().size() < rule.get<std::size_t>()) {
                fail(at, "is too short");
            }
        } else if (keyword == "minimum" || keyword == "maximum") {
            if (value.is_number() && (keyword == "minimum" ? value < rule : value > rule)) {
                fail(at, value.dump() + " is beyond the " + keyword + ' ' + rule.dump());
            }
        } else {
            fail(at, "the schema has the keyword " + keyword + ", which is not checked");
        }
    }

    const json& m_root;
};

} // namespace

std::vector<std::string> violations(const json& schema, const json& value) {
    Checker checker(schema);
    checker.check(schema, value, "");
    return checker.found;
}

} // namespace cudaenv::test
