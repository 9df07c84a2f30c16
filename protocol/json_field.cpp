#include "protocol/json_field.hpp"

namespace cudaenv::protocol {

namespace {

// The field's value, or nullptr where it is absent or null.
const nlohmann::json* field(const nlohmann::json& object, std::string_view name) {
    if (!object.is_object()) {
        return nullptr;
    }
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

tl::unexpected<Error> wrong(std::string_view name, const nlohmann::json& value,
                            const std::string& wanted) {
    return bad_input("bad-field",
                     "\"" + std::string(name) + "\" is " + value.type_name() + ", not " + wanted);
}

} // namespace

Result<std::optional<std::string>> string_field(const nlohmann::json& object,
                                                std::string_view name) {
    const nlohmann::json* value = field(object, name);
    if (value == nullptr) {
        return std::optional<std::string>();
    }
    if (!value->is_string()) {
        return wrong(name, *value, "a string");
    }
    return value->get<std::string>();
}

Result<std::optional<std::string>> path_field(const nlohmann::json& object, std::string_view name) {
    const nlohmann::json* value = field(object, name);
    if (value == nullptr) {
        return std::optional<std::string>();
    }
    CUDAENV_TRY(auto path, bytes_from_json(*value, name));
    return std::optional(std::move(path));
}

Result<bool> bool_field(const nlohmann::json& object, std::string_view name, bool fallback) {
    const nlohmann::json* value = field(object, name);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_boolean()) {
        return wrong(name, *value, "true or false");
    }
    return value->get<bool>();
}

Result<long long> integer_field(const nlohmann::json& object, std::string_view name,
                                long long least, long long most, long long fallback) {
    const nlohmann::json* value = field(object, name);
    if (value == nullptr) {
        return fallback;
    }
    const std::string wanted =
        "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    // A number above long long's range is stored unsigned: it would wrap.
    if (!value->is_number_integer() ||
        (value->is_number_unsigned() &&
         value->get<unsigned long long>() > static_cast<unsigned long long>(most))) {
        return wrong(name, *value, wanted);
    }
    const auto number = value->get<long long>();
    if (number < least || number > most) {
        return bad_input("bad-field", "\"" + std::string(name) + "\" is " + std::to_string(number) +
                                          ", not " + wanted);
    }
    return number;
}

Result<std::vector<std::string>> strings_field(const nlohmann::json& object,
                                               std::string_view name) {
    std::vector<std::string> strings;
    const nlohmann::json* value = field(object, name);
    if (value == nullptr) {
        return strings;
    }
    if (!value->is_array()) {
        return wrong(name, *value, "a list of strings");
    }
    for (const nlohmann::json& item : *value) {
        if (!item.is_string()) {
            return wrong(name, item, "a string in a list of strings");
        }
        strings.push_back(item.get<std::string>());
    }
    return strings;
}

Result<std::string> bytes_from_json(const nlohmann::json& value, std::string_view name) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    const nlohmann::json* hex = field(value, "hex");
    if (hex == nullptr || !hex->is_string()) {
        return wrong(name, value, "a string or {\"hex\": ...}");
    }
    auto bytes = bytes_of_json(value);
    if (!bytes) {
        return bad_input("bad-field",
                         "\"hex\" of \"" + std::string(name) + "\" is not pairs of 0-9 and a-f");
    }
    return std::move(*bytes);
}

} // namespace cudaenv::protocol
