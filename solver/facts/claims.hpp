// Who claims which path: the records of an inventory joined by path. Pure: no file is looked at.
#pragma once

#include "solver/facts/inventory.hpp"

#include <compare>
#include <functional>
#include <span>

namespace cudaenv::facts {

struct Claim {
    enum class By : std::uint8_t { Conda, Distribution };

    By by = By::Conda;
    std::uint32_t package = 0; // of Inventory::conda or Inventory::distributions
    std::uint32_t file = 0;    // of its files

    auto operator<=>(const Claim&) const = default;
    [[nodiscard]] bool same_owner(const Claim& other) const {
        return by == other.by && package == other.package;
    }
};

// Rests on the inventory that it was made of: that one lives longer and stays as it is. 28 to 40
// bytes a claim, 2 MB for 64,000.
class Claims {
public:
    explicit Claims(const Inventory& inventory);

    // All that claim the path, conda's packages first, each in the inventory's order; a record that
    // has it twice is there twice.
    [[nodiscard]] std::vector<Claim> of(std::string_view path) const;
    // Each path, once, in the order of their first claims. The span is good for the call.
    void for_each_path(
        const std::function<void(std::string_view path, std::span<const Claim>)>& visit) const;
    // Each path that two or more packages claim, once, in the order of their first claims. The span
    // is good for the call.
    void for_each_shared(
        const std::function<void(std::string_view path, std::span<const Claim>)>& visit) const;

    [[nodiscard]] const FileClaim& file(const Claim& claim) const {
        return files(claim)[claim.file];
    }
    [[nodiscard]] std::string_view path(const Claim& claim) const {
        return files(claim).path(claim.file);
    }
    [[nodiscard]] const FileClaims& files(const Claim& claim) const {
        return claim.by == Claim::By::Conda ? m_inventory->conda[claim.package].files
                                            : m_inventory->distributions[claim.package].files;
    }
    // Of all records.
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }
    [[nodiscard]] std::size_t bytes() const {
        return m_entries.capacity() * sizeof(Entry) + m_slots.capacity() * sizeof(Slot);
    }

private:
    static constexpr std::uint32_t k_none = ~std::uint32_t{0};

    struct Entry {
        Claim claim;
        std::uint32_t next = k_none; // of the ring of claims to the same path
    };
    // Open addressing.
    struct Slot {
        std::uint32_t hash = 0;      // its upper half, so that few paths are compared
        std::uint32_t last = k_none; // of the ring; its next is the first
    };

    void add(const Claim& claim);
    template <class Wanted, class Visit>
    void for_each_ring(const Wanted& wanted, const Visit& visit) const;
    [[nodiscard]] std::size_t slot_of(std::string_view path, std::uint64_t hash) const;

    const Inventory* m_inventory;
    std::vector<Entry> m_entries;
    std::vector<Slot> m_slots; // a power of two, at most two thirds full
};

} // namespace cudaenv::facts
