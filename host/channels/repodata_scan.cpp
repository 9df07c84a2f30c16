#include "host/channels/repodata_scan.hpp"

#include "host/channels/record_text.hpp"

#include <algorithm>
#include <limits>

namespace cudaenv::channels {
namespace {

// Offsets are u32 in the tables.
constexpr std::uint64_t k_largest_text = std::numeric_limits<std::uint32_t>::max();

enum class Level { Outside, Top, Section, Ended };
enum class Expect { First, Member, Separator }; // First: a member or the closing brace

} // namespace

struct RepodataScan::State {
    std::vector<char> pending;  // what of the earlier windows is not consumed
    std::size_t retry_at = 0;   // `pending` is not worth another look below this size
    std::uint64_t consumed = 0; // bytes of the text before `pending`
    Level level = Level::Outside;
    Expect expect = Expect::First;
    std::string section; // "packages" while in it
    std::string subdir;
    std::string base_url;
    IndexBuilder builder;
    RepodataFault fault;
    bool failed = false;

    Step step(JsonCursor& cursor, const char* begin);
    Step top_member(JsonCursor& cursor);
    Step info(JsonCursor& cursor);
    Step record(JsonCursor& cursor, const char* begin);
    std::size_t run(std::span<const char> text);
    std::size_t run_pending();
};

// `info`: the two keys of it that say something about the records.
Step RepodataScan::State::info(JsonCursor& cursor) {
    if (cursor.peek() != '{') {
        return cursor.bad(cursor.at(),
                          std::string("\"info\": expected an object, found ") + cursor.kind_here());
    }
    cursor.advance();
    CUDAENV_STEP(cursor.skip_space());
    bool more = cursor.peek() != '}';
    if (!more) {
        cursor.advance();
    }
    while (more) {
        JsonString key;
        CUDAENV_STEP(cursor.key(key));
        std::string* target = key.is("subdir") ? &subdir : key.is("base_url") ? &base_url : nullptr;
        if (target != nullptr && cursor.peek() != 'n') {
            JsonString value;
            const Step step = cursor.string(value);
            if (step == Step::Bad) {
                return cursor.bad(cursor.fault_at(),
                                  "\"info." + key.text() + "\": " + cursor.fault());
            }
            CUDAENV_STEP(step);
            *target = value.text();
        } else {
            CUDAENV_STEP(cursor.skip_value());
        }
        CUDAENV_STEP(cursor.separator('}', more));
    }
    return Step::Ok;
}

Step RepodataScan::State::top_member(JsonCursor& cursor) {
    JsonString key;
    CUDAENV_STEP(cursor.key(key));
    if (key.is("packages") || key.is("packages.conda")) {
        if (cursor.peek() != '{') {
            return cursor.bad(cursor.at(), '"' + key.text() +
                                               "\" must be an object of records, found " +
                                               cursor.kind_here());
        }
        cursor.advance();
        section = key.text();
        level = Level::Section;
        expect = Expect::First;
        return Step::Ok;
    }
    CUDAENV_STEP(key.is("info") ? info(cursor) : cursor.skip_value());
    expect = Expect::Separator;
    return Step::Ok;
}

Step RepodataScan::State::record(JsonCursor& cursor, const char* begin) {
    const char* first = cursor.at();
    RecordText text;
    const Step step = read_record(cursor, text);
    if (step != Step::Ok) {
        if (text.file_name.raw.data() != nullptr) {
            fault.record = text.file_name.text();
        }
        return step;
    }
    const std::uint64_t offset = consumed + static_cast<std::uint64_t>(first - begin);
    const auto length = static_cast<std::uint64_t>(cursor.at() - first);
    if (offset + length > k_largest_text) {
        return cursor.bad(first, "a repodata text of more than 4 GiB");
    }
    builder.add(text.name.escaped ? std::string_view(text.name.text()) : text.name.raw,
                {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)});
    expect = Expect::Separator;
    return Step::Ok;
}

// One member, separator or bracket. Where it answers NeedMore nothing has changed but the cursor.
Step RepodataScan::State::step(JsonCursor& cursor, const char* begin) {
    CUDAENV_STEP(cursor.skip_space());
    if (level == Level::Ended) {
        return cursor.bad(cursor.at(), "text after the closing '}'");
    }
    if (level == Level::Outside) {
        if (cursor.peek() != '{') {
            return cursor.bad(cursor.at(),
                              std::string("a repodata file must be a JSON object, found ") +
                                  cursor.kind_here());
        }
        cursor.advance();
        level = Level::Top;
        return Step::Ok;
    }
    bool closed = expect == Expect::First && cursor.peek() == '}';
    if (closed) {
        cursor.advance();
    } else if (expect == Expect::Separator) {
        bool more = false;
        CUDAENV_STEP(cursor.separator('}', more));
        expect = Expect::Member;
        closed = !more;
    } else {
        return level == Level::Top ? top_member(cursor) : record(cursor, begin);
    }
    if (closed) {
        level = level == Level::Section ? Level::Top : Level::Ended;
        expect = Expect::Separator;
    }
    return Step::Ok;
}

// As many steps as the text allows; answers how much of it is done with.
std::size_t RepodataScan::State::run(std::span<const char> text) {
    const char* begin = text.data();
    JsonCursor cursor(begin, begin + text.size());
    const char* done = begin;
    for (;;) {
        const Step result = step(cursor, begin);
        if (result == Step::NeedMore) {
            break;
        }
        if (result == Step::Bad) {
            fault.offset = consumed + static_cast<std::uint64_t>(cursor.fault_at() - begin);
            fault.what = cursor.fault();
            failed = true;
            break;
        }
        fault.record.clear();
        done = cursor.at();
    }
    return static_cast<std::size_t>(done - begin);
}

std::size_t RepodataScan::State::run_pending() {
    const std::size_t done = run(pending);
    consumed += done;
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(done));
    retry_at = done > 0 ? 0 : pending.size() * 2;
    return done;
}

RepodataScan::RepodataScan() : m_state(std::make_unique<State>()) {}
RepodataScan::~RepodataScan() = default;

bool RepodataScan::feed(std::span<const char> window) {
    State& state = *m_state;
    if (state.failed) {
        return false;
    }
    while (!state.pending.empty() && !window.empty()) {
        // Only as much as should complete the member that was cut, so that the rest is not copied;
        // where that is not enough, twice as much, so that a long member is begun again only a few
        // times.
        const std::size_t goal = std::max(state.retry_at, state.pending.size() + 4096);
        const std::size_t taken = std::min(goal - state.pending.size(), window.size());
        state.pending.insert(state.pending.end(), window.begin(),
                             window.begin() + static_cast<std::ptrdiff_t>(taken));
        window = window.subspan(taken);
        if (state.pending.size() < state.retry_at) {
            return true;
        }
        const std::size_t done = state.run_pending();
        if (state.failed) {
            return false;
        }
        if (done > 0 && state.pending.size() <= taken) {
            // What is left is the end of this very window: go on in place.
            window = {window.data() - state.pending.size(), window.size() + state.pending.size()};
            state.pending.clear();
        }
    }
    if (!window.empty()) {
        const std::size_t done = state.run(window);
        state.consumed += done;
        state.pending.assign(window.begin() + static_cast<std::ptrdiff_t>(done), window.end());
    }
    return !state.failed;
}

std::optional<IndexBuilder::Tables> RepodataScan::finish() {
    State& state = *m_state;
    if (!state.failed && !state.pending.empty()) {
        state.run_pending();
    }
    if (state.failed) {
        return std::nullopt;
    }
    if (state.level != Level::Ended) {
        state.failed = true;
        state.fault.truncated = true;
        state.fault.offset = state.consumed + state.pending.size();
        state.fault.what = state.fault.offset == 0 || state.level == Level::Outside
                               ? "the file is empty"
                               : "the file ends in the middle";
        return std::nullopt;
    }
    return state.builder.finish(state.subdir, state.base_url,
                                state.consumed + state.pending.size());
}

const RepodataFault& RepodataScan::fault() const {
    return m_state->fault;
}

} // namespace cudaenv::channels
