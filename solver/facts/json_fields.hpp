// A JSON object described once, by a table of its members, from which its reader and its writer
// come. Pure.
//
// A type that is such an object has `fields_of(const Type*)` in its namespace, which gives a tuple
// of Field; an enumeration has `words_of(Enum)`, the array of its words in the order of its values.
// Null and a missing key are the same: the member stays as it is. A value of a wrong type is a
// complaint with its JSON pointer, line and column; the first one is kept, so that the reader of a
// whole document needs to look only at its end.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"
#include "base/json_bytes.hpp"
#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace cudaenv::facts {

using nlohmann::json;

enum class Presence {
    Nullable, // an empty text is null
    Text,     // a text, never null
    Required, // never null, and the object is refused without it
    Bytes,    // a text that need not be UTF-8: base/json_bytes.hpp
    FromOne,  // a number, of which 0 is null
};

template <class Object, class Value>
struct Field {
    const char* name;
    Value Object::*member;
    Presence presence;
    const char* expected; // the hint where a required member is missing

    constexpr Field(const char* called, Value Object::*at, Presence how = Presence::Nullable,
                    const char* hint = "")
        : name(called), member(at), presence(how), expected(hint) {}
};

template <class T>
concept Described = requires(const T* object) {
    fields_of(object);
};
template <class T>
concept Worded = std::is_enum_v<T> && requires(T value) {
    words_of(value);
};

class Reader {
public:
    // The document's text, for places, and what messages call it.
    Reader(std::string_view text, std::string_view path) : m_text(text), m_path(path) {}

    void fail(const std::vector<std::string>& steps, const std::string& problem,
              const std::string& expected);
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    std::string_view m_text;
    std::string_view m_path;
    std::optional<Error> m_error;
};

// A value of the document and the way to it.
struct At {
    Reader& reader;
    const json& value;
    const At* above = nullptr;
    std::string step = {};

    [[nodiscard]] At member(const char* key, const json& of) const {
        return {reader, of, this, key};
    }
    [[nodiscard]] std::vector<std::string> steps() const;
    void wrong(const std::string& expected) const;
};

template <class T>
inline constexpr bool k_is_optional = false;
template <class T>
inline constexpr bool k_is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool k_is_vector = false;
template <class T>
inline constexpr bool k_is_vector<std::vector<T>> = true;

template <Described Object>
void read_object(const At& at, Object& into);
template <Described Object>
json object_json(const Object& object);

template <class Value>
void read_value(const At& at, Value& into) {
    const json& value = at.value;
    if constexpr (k_is_optional<Value>) {
        typename Value::value_type inner{};
        read_value(at, inner);
        if constexpr (std::is_same_v<Value, std::optional<std::string>>) {
            into = inner.empty() ? std::nullopt : std::optional(std::move(inner));
        } else {
            into = std::move(inner);
        }
    } else if constexpr (k_is_vector<Value>) {
        if (!value.is_array()) {
            at.wrong("expected an array");
            return;
        }
        for (std::size_t i = 0; i < value.size(); ++i) {
            typename Value::value_type one{};
            if constexpr (requires { one.index = 0; }) {
                one.index = static_cast<int>(i);
            }
            read_value(At{at.reader, value[i], &at, std::to_string(i)}, one);
            into.push_back(std::move(one));
        }
    } else if constexpr (std::is_same_v<Value, std::map<std::string, std::string>>) {
        if (!value.is_object()) {
            at.wrong("expected an object or null");
            return;
        }
        for (const auto& [name, text] : value.items()) {
            if (!text.is_null() && text != "") {
                read_value(at.member(name.c_str(), text), into[name]);
            }
        }
    } else if constexpr (std::is_same_v<Value, std::string>) {
        value.is_string() ? void(into = value.get<std::string>())
                          : at.wrong("expected a text or null");
    } else if constexpr (std::is_same_v<Value, bool>) {
        value.is_boolean() ? void(into = value.get<bool>())
                           : at.wrong("expected true, false or null");
    } else if constexpr (std::unsigned_integral<Value> || std::is_same_v<Value, int>) {
        constexpr std::uint64_t k_most =
            std::is_same_v<Value, int> ? 9999 : std::uint64_t{std::numeric_limits<Value>::max()};
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > k_most) {
            at.wrong("expected a whole number from 0 to " + std::to_string(k_most) + " or null");
            return;
        }
        into = static_cast<Value>(value.get<std::uint64_t>());
    } else if constexpr (std::is_same_v<Value, std::int64_t>) {
        value.is_number_integer() ? void(into = value.get<std::int64_t>())
                                  : at.wrong("expected a whole number or null");
    } else if constexpr (Worded<Value>) {
        constexpr auto k_words = words_of(Value{});
        std::string expected = "expected ";
        for (std::size_t i = 0; i < k_words.size(); ++i) {
            if (value == k_words[i]) {
                into = static_cast<Value>(i);
                return;
            }
            expected += (i == 0 ? "\"" : i + 1 < k_words.size() ? ", \"" : " or \"");
            (expected += k_words[i]) += '"';
        }
        at.wrong(expected);
    } else if constexpr (Described<Value>) {
        value.is_object() ? read_object(at, into) : at.wrong("expected an object");
    } else { // a version of some kind
        constexpr const char* k_expected =
            std::is_same_v<Value, ComputeCapability>
                ? "expected MAJOR.MINOR as text, as in \"8.6\", or null"
                : "expected digits and dots as text, as in \"11.3\", or null";
        const auto parsed = Value::parse(value.is_string() ? value.get<std::string>() : "");
        parsed ? void(into = *parsed) : at.wrong(k_expected);
    }
}

template <class Object, class Value>
void read_field(const At& at, const Field<Object, Value>& field, Object& into) {
    const auto found = at.value.find(field.name);
    const bool missing = found == at.value.end() || found->is_null();
    if (field.presence == Presence::Required && (missing || *found == "")) {
        at.reader.fail(at.steps(), std::string("`") + field.name + "` is missing", field.expected);
    } else if (!missing) {
        const At member = at.member(field.name, *found);
        if constexpr (std::is_same_v<Value, std::string>) {
            if (field.presence == Presence::Bytes) {
                auto bytes = bytes_of_json(*found);
                bytes ? void(into.*field.member = *std::move(bytes))
                      : member.wrong("expected a text");
                return;
            }
        }
        read_value(member, into.*field.member);
    }
}

template <Described Object>
void read_object(const At& at, Object& into) {
    std::apply([&](const auto&... field) { (read_field(at, field, into), ...); }, fields_of(&into));
}

template <class Value>
json value_json(const Value& value, Presence presence = Presence::Nullable) {
    if constexpr (k_is_optional<Value>) {
        return value ? value_json(*value) : json(nullptr);
    } else if constexpr (std::is_same_v<Value, std::string>) {
        return presence == Presence::Bytes                       ? bytes_to_json(value)
               : presence == Presence::Nullable && value.empty() ? json(nullptr)
                                                                 : json(value);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
        return value;
    } else if constexpr (k_is_vector<Value>) {
        return json_list(value, [](const auto& one) { return value_json(one); });
    } else if constexpr (Worded<Value>) {
        return words_of(value)[static_cast<std::size_t>(value)];
    } else if constexpr (Described<Value>) {
        return object_json(value);
    } else if constexpr (requires { value.str(); }) {
        return value.str();
    } else {
        return presence == Presence::FromOne && value == Value{} ? json(nullptr) : json(value);
    }
}

template <Described Object>
json object_json(const Object& object) {
    json written = json::object();
    std::apply(
        [&](const auto&... field) {
            ((written[field.name] = value_json(object.*field.member, field.presence)), ...);
        },
        fields_of(&object));
    return written;
}

} // namespace cudaenv::facts
