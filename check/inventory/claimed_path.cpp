#include "check/inventory/claimed_path.hpp"

#include "host/file_system.hpp"

namespace cudaenv::inventory {

namespace {

// Neither absolute nor with a component that is empty or begins with a dot: most are.
bool is_plain(std::string_view path) {
    if (path.empty() || path.front() == '/' || path.front() == '.' || path.back() == '/') {
        return false;
    }
    for (auto slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
        if (path[slash + 1] == '.' || path[slash + 1] == '/') { // never the last, see above
            return false;
        }
    }
    return true;
}

void append_components(std::string& absolute, std::string_view path) {
    while (!path.empty()) {
        const auto slash = path.find('/');
        const auto component = path.substr(0, slash);
        path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
        if (component == "..") {
            const auto above = absolute.rfind('/');
            absolute.resize(above == std::string::npos ? 0 : above);
        } else if (!component.empty() && component != ".") {
            absolute += '/';
            absolute += component;
        }
    }
}

} // namespace

ClaimedPaths::ClaimedPaths(std::string prefix, std::string real_prefix)
    : m_prefix(std::move(prefix)), m_real_prefix(std::move(real_prefix)) {}

std::string ClaimedPaths::absolute(std::string_view path) const {
    if (path.starts_with('/')) {
        return std::string(path);
    }
    return path.empty() ? m_prefix : m_prefix + '/' + std::string(path);
}

std::string_view ClaimedPaths::resolve(std::string_view base, std::string_view written) {
    m_path.clear();
    if (is_plain(written)) {
        m_path += base;
        if (!base.empty()) {
            m_path += '/';
        }
        m_path += written;
        return m_path;
    }
    if (!written.starts_with('/')) {
        if (!base.starts_with('/')) {
            m_path = m_prefix;
        }
        append_components(m_path, base);
    }
    append_components(m_path, written);
    for (const std::string_view prefix : {m_prefix, m_real_prefix}) {
        if (!prefix.empty() && host::is_in_or_below(m_path, prefix)) {
            const auto below = std::string_view(m_path).substr(prefix.size());
            return below.empty() ? below : below.substr(1);
        }
    }
    if (m_path.empty()) {
        m_path = '/';
    }
    return m_path;
}

} // namespace cudaenv::inventory
