// The inventories of the environments that were looked at last, kept so that after an install only
// what changed is read again. Law: one holds an inventory at a time; it is as the records are when
// it was given.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "check/inventory/read_inventory.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace cudaenv::daemon {

class Inventories {
    struct Entry {
        explicit Entry(const std::string& prefix) : inventory(prefix) {}
        std::timed_mutex guard;
        inventory::KeptInventory inventory;
    };

public:
    // Lent for as long as it lives.
    class Loan {
    public:
        explicit Loan(std::shared_ptr<Entry> entry)
            : m_entry(std::move(entry)), m_lock(m_entry->guard, std::defer_lock) {}
        [[nodiscard]] const facts::Inventory& inventory() const {
            return m_entry->inventory.inventory();
        }
        // Whether a record is another than when it was lent before.
        [[nodiscard]] bool changed() const { return m_entry->inventory.changed(); }

    private:
        friend class Inventories;
        std::shared_ptr<Entry> m_entry;
        std::unique_lock<std::timed_mutex> m_lock;
    };

    // Waits while another holds it. Errors: those of read_inventory, k_stopped.
    Result<Loan> lend(const std::string& prefix, const GoesOn& wanted = {});

private:
    // An environment of 60,000 files takes some 16 MB.
    static constexpr std::size_t k_most = 3;

    std::mutex m_guard;
    std::list<std::pair<std::string, std::shared_ptr<Entry>>> m_entries; // the last used first
};

} // namespace cudaenv::daemon
