#include "solver/pins/pins.hpp"

#include "base/ascii.hpp"
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudaenv::pins {

namespace {

constexpr std::array<std::string_view, 5> k_cuda_aliases{"cudatoolkit", "cuda-version",
                                                         "pytorch-cuda", "cuda-toolkit", "nvcc"};
constexpr std::array<std::string_view, 1> k_torch_aliases{"pytorch"};
constexpr std::array<std::string_view, 2> k_tensorflow_aliases{"tf", "tensorflow-gpu"};
constexpr std::array<std::string_view, 1> k_jax_aliases{"jaxlib"};
constexpr std::array<std::string_view, 2> k_python_aliases{"py", "python3"};

constexpr std::array<PinName, 12> k_names{{
    {"cuda", k_cuda_aliases, "the CUDA runtime and toolkit", ""},
    {"cudnn", {}, "NVIDIA's library for neural networks", "cudnn"},
    {"nccl", {}, "NVIDIA's library for several GPUs", "nccl"},
    {"torch", k_torch_aliases, "PyTorch", "pytorch"},
    {"torchvision", {}, "PyTorch's partner for images", "torchvision"},
    {"torchaudio", {}, "PyTorch's partner for sound", "torchaudio"},
    {"tensorflow", k_tensorflow_aliases, "TensorFlow", "tensorflow"},
    {"jax", k_jax_aliases, "JAX", "jax"},
    {"cupy", {}, "NumPy's interface on CUDA", "cupy"},
    {"numpy", {}, "NumPy", "numpy"},
    {"python", k_python_aliases, "the Python interpreter", "python"},
    {"gcc", {}, "the host compiler", ""},
}};

// A name longer than this is not a slip of the pen: no nearest name is looked for.
constexpr std::size_t k_longest_name = 64;

bool is_name_char(char c) {
    return is_alnum(c) || c == '-' || c == '_';
}
bool is_operator_char(char c) {
    return c == '=' || c == '<' || c == '>' || c == '!' || c == '~';
}

// The version of a wheel's CUDA label: "113" of cu113 is 11.3, "92" is 9.2. Two digits from 10 on
// are a major version alone, as in the names nvidia-cublas-cu12 and nvidia-cudnn-cu11.
std::optional<std::string> cuda_of_label(std::string_view digits) {
    if (digits.size() < 2 || digits.size() > 3 || !std::ranges::all_of(digits, is_digit) ||
        digits[0] == '0') {
        return std::nullopt;
    }
    if (digits.size() == 2 && digits[0] == '1') {
        return std::string(digits);
    }
    return std::string(digits.substr(0, digits.size() - 1)) + '.' + digits.back();
}

// The error of a constraint that begins `offset` bytes into the text of `origin`.
tl::unexpected<Error> placed(Error error, const std::string& origin, std::size_t offset) {
    error.path = origin;
    error.column += static_cast<int>(offset);
    return tl::unexpected(std::move(error));
}

} // namespace

std::span<const PinName> pin_names() {
    return k_names;
}

const PinName* find_pin_name(std::string_view name_or_alias) {
    if (name_or_alias.size() > k_longest_name) {
        return nullptr;
    }
    std::string name = to_lower_ascii(name_or_alias);
    std::ranges::replace(name, '_', '-');
    return find_pointer_if(k_names, [&](const PinName& known) {
        return known.name == name || is_one_of(name, known.aliases);
    });
}

Error unknown_pin(std::string_view name) {
    std::vector<std::string> canonical;
    std::vector<std::string> all;
    for (const PinName& known : k_names) {
        canonical.emplace_back(known.name);
        all.emplace_back(known.name);
        all.insert(all.end(), known.aliases.begin(), known.aliases.end());
    }
    return bad_input("unknown-pin", "unknown pin " + quoted(name),
                     did_you_mean(to_lower_ascii(name), all, "known are " + join(canonical, ", ")))
        .value();
}

Result<std::vector<Pin>> parse_pin(std::string_view text, const std::string& origin) {
    constexpr std::string_view k_white = " \t";
    const std::string shown_origin = printable(origin);
    const auto fail = [&](std::string message, std::string hint, std::size_t at) {
        Error error{ErrorKind::BadInput, "bad-pin", std::move(message), {}, 0, 1, std::move(hint)};
        return placed(std::move(error), shown_origin, at);
    };
    const std::size_t first = text.find_first_not_of(k_white);
    if (first == std::string_view::npos) {
        return fail("an empty pin",
                    "a pin is a CUDA version or NAME=VERSION, as in 11.3 or torch=1.12", 0);
    }
    const auto constraint_from = [&](std::size_t offset) -> Result<std::string> {
        auto constraint = PinConstraint::parse(text.substr(offset));
        if (!constraint) {
            return placed(std::move(constraint).error(), shown_origin, offset);
        }
        return constraint->str();
    };

    // 11.3, >=11: CUDA's.
    if (is_digit(text[first]) || is_operator_char(text[first])) {
        CUDAENV_TRY(std::string constraint, constraint_from(first));
        return std::vector<Pin>{{"cuda", std::move(constraint), shown_origin}};
    }

    std::size_t end = first;
    while (end < text.size() && is_name_char(text[end])) {
        ++end;
    }
    const std::string_view name = text.substr(first, end - first);
    std::size_t at = std::min(text.find_first_not_of(k_white, end), text.size());
    const PinName* known = find_pin_name(name);
    if (at == text.size()) {
        const std::string lower = to_lower_ascii(name);
        if (lower.size() > 2 && lower.substr(0, 2) == "cu" && is_digit(lower[2])) {
            if (const auto version = cuda_of_label(std::string_view(lower).substr(2))) {
                return std::vector<Pin>{{"cuda", *version, shown_origin}};
            }
            return fail(quoted(name) + " is not a CUDA label",
                        "expected cu and two or three digits, as in cu113 for 11.3", first);
        }
        if (known != nullptr) {
            return fail("the pin " + quoted(name) + " has no version",
                        "write " + std::string(known->name) + "=VERSION, as in cuda=11.3", end);
        }
    }
    if (name.empty()) {
        return fail(quoted(text.substr(first)) + " is not a pin",
                    "a pin is a CUDA version or NAME=VERSION, as in 11.3 or torch=1.12", first);
    }
    if (known == nullptr) {
        return placed(unknown_pin(name), shown_origin, first + 1);
    }
    const bool separated = at > end; // "cuda 11.3", as conda allows
    if (text[at] == '@') {
        ++at;
    } else if (text[at] == '=' && at + 1 < text.size() &&
               std::string_view("<>!~").find(text[at + 1]) != std::string_view::npos) {
        ++at; // cuda=>=11
    } else if (!is_operator_char(text[at]) &&
               !(separated && (is_digit(text[at]) || text[at] == '*'))) {
        return fail(quoted(text.substr(at)) + " cannot follow the name " + quoted(name),
                    "write " + std::string(known->name) + "=VERSION, as in cuda=11.3", at);
    }

    // torch=1.12.1+cu113: the build label is a pin of CUDA.
    const std::size_t plus = text.find('+', at);
    if (plus != std::string_view::npos && known->name != "cuda" &&
        text.find(',', at) == std::string_view::npos) {
        const std::string_view label = text.substr(plus + 1, text.find_last_not_of(k_white) - plus);
        if (label == "cpu") {
            return fail("a pin cannot ask for a CPU build", "--cpu asks for one when resolving",
                        plus);
        }
        const auto version =
            label.substr(0, 2) == "cu" ? cuda_of_label(label.substr(2)) : std::nullopt;
        if (version) {
            auto constraint = PinConstraint::parse(text.substr(at, plus - at));
            if (!constraint) {
                return placed(std::move(constraint).error(), shown_origin, at);
            }
            return std::vector<Pin>{{std::string(known->name), constraint->str(), shown_origin},
                                    {"cuda", *version, shown_origin}};
        }
    }
    CUDAENV_TRY(std::string constraint, constraint_from(at));
    return std::vector<Pin>{{std::string(known->name), std::move(constraint), shown_origin}};
}

} // namespace cudaenv::pins
