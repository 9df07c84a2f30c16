// Reading objects that others wrote: what is absent or of another kind reads as empty. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv {

// The member, or a null value that lives forever.
const nlohmann::json& member(const nlohmann::json& object, std::string_view name);
// Empty where it is absent, null, or no string.
std::string text_at(const nlohmann::json& object, std::string_view name);
bool flag_at(const nlohmann::json& object, std::string_view name);
// `fallback` where there is no whole number.
long long number_at(const nlohmann::json& object, std::string_view name, long long fallback = 0);
// The elements of a list; none where it is no list.
const std::vector<nlohmann::json>& list_at(const nlohmann::json& object, std::string_view name);
// Its elements that are strings.
std::vector<std::string> texts_at(const nlohmann::json& object, std::string_view name);

// None where it is no whole number from `least` to `most`.
template <typename Number>
std::optional<Number> number_within(const nlohmann::json& object, std::string_view name,
                                    Number least, Number most) {
    const nlohmann::json& value = member(object, name);
    const auto within = [&](auto number) -> std::optional<Number> {
        return std::cmp_less(number, least) || std::cmp_greater(number, most)
                   ? std::nullopt
                   : std::optional(static_cast<Number>(number));
    };
    return value.is_number_unsigned()  ? within(value.get<std::uint64_t>())
           : value.is_number_integer() ? within(value.get<std::int64_t>())
                                       : std::nullopt;
}

} // namespace cudaenv
