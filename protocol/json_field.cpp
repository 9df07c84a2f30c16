#include "protocol/json_field.hpp"

#include <algorithm>

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

constexpr std::string_view k_hex_digits = "0123456789abcdef";

// Bytes of the character that begins `text`, 0 where none does: RFC 3629's table, which has neither
// surrogates nor longer forms than needed.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const auto in = [](unsigned value, unsigned least, unsigned most) {
        return value >= least && value <= most;
    };
    const auto tail = [&](std::size_t at) { return in(byte(at), 0x80, 0xbf); };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (in(first, 0xc2, 0xdf)) {
        return tail(1) ? 2 : 0;
    }
    if (in(first, 0xe0, 0xef)) {
        const unsigned least = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned most = first == 0xed ? 0x9f : 0xbf;
        return in(byte(1), least, most) && tail(2) ? 3 : 0;
    }
    if (in(first, 0xf0, 0xf4)) {
        const unsigned least = first == 0xf0 ? 0x90 : 0x80;
        const unsigned most = first == 0xf4 ? 0x8f : 0xbf;
        return in(byte(1), least, most) && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

// 16 where it is none.
unsigned hex_value(char digit) {
    return static_cast<unsigned>(std::min(k_hex_digits.find(digit), k_hex_digits.size()));
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

nlohmann::json bytes_to_json(std::string_view bytes) {
    if (is_utf8(bytes)) {
        return std::string(bytes);
    }
    std::string hex;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        (hex += k_hex_digits[byte >> 4U]) += k_hex_digits[byte & 0xfU];
    }
    return {{"hex", std::move(hex)}};
}

Result<std::string> bytes_from_json(const nlohmann::json& value, std::string_view name) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    const nlohmann::json* hex = field(value, "hex");
    if (hex == nullptr || !hex->is_string()) {
        return wrong(name, value, "a string or {\"hex\": ...}");
    }
    const auto& digits = hex->get_ref<const std::string&>();
    std::string bytes;
    for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
        const unsigned high = hex_value(digits[at]);
        const unsigned low = hex_value(digits[at + 1]);
        if (high > 15 || low > 15) {
            break;
        }
        bytes += static_cast<char>(high << 4U | low);
    }
    if (bytes.size() * 2 != digits.size()) {
        return bad_input("bad-field",
                         "\"hex\" of \"" + std::string(name) + "\" is not pairs of 0-9 and a-f");
    }
    return bytes;
}

} // namespace cudaenv::protocol
