#include "daemon/check/inventories.hpp"

#include <algorithm>
#include <chrono>

namespace cudaenv::daemon {

Result<Inventories::Loan> Inventories::lend(const std::string& prefix, const GoesOn& wanted) {
    std::shared_ptr<Entry> entry;
    {
        const std::scoped_lock lock(m_guard);
        const auto found =
            std::ranges::find(m_entries, prefix, [](const auto& one) { return one.first; });
        if (found == m_entries.end()) {
            m_entries.emplace_front(prefix, std::make_shared<Entry>(prefix));
        } else {
            m_entries.splice(m_entries.begin(), m_entries, found);
        }
        if (m_entries.size() > k_most) {
            m_entries.pop_back();
        }
        entry = m_entries.front().second;
    }
    Loan loan(std::move(entry));
    while (!loan.m_lock.try_lock_for(std::chrono::milliseconds(100))) {
        if (!goes_on(wanted)) {
            return stopped();
        }
    }
    CUDAENV_TRY_VOID(loan.m_entry->inventory.refresh());
    return loan;
}

} // namespace cudaenv::daemon
