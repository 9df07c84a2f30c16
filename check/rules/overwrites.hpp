// The finding about one package that overwrote files of another. Pure.
#pragma once

#include "check/rules/check.hpp"
#include "check/rules/overwritten.hpp"

namespace cudaenv::rules {

// CE108 of a Loss of kind WheelOverWheel; its commands name `code`, the rule that reports it.
CheckFinding wheel_over_wheel(const CheckContext& context, const Loss& loss, std::string_view code);

} // namespace cudaenv::rules
