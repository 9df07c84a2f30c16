// Any bytes as a pin of the command line: read into known names and constraints that read back as
// themselves, or refused in one line with a column inside the text.
#include "base/printable.hpp"
#include "solver/pins/pins.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cudaenv::pins;
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto pins = parse_pin(text, "argument 1");
    if (!pins) {
        const auto& error = pins.error();
        require(error.kind == cudaenv::ErrorKind::BadInput && error.path == "argument 1");
        require(error.column >= 1 && static_cast<std::size_t>(error.column) <= size + 1);
        require(!error.message.empty() && cudaenv::printable(error.message) == error.message);
        require(!error.hint.empty() && cudaenv::printable(error.hint) == error.hint);
        return 0;
    }
    require(!pins->empty());
    for (const Pin& pin : *pins) {
        const PinName* name = find_pin_name(pin.name);
        require(name != nullptr && name->name == pin.name);
        const auto constraint = PinConstraint::parse(pin.constraint);
        require(constraint && constraint->str() == pin.constraint);
        const auto conda = PinConstraint::parse(constraint->conda_version_spec());
        require(conda && conda->str() == pin.constraint);
        const std::string pip = constraint->pip_specifier();
        require(pip.empty() || PinConstraint::parse(pip)->str() == pin.constraint ||
                pin.constraint.find('*') != std::string::npos);
        if (const auto single = constraint->single()) {
            require(constraint->allows(*single));
        }
        const auto again = parse_pin(pin.name + '@' + pin.constraint, "again");
        require(again && again->size() == 1 && again->front().constraint == pin.constraint);
    }
    return 0;
}
