// One file that cudaenv keeps in the user's cache or state directory. Law: best effort; a file that
// is missing, damaged, of another schema, over the limit, or that somebody else could have written
// counts as absent, and a reader sees an old text or a new one, whole.
#pragma once

#include "base/fd.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace cudaenv {

class PrivateStore {
public:
    // A `directory` that is not absolute stores nothing.
    PrivateStore(std::string directory, std::string name, std::size_t limit)
        : m_directory(std::move(directory)), m_name(std::move(name)), m_limit(limit) {}

    [[nodiscard]] std::string read() const;
    // False where nothing was written.
    [[nodiscard]] bool write(const std::string& text) const;
    // Holds off other writers that lock, until it is closed: see lock_private_directory.
    [[nodiscard]] Fd lock() const;

    // For a store that is a JSON object with a "schema"; an empty object counts as absent.
    [[nodiscard]] nlohmann::json read_json(std::string_view schema) const;
    [[nodiscard]] bool write_json(const nlohmann::json& document) const;

private:
    std::string m_directory;
    std::string m_name;
    std::size_t m_limit;
};

// The object that `text` is; empty where it is none, or of another schema.
nlohmann::json stored_json(std::string_view text, std::string_view schema);
// What is not UTF-8 in it is replaced.
std::string stored_text(const nlohmann::json& document);

} // namespace cudaenv
