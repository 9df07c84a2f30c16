#include "shellhooks/patch/direnv_diff.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <zlib.h>

namespace cudaenv::patch {

namespace {

constexpr std::size_t k_most_bytes = std::size_t{1} << 20;
constexpr std::string_view k_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    int have = 0;
    for (const char c : text.substr(0, text.find('='))) {
        const auto digit = k_digits.find(c);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        have += 6;
        if (have >= 8) {
            have -= 8;
            bytes += static_cast<char>(bits >> static_cast<unsigned>(have) & 0xFFU);
        }
    }
    return bytes;
}

std::string to_base64(std::string_view bytes) {
    std::string text;
    std::uint32_t bits = 0;
    int have = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (have += 8; have >= 6;) {
            have -= 6;
            text += k_digits[bits >> static_cast<unsigned>(have) & 0x3FU];
        }
    }
    if (have > 0) {
        text += k_digits[bits << static_cast<unsigned>(6 - have) & 0x3FU];
    }
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

const Bytef* bytes_of(const std::string& text) {
    return reinterpret_cast<const Bytef*>(text.data());
}

std::optional<std::string> inflated(const std::string& packed) {
    std::string text(k_most_bytes, '\0');
    auto size = static_cast<uLongf>(text.size());
    if (::uncompress(reinterpret_cast<Bytef*>(text.data()), &size, bytes_of(packed),
                     static_cast<uLong>(packed.size())) != Z_OK) {
        return std::nullopt;
    }
    text.resize(size);
    return text;
}

std::optional<std::string> deflated(const std::string& text) {
    auto size = ::compressBound(static_cast<uLong>(text.size()));
    std::string packed(size, '\0');
    if (::compress(reinterpret_cast<Bytef*>(packed.data()), &size, bytes_of(text),
                   static_cast<uLong>(text.size())) != Z_OK) {
        return std::nullopt;
    }
    packed.resize(size);
    return packed;
}

} // namespace

std::string mended_direnv_diff(const std::string& text,
                               const std::function<std::optional<std::string>(
                                   const std::string& name, const std::string& value)>& mend) {
    const auto packed = from_base64(text);
    const auto unpacked = packed ? inflated(*packed) : std::nullopt;
    auto diff = nlohmann::json::parse(unpacked.value_or(""), nullptr, false);
    if (!diff.is_object() || !diff.contains("p") || !diff["p"].is_object()) {
        return text;
    }
    nlohmann::json before = nlohmann::json::object();
    for (const auto& [name, value] : diff["p"].items()) {
        if (!value.is_string()) {
            return text;
        }
        if (const auto mended = mend(name, value.get_ref<const std::string&>())) {
            before[name] = *mended;
        }
    }
    if (before == diff["p"]) {
        return text;
    }
    diff["p"] = std::move(before);
    const auto repacked =
        deflated(diff.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return repacked ? to_base64(*repacked) : text;
}

} // namespace cudaenv::patch
