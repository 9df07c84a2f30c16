// The words that installers write into INSTALLER, and whose they are. Pure.
#pragma once

#include <string_view>

namespace cudaenv::rules {

// "uv", and "uv-pixi": uv within pixi.
inline bool is_uv(std::string_view installer) {
    return installer.starts_with("uv");
}

inline bool is_pip_or_uv(std::string_view installer) {
    return installer == "pip" || is_uv(installer);
}

} // namespace cudaenv::rules
