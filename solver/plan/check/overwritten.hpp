// Whose files are not what its record says, and whose they are instead: one pass over the paths,
// from which CE101 to CE103, CE105 and CE107 to CE109 are told. Pure. Law: what is not proven by a
// digest or by a file's absence is not told, and nothing is told twice.
#pragma once

#include "solver/plan/check/parties.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::plan {

enum class LossKind : std::uint8_t {
    WheelOverConda, // a wheel wrote over conda's files, or pip took them away
    CondaOverWheel,
    WheelOverWheel,
    Gone,       // most of a distribution's or package's files are not there
    Changed,    // code or libraries, by nobody on record
    Superseded, // of a distribution that is there twice: what the one installed before it lost
};

struct Loss {
    LossKind kind = LossKind::Changed;
    Party victim;
    std::optional<Party> writer; // none: on no record
    // False: by the records alone it cannot be told who wrote last; that they differ is certain.
    bool order_known = true;
    bool same_distribution = false; // both are, under whatever name, one distribution of Python's
    std::vector<std::string> replaced; // hold what the writer's record says; sorted, as the others
    std::vector<std::string> gone;
    std::vector<std::string> changed; // hold what no record says
    std::uint32_t claimed = 0;        // the victim's files, without those that ordinarily differ
};

// By victim. With CheckScene::examined null only what two records prove: that one wrote later over
// the other, with other content, or that metadata which conda's record claims is there no more.
std::vector<Loss> find_losses(const CheckScene& scene);

} // namespace cudaenv::plan
