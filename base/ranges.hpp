// What <algorithm> has in a later standard, or only as an iterator to be compared with the end.
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

namespace cudaenv {

template <typename Value, typename Range>
constexpr bool is_one_of(const Value& value, const Range& range) {
    return std::ranges::find(range, value) != std::ranges::end(range);
}

// The first element whose projection is `value`, else nullptr.
template <typename Range, typename Value, typename Projection = std::identity>
constexpr auto* find_pointer(Range&& range, const Value& value, Projection projection = {}) {
    const auto found = std::ranges::find(range, value, projection);
    return found == std::ranges::end(range) ? nullptr : &*found;
}

// The first element that `fits`, else nullptr.
template <typename Range, typename Fits>
constexpr auto* find_pointer_if(Range&& range, Fits fits) {
    const auto found = std::ranges::find_if(range, fits);
    return found == std::ranges::end(range) ? nullptr : &*found;
}

// What `make`, a function or a member, gives of each element.
template <typename Range, typename Make>
auto each_of(Range&& range, Make make) {
    std::vector<std::decay_t<std::invoke_result_t<Make&, std::ranges::range_reference_t<Range>>>>
        made;
    for (auto&& value : range) {
        made.push_back(std::invoke(make, value));
    }
    return made;
}

template <typename Container>
void sort_unique(Container& container) {
    std::ranges::sort(container);
    container.erase(std::unique(container.begin(), container.end()), container.end());
}

} // namespace cudaenv
