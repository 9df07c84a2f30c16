#include "check/inventory/digest_cache.hpp"

#include "base/fd.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <type_traits>

namespace cudaenv::inventory {

namespace {

constexpr const char* k_file = "digests";
constexpr std::string_view k_schema = "cudaenv.digests/1\n";
// Six numbers and a digest, in this machine's own order of bytes.
constexpr std::size_t k_entry = sizeof(KeptDigest);
static_assert(k_entry == 6 * 8 + 32 && std::is_trivially_copyable_v<KeptDigest>);
constexpr std::size_t k_longest_machine = 256;
constexpr std::size_t k_size_limit =
    k_schema.size() + std::size_t{3} * 8 + k_longest_machine + DigestCache::k_most * k_entry;
constexpr std::int64_t k_second = 1'000'000'000; // in nanoseconds
// That an entry was used is worth a write of all only so often, in seconds.
constexpr std::int64_t k_used_step = std::int64_t{24} * 60 * 60;

// Finds damage, not malice: only this user can write the file.
std::uint64_t checksum_of(std::string_view text) {
    constexpr std::uint64_t k_factor = 0x9e3779b97f4a7c15U; // 2^64 / golden ratio
    std::uint64_t sum = text.size();
    while (!text.empty()) {
        std::uint64_t word = 0;
        const auto step = std::min<std::size_t>(text.size(), 8);
        std::memcpy(&word, text.data(), step);
        text.remove_prefix(step);
        sum = (std::rotl(sum, 23) ^ word) * k_factor;
        sum ^= sum >> 29U;
    }
    return sum;
}

void put(std::string& text, std::uint64_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint64_t take(std::string_view& text) {
    std::uint64_t number = 0;
    std::memcpy(&number, text.data(), sizeof number);
    text.remove_prefix(sizeof number);
    return number;
}

std::uint64_t entries_at(std::string_view machine) {
    return k_schema.size() + std::size_t{3} * 8 + machine.size();
}

} // namespace

std::string write_digests(const std::vector<KeptDigest>& digests, std::string_view machine) {
    machine = machine.substr(0, k_longest_machine);
    std::string body;
    body.reserve(entries_at(machine) + digests.size() * k_entry);
    put(body, machine.size());
    body += machine;
    put(body, digests.size());
    body.append(reinterpret_cast<const char*>(digests.data()), digests.size() * k_entry);
    std::string text(k_schema);
    put(text, checksum_of(body));
    return text += body;
}

std::optional<std::vector<KeptDigest>> read_digests(std::string_view text,
                                                    std::string_view machine) {
    machine = machine.substr(0, k_longest_machine);
    if (!text.starts_with(k_schema) || text.size() < entries_at(machine)) {
        return std::nullopt;
    }
    text.remove_prefix(k_schema.size());
    if (take(text) != checksum_of(text) || take(text) != machine.size() ||
        !text.starts_with(machine)) {
        return std::nullopt;
    }
    text.remove_prefix(machine.size());
    const auto count = take(text);
    if (text.size() % k_entry != 0 || text.size() / k_entry != count) {
        return std::nullopt;
    }
    std::vector<KeptDigest> digests(count);
    if (count != 0) {
        std::memcpy(digests.data(), text.data(), text.size());
    }
    return digests;
}

std::size_t DigestCache::Hash::operator()(const FileIdentity& file) const {
    constexpr std::uint64_t k_factor = 0x9e3779b97f4a7c15U;
    std::uint64_t hash = file.inode * k_factor;
    hash = (std::rotl(hash, 23) ^ static_cast<std::uint64_t>(file.changed_ns)) * k_factor;
    hash = (std::rotl(hash, 23) ^ file.device) * k_factor;
    return hash ^ (hash >> 32U);
}

DigestCache::DigestCache(std::string directory, std::string machine)
    : m_store(std::move(directory), k_file, k_size_limit), m_machine(std::move(machine)) {
    if (const auto digests = read_digests(m_store.read(), m_machine)) {
        add(*digests);
    }
}

void DigestCache::add(const std::vector<KeptDigest>& digests) {
    m_kept.reserve(m_kept.size() + digests.size());
    for (const KeptDigest& kept : digests) {
        auto& own = m_kept.try_emplace(kept.file, Kept{kept.used_at, kept.sha256}).first->second;
        own.used_at = std::max(own.used_at, kept.used_at);
    }
}

std::optional<facts::Sha256Digest> DigestCache::find(const FileIdentity& file,
                                                     std::int64_t now_ns) {
    const std::lock_guard lock(m_guard);
    const auto found = m_kept.find(file);
    if (found == m_kept.end()) {
        return std::nullopt;
    }
    const auto now = now_ns / k_second;
    if (now - found->second.used_at > k_used_step) {
        found->second.used_at = now;
        m_changed = true;
    }
    return found->second.sha256;
}

void DigestCache::keep(const FileIdentity& file, const facts::Sha256Digest& sha256,
                       std::int64_t read_ns) {
    if (!is_settled(file, read_ns)) {
        return;
    }
    const std::lock_guard lock(m_guard);
    m_kept.insert_or_assign(file, Kept{read_ns / k_second, sha256});
    m_changed = true;
    if (m_kept.size() > k_most + k_most / 4) { // not at each, for it looks at all
        keep_newest();
    }
}

std::vector<KeptDigest> DigestCache::keep_newest() {
    std::vector<KeptDigest> digests;
    digests.reserve(m_kept.size());
    for (const auto& [file, kept] : m_kept) {
        digests.push_back({file, kept.used_at, kept.sha256});
    }
    const auto order = [](const KeptDigest& left, const KeptDigest& right) {
        return std::tie(right.used_at, left.file.device, left.file.inode, left.file.changed_ns) <
               std::tie(left.used_at, right.file.device, right.file.inode, right.file.changed_ns);
    };
    std::ranges::sort(digests, order);
    if (digests.size() > k_most) {
        digests.resize(k_most);
        m_kept.clear();
        add(digests);
    }
    return digests;
}

void DigestCache::save() {
    const std::lock_guard lock(m_guard);
    if (!m_changed) {
        return;
    }
    const Fd order = m_store.lock();
    if (const auto others = read_digests(m_store.read(), m_machine)) {
        add(*others);
    }
    static_cast<void>(m_store.write(write_digests(keep_newest(), m_machine)));
    m_changed = false;
}

std::size_t DigestCache::size() const {
    const std::lock_guard lock(m_guard);
    return m_kept.size();
}

} // namespace cudaenv::inventory
