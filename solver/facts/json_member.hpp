// Members of a JSON object read strictly: a value of a wrong type is a complaint with its pointer,
// line and column, a missing or null one is "not told". Pure. The first complaint is kept; after it
// every answer is a default, so that a reader of a whole document needs to look only at its end.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"
#include "base/result.hpp"
#include "solver/facts/json_place.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::facts {

using nlohmann::json;

// "/driver/cuda", as RFC 6901 writes it.
std::string pointer_of(const std::vector<std::string>& steps);
// The value in a few words, for a message.
std::string described(const json& value);

// Reads members and keeps the first complaint; after it every answer is a default.
class Reader {
public:
    Reader(std::string_view text, std::string_view path) : m_text(text), m_path(path) {}

    void fail(const std::vector<std::string>& steps, const std::string& problem,
              const std::string& expected) {
        if (m_error) {
            return;
        }
        const auto place = place_of_offset(m_text, offset_of_value(m_text, steps));
        m_error = Error{ErrorKind::BadInput,
                        "bad-facts",
                        pointer_of(steps) + ": " + problem,
                        std::string(m_path),
                        place.line,
                        place.column,
                        expected};
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    std::string_view m_text;
    std::string_view m_path;
    std::optional<Error> m_error;
};

// One object of the document. Null and a missing key are the same: not told.
class Member {
public:
    Member(Reader& reader, const json& object, std::vector<std::string> steps)
        : m_reader(&reader), m_object(&object), m_steps(std::move(steps)) {}

    // Null where the key is missing or null.
    const json* find(const char* key) const {
        const auto found = m_object->find(key);
        return found == m_object->end() || found->is_null() ? nullptr : &*found;
    }

    std::string text(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return {};
        }
        if (!value->is_string()) {
            wrong(key, *value, "expected a text or null");
            return {};
        }
        return value->get<std::string>();
    }

    std::string required_text(const char* key, const char* expected) const {
        auto read = text(key);
        if (read.empty()) {
            m_reader->fail(m_steps, std::string("`") + key + "` is missing", expected);
        }
        return read;
    }

    bool flag(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return false;
        }
        if (!value->is_boolean()) {
            wrong(key, *value, "expected true, false or null");
            return false;
        }
        return value->get<bool>();
    }

    std::optional<std::uint64_t> count(const char* key, std::uint64_t highest) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() > highest) {
            wrong(key, *value,
                  "expected a whole number from 0 to " + std::to_string(highest) + " or null");
            return std::nullopt;
        }
        return value->get<std::uint64_t>();
    }

    // A compiler's major version.
    std::optional<int> major(const char* key) const {
        const auto read = count(key, 999);
        return read ? std::optional(static_cast<int>(*read)) : std::nullopt;
    }

    std::optional<DottedVersion> version(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        if (!value->is_string()) {
            wrong(key, *value, "expected a version as text, as in \"11.3\", or null");
            return std::nullopt;
        }
        auto parsed = DottedVersion::parse(value->get_ref<const std::string&>());
        if (!parsed) {
            wrong(key, *value, "expected digits and dots, as in \"11.3\", or null");
            return std::nullopt;
        }
        return std::move(*parsed);
    }

    std::optional<ComputeCapability> capability(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        const auto parsed = value->is_string()
                                ? ComputeCapability::parse(value->get_ref<const std::string&>())
                                : bad_input("bad-compute-capability", "");
        if (!parsed) {
            wrong(key, *value, "expected MAJOR.MINOR as text, as in \"8.6\", or null");
            return std::nullopt;
        }
        return *parsed;
    }

    // Which of `words` the text is; none where it is null.
    std::optional<std::size_t> one_of(const char* key, std::span<const char* const> words,
                                      const char* expected) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (value->is_string() && value->get_ref<const std::string&>() == words[i]) {
                return i;
            }
        }
        wrong(key, *value, expected);
        return std::nullopt;
    }

    void object(const char* key, const std::function<void(const Member&)>& read) const {
        const json* value = find(key);
        if (value == nullptr) {
            return;
        }
        if (!value->is_object()) {
            wrong(key, *value, "expected an object or null");
            return;
        }
        read(Member(*m_reader, *value, steps_to(key)));
    }

    void objects(const char* key, const std::function<void(const Member&)>& read) const {
        each(key, "expected an array of objects", [&](const json& value, auto steps) {
            if (!value.is_object()) {
                m_reader->fail(steps, "is " + described(value), "expected an object");
                return;
            }
            read(Member(*m_reader, value, std::move(steps)));
        });
    }

    std::vector<std::string> texts(const char* key) const {
        std::vector<std::string> read;
        each(key, "expected an array of texts", [&](const json& value, const auto& steps) {
            if (!value.is_string()) {
                m_reader->fail(steps, "is " + described(value), "expected a text");
                return;
            }
            read.push_back(value.get<std::string>());
        });
        return read;
    }

    std::map<std::string, std::string> named_texts(const char* key) const {
        std::map<std::string, std::string> read;
        object(key, [&](const Member& member) {
            for (const auto& [name, unused] : member.m_object->items()) {
                auto value = member.text(name.c_str());
                if (!value.empty()) {
                    read.emplace(name, std::move(value));
                }
            }
        });
        return read;
    }

    void wrong(const char* key, const json& value, const std::string& expected) const {
        m_reader->fail(steps_to(key), "is " + described(value), expected);
    }

private:
    std::vector<std::string> steps_to(const char* key) const {
        auto steps = m_steps;
        steps.emplace_back(key);
        return steps;
    }

    void each(const char* key, const char* expected,
              const std::function<void(const json&, std::vector<std::string>)>& read) const {
        const json* value = find(key);
        if (value == nullptr) {
            return;
        }
        if (!value->is_array()) {
            wrong(key, *value, expected);
            return;
        }
        for (std::size_t i = 0; i < value->size(); ++i) {
            auto steps = steps_to(key);
            steps.push_back(std::to_string(i));
            read((*value)[i], std::move(steps));
        }
    }

    Reader* m_reader;
    const json* m_object;
    std::vector<std::string> m_steps;
};

} // namespace cudaenv::facts
