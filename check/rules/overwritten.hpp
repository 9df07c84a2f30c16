// Whose files are not what its record says, and whose content they hold instead: one pass over the
// paths, on which CE101 to CE103, CE105 and CE107 to CE109 rest. Pure. Law: only what a digest or a
// file's absence proves is a loss, and nothing is reported twice.
#pragma once

#include "check/rules/parties.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::rules {

enum class LossKind : std::uint8_t {
    WheelOverConda, // a wheel overwrote conda's files, or pip removed them
    CondaOverWheel,
    WheelOverWheel,
    Gone,       // most files of a distribution or package are missing
    Changed,    // code or libraries, and no record says by whom
    Superseded, // of a distribution that is installed twice: what the older one lost
};

struct Loss {
    LossKind kind = LossKind::Changed;
    Party victim;
    std::optional<Party> writer; // empty: no record says
    // False: the records alone do not say who wrote last; that they differ is certain.
    bool order_known = true;
    bool same_distribution = false; // both are the same Python distribution, whatever their names
    std::vector<std::string> replaced; // hold what the writer's record says; sorted, as the others
    std::vector<std::string> gone;
    std::vector<std::string> changed; // hold what no record says
    std::uint32_t claimed = 0;        // the victim's files, without those that differ anyway
};

// By victim. With CheckScene::examined null only what two records prove: that one wrote later over
// the other, with other content, or that metadata which conda's record claims is there no more.
std::vector<Loss> find_losses(const CheckContext& context);

// Of each distribution that has some: those that hold what no record says, data as well; sorted.
std::map<std::uint32_t, std::vector<std::string>> edited_files(const CheckContext& context);

// Nothing is left of the distribution but its record: another one of its name was installed later,
// and every file is that one's or missing. False where no file was read.
bool is_dead(const CheckContext& context, const std::vector<Loss>& losses,
             std::uint32_t distribution);

} // namespace cudaenv::rules
