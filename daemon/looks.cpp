#include "daemon/looks.hpp"

namespace cudaenv::daemon {

const Result<project::ConfigFiles>& Looks::config(pins::UnknownKeys unknown) {
    // Without unknown keys both ways of reading give the same.
    const bool serves =
        m_config && (m_unknown == unknown || (m_unknown == pins::UnknownKeys::Refuse && *m_config));
    if (!serves) {
        m_config = project::load_config(project::config_paths(m_caller.environment), unknown,
                                        m_caller.uid);
        m_unknown = unknown;
    }
    return *m_config;
}

} // namespace cudaenv::daemon
