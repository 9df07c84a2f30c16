#include "base/private_store.hpp"

#include "base/private_files.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv {

std::string PrivateStore::read() const {
    return m_directory.starts_with('/') ? read_private_file(m_directory + '/' + m_name, m_limit)
                                        : std::string();
}

bool PrivateStore::write(const std::string& text) const {
    return text.size() <= m_limit && write_private_file(m_directory, m_name, text);
}

Fd PrivateStore::lock() const {
    return lock_private_directory(m_directory);
}

nlohmann::json PrivateStore::read_json(std::string_view schema) const {
    return stored_json(read(), schema);
}

bool PrivateStore::write_json(const nlohmann::json& document) const {
    return write(stored_text(document));
}

nlohmann::json stored_json(std::string_view text, std::string_view schema) {
    auto document = nlohmann::json::parse(text, nullptr, false);
    const bool fits = document.is_object() && document.value("schema", nlohmann::json()) == schema;
    return fits ? document : nlohmann::json::object();
}

std::string stored_text(const nlohmann::json& document) {
    return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace cudaenv
