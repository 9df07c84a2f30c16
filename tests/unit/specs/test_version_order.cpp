// The order of versions is one: every two compare, and the answers fit together.
#include "solver/specs/pep440.hpp"
#include "solver/specs/version.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <string>
#include <vector>

using cudaenv::specs::Pep440Version;
using cudaenv::specs::Version;

namespace {

// Odd versions put together by a fixed sequence of numbers, so that every run sees the same.
class OddVersions {
public:
    std::vector<std::string> make(const std::vector<std::string>& pieces, std::size_t count) {
        std::vector<std::string> texts;
        while (texts.size() < count) {
            std::string text;
            const std::size_t length = 1 + next() % 6;
            for (std::size_t i = 0; i < length; ++i) {
                text += pieces[next() % pieces.size()];
            }
            texts.push_back(std::move(text));
        }
        return texts;
    }

private:
    std::size_t next() {
        m_state = m_state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(m_state >> 33U);
    }
    std::uint64_t m_state = 440;
};

template <typename Any>
void check_total_order(const std::vector<Any>& versions) {
    REQUIRE(versions.size() > 60);
    std::size_t broken = 0;
    for (const Any& a : versions) {
        for (const Any& b : versions) {
            broken += (a < b) != (b > a) || (a == b) != (b == a) || (a < b && a == b) ? 1U : 0U;
            for (const Any& c : versions) {
                if (a <= b && b <= c && !(a <= c)) {
                    ++broken;
                    UNSCOPED_INFO(a.str() << " <= " << b.str() << " <= " << c.str());
                }
                if (a == b && (a < c) != (b < c)) {
                    ++broken;
                    UNSCOPED_INFO(a.str() << " == " << b.str() << ", against " << c.str());
                }
            }
        }
    }
    CHECK(broken == 0);
}

template <typename Any>
std::vector<Any> read(const std::vector<std::string>& texts) {
    std::vector<Any> versions;
    for (const std::string& text : texts) {
        if (auto parsed = Any::parse(text)) {
            versions.push_back(std::move(*parsed));
        }
    }
    return versions;
}

} // namespace

TEST_CASE("conda's order over odd versions is total and transitive") {
    const std::vector<std::string> pieces = {
        "1",   "0",   "2",        "10",        "01",
        ".",   ".",   "_",        "a",         "b",
        "rc",  "dev", "post",     "+",         "!",
        "*",   "DEV", "abcdefgh", "abcdefghi", "99999999999999999999999",
        "1.2", ".0",  ".0"};
    check_total_order(read<Version>(OddVersions().make(pieces, 400)));
}

TEST_CASE("Python's order over odd versions is total and transitive") {
    const std::vector<std::string> pieces = {"1",
                                             "0",
                                             "2",
                                             "10",
                                             "1.0",
                                             ".0",
                                             "a1",
                                             "rc2",
                                             "b",
                                             ".dev",
                                             ".post",
                                             "-1",
                                             "1!",
                                             "+cu118",
                                             "+1",
                                             ".a",
                                             "99999999999999999999999"};
    check_total_order(read<Pep440Version>(OddVersions().make(pieces, 700)));
}
