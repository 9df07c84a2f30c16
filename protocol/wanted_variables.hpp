// A condarc may name any variable ($SCRATCH/envs), and only those of a list travel with a request.
// So the daemon answers with the error "wants-variables" and their names, separated by spaces, as
// its hint; the client asks again with "variables" in the params: name to value, null where unset.
#pragma once

namespace cudaenv::protocol {

inline constexpr const char* k_wants_variables = "wants-variables";
inline constexpr const char* k_wanted_variables = "variables";

} // namespace cudaenv::protocol
