#include "check/extensions/cxx_abi.hpp"

#include "base/ascii.hpp"

namespace cudaenv::extensions {

namespace {

constexpr std::string_view k_new_string = "NSt7__cxx1112basic_string";
constexpr std::string_view k_old_string = "Ss";
constexpr std::string_view k_tag = "B5cxx11";

// What follows _Z, _ZN, _ZNK, _ZTV, _ZTIN, _ZGVN: the first name.
std::string_view first_name(std::string_view symbol) {
    symbol.remove_prefix(2);
    for (const std::string_view special : {"TV", "TI", "TS", "TT", "GV", "GR", "Th", "Tv"}) {
        if (symbol.starts_with(special)) {
            symbol.remove_prefix(2);
            break;
        }
    }
    if (symbol.starts_with('N')) {
        symbol.remove_prefix(1);
        while (!symbol.empty() &&
               (symbol.front() == 'K' || symbol.front() == 'V' || symbol.front() == 'r' ||
                symbol.front() == 'R' || symbol.front() == 'O')) {
            symbol.remove_prefix(1);
        }
    }
    return symbol;
}

} // namespace

bool is_symbol_of_torch(std::string_view symbol) {
    if (!symbol.starts_with("_Z")) {
        return false;
    }
    const auto name = first_name(symbol);
    for (const std::string_view space : {"3c10", "2at", "5torch", "6caffe2"}) {
        if (name.starts_with(space)) {
            return true;
        }
    }
    auto own = name;
    while (!own.empty() && is_digit(own.front())) {
        own.remove_prefix(1);
    }
    return own.size() < name.size() && own.starts_with("THP");
}

OtherAbi under_other_abi(std::string_view symbol) {
    OtherAbi other;
    if (const auto at = symbol.find(k_new_string); at != std::string_view::npos) {
        other.beginnings.push_back(std::string(symbol.substr(0, at)) + std::string(k_old_string));
    } else {
        for (auto old = symbol.find(k_old_string); old != std::string_view::npos;
             old = symbol.find(k_old_string, old + 1)) {
            other.beginnings.push_back(std::string(symbol.substr(0, old)) +
                                       std::string(k_new_string));
        }
    }
    if (const auto at = symbol.find(k_tag); at != std::string_view::npos) {
        other.names.emplace_back(symbol);
        other.names.back().erase(at, k_tag.size());
    } else if (symbol.starts_with("_ZN")) {
        // The tag stands behind the function's own name, which ends the nested one.
        for (auto close = symbol.find('E'); close != std::string_view::npos;
             close = symbol.find('E', close + 1)) {
            other.names.push_back(std::string(symbol.substr(0, close)) + std::string(k_tag) +
                                  std::string(symbol.substr(close)));
        }
    }
    return other;
}

} // namespace cudaenv::extensions
