#include "solver/facts/claims.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cudaenv::facts {

namespace {

// Eight bytes at a time: paths are long and begin alike. No defence against made-up collisions is
// needed but that they only cost time, for paths are compared.
std::uint64_t hash_of(std::string_view text) {
    constexpr std::uint64_t k_factor = 0x9e3779b97f4a7c15U; // 2^64 / golden ratio
    std::uint64_t hash = text.size() * k_factor;
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        hash = (std::rotl(hash, 23) ^ word) * k_factor;
        hash ^= hash >> 29;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, text.size() - at);
    hash = (std::rotl(hash, 23) ^ word) * k_factor;
    return hash ^ (hash >> 32);
}

std::uint32_t upper_half(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32);
}

} // namespace

Claims::Claims(const Inventory& inventory) : m_inventory(&inventory) {
    std::size_t count = 0;
    for (const auto& package : inventory.conda) {
        count += package.files.size();
    }
    for (const auto& distribution : inventory.distributions) {
        count += distribution.files.size();
    }
    m_entries.reserve(count);
    m_slots.resize(std::bit_ceil(count + count / 2 + 1));
    const auto add_all = [this](Claim::By by, const auto& packages) {
        for (std::uint32_t package = 0; package < packages.size(); ++package) {
            const auto files = static_cast<std::uint32_t>(packages[package].files.size());
            for (std::uint32_t file = 0; file < files; ++file) {
                add({by, package, file});
            }
        }
    };
    add_all(Claim::By::Conda, inventory.conda);
    add_all(Claim::By::Distribution, inventory.distributions);
}

std::size_t Claims::slot_of(std::string_view path, std::uint64_t hash) const {
    const std::size_t mask = m_slots.size() - 1;
    std::size_t at = hash & mask;
    while (m_slots[at].last != k_none && (m_slots[at].hash != upper_half(hash) ||
                                          this->path(m_entries[m_slots[at].last].claim) != path)) {
        at = (at + 1) & mask;
    }
    return at;
}

void Claims::add(const Claim& claim) {
    const auto own_path = path(claim);
    const auto hash = hash_of(own_path);
    Slot& slot = m_slots[slot_of(own_path, hash)];
    const auto number = static_cast<std::uint32_t>(m_entries.size());
    m_entries.push_back({claim, number});
    if (slot.last == k_none) {
        slot = {upper_half(hash), number};
        return;
    }
    m_entries[number].next = std::exchange(m_entries[slot.last].next, number);
    slot.last = number;
}

std::vector<Claim> Claims::of(std::string_view path) const {
    std::vector<Claim> found;
    const auto last = m_slots[slot_of(path, hash_of(path))].last;
    if (last == k_none) {
        return found;
    }
    for (auto at = m_entries[last].next;; at = m_entries[at].next) {
        found.push_back(m_entries[at].claim);
        if (at == last) {
            return found;
        }
    }
}

template <class Wanted, class Visit>
void Claims::for_each_ring(const Wanted& wanted, const Visit& visit) const {
    std::vector<bool> is_first(m_entries.size());
    for (const auto& slot : m_slots) {
        if (slot.last != k_none && wanted(slot.last)) {
            is_first[m_entries[slot.last].next] = true;
        }
    }
    std::vector<Claim> claims;
    for (std::uint32_t first = 0; first < is_first.size(); ++first) {
        if (!is_first[first]) {
            continue;
        }
        claims.clear();
        auto at = first;
        do {
            claims.push_back(m_entries[at].claim);
            at = m_entries[at].next;
        } while (at != first);
        visit(claims);
    }
}

void Claims::for_each_path(
    const std::function<void(std::string_view, std::span<const Claim>)>& visit) const {
    for_each_ring([](std::uint32_t) { return true; },
                  [&](const std::vector<Claim>& claims) { visit(path(claims.front()), claims); });
}

void Claims::for_each_shared(
    const std::function<void(std::string_view, std::span<const Claim>)>& visit) const {
    for_each_ring([this](std::uint32_t last) { return m_entries[last].next != last; },
                  [&](const std::vector<Claim>& claims) {
                      const auto by_another = [&](const Claim& claim) {
                          return !claim.same_owner(claims.front());
                      };
                      if (std::ranges::any_of(claims, by_another)) {
                          visit(path(claims.front()), claims);
                      }
                  });
}

} // namespace cudaenv::facts
