// Reading the daemon's objects for show: what is absent or of another kind reads as empty, so that
// a newer daemon's object is still shown. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

// Empty where it is absent, null, or no string.
std::string text_at(const nlohmann::json& object, std::string_view name);
// The member, or a null value that lives forever.
const nlohmann::json& member(const nlohmann::json& object, std::string_view name);
bool flag_at(const nlohmann::json& object, std::string_view name);
// `fallback` where there is no whole number.
long long number_at(const nlohmann::json& object, std::string_view name, long long fallback = 0);
// The elements of a list; none where it is no list.
const std::vector<nlohmann::json>& list_at(const nlohmann::json& object, std::string_view name);
// Its elements that are strings.
std::vector<std::string> texts_at(const nlohmann::json& object, std::string_view name);
// Pieces that are not empty, joined.
std::string joined(std::initializer_list<std::string> pieces, std::string_view separator);

} // namespace cudaenv::cli
