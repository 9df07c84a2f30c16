// direnv's DIRENV_DIFF: what a directory's .envrc changed, base64url(zlib(JSON)) with the values
// before ("p") and after ("n"); those before come back when the directory is left
// (direnv 2.32, internal/cmd/env_diff.go and gzenv/gzenv.go). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::patch {

constexpr std::string_view k_direnv_diff = "DIRENV_DIFF";

// The same with each value that was there before as `mend` has it, which says nothing where the
// variable was not set; `text` itself where nothing changes or it cannot be read (1 MiB unpacked at
// most).
std::string
mended_direnv_diff(const std::string& text,
                   const std::function<std::optional<std::string>(const std::string& name,
                                                                  const std::string& value)>& mend);

} // namespace cudaenv::patch
