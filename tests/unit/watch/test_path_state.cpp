#include "host/watch/path_state.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cudaenv::watch {
namespace {

using test::TemporaryTree;

constexpr std::int64_t k_second = 1'000'000'000;
constexpr std::time_t k_day = 86400;

struct stat status_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status;
}

std::int64_t time_of(const std::string& path) {
    const auto status = status_of(path);
    return std::int64_t{status.st_mtim.tv_sec} * k_second + status.st_mtim.tv_nsec;
}

void set_times(const std::string& path, std::time_t accessed, timespec modified) {
    timespec access{};
    access.tv_sec = accessed;
    const std::array<timespec, 2> times{access, modified};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0);
}

void set_modified(const std::string& path, std::int64_t ns) {
    timespec time{};
    time.tv_sec = static_cast<std::time_t>(ns / k_second);
    time.tv_nsec = static_cast<long>(ns % k_second);
    set_times(path, 0, time);
}

// A runtime directory.
struct Place {
    TemporaryTree tree;
    std::string directory = tree.directory("runtime");
    Place() { REQUIRE(::chmod(directory.c_str(), 0700) == 0); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    [[nodiscard]] std::size_t stamps() const {
        const std::filesystem::directory_iterator all(directory);
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
};

PathState at(std::int64_t ns) {
    return {"/some/path", ns};
}

TEST_CASE("a change of one nanosecond, forwards or backwards, is a change") {
    TemporaryTree tree;
    host::DiskFileSystem files;
    const auto path = tree.file("file", "");
    constexpr std::int64_t k_time = 1'600'000'000'123'456'789;
    set_modified(path, k_time);
    const auto before = observe(files, path);
    REQUIRE(before.modified_ns == k_time);
    CHECK_FALSE(changed(files, {before}));
    for (const std::int64_t by : {1, -1}) {
        set_modified(path, k_time + by);
        CHECK(changed(files, {before}));
    }
    set_modified(path, k_time);
    CHECK_FALSE(changed(files, {before}));
}

TEST_CASE("appearing and vanishing are changes, staying absent is not") {
    TemporaryTree tree;
    host::DiskFileSystem files;
    const auto path = tree.path() + "/file";
    const auto absent = observe(files, path);
    CHECK_FALSE(absent.modified_ns);
    CHECK_FALSE(changed(files, {absent}));
    tree.file("file", "");
    CHECK(changed(files, {absent}));
    const auto present = observe(files, path);
    REQUIRE(::unlink(path.c_str()) == 0);
    CHECK(changed(files, {present}));
    CHECK_FALSE(changed(files, {absent}));
    CHECK_FALSE(changed(files, {}));
}

TEST_CASE("a file made in a directory changes the directory; one of several is enough") {
    TemporaryTree tree;
    host::DiskFileSystem files;
    const auto meta = tree.directory("conda-meta");
    const auto other = tree.directory("other");
    set_modified(meta, 5 * k_second);
    const std::vector<PathState> states = {observe(files, other), observe(files, meta)};
    CHECK_FALSE(changed(files, states));
    tree.file("conda-meta/pytorch-1.12.1-cuda112py39.json", "{}");
    CHECK(changed(files, states));
}

TEST_CASE("a time is settled once later changes must differ from it") {
    constexpr std::int64_t k_now = 1'600'000'000 * k_second;
    CHECK(is_settled(at(k_now - k_second), k_now));
    CHECK_FALSE(is_settled(at(k_now - 10'000'000), k_now));
    CHECK_FALSE(is_settled(at(k_now + k_second), k_now));
    CHECK(is_settled({"/missing", std::nullopt}, k_now));
    CHECK(is_settled(at(k_now + 3 * k_second), k_now)); // of another clock
}

TEST_CASE("for who compares seconds a time is settled once its second is over") {
    constexpr std::int64_t k_now = 1'600'000'000 * k_second + 500'000'000;
    CHECK(is_settled(at(1'600'000'000 * k_second - 1), k_now, Clock::Seconds));
    CHECK_FALSE(is_settled(at(1'600'000'000 * k_second), k_now, Clock::Seconds));
    CHECK(is_settled(at(1'600'000'000 * k_second), k_now));
    // The second has just begun, and the file's tick may not have.
    CHECK_FALSE(
        is_settled(at(1'600'000'000 * k_second - 1), 1'600'000'000 * k_second + 1, Clock::Seconds));
}

TEST_CASE("a stamp has the modification time of what it stands for, to the nanosecond") {
    Place place;
    for (const std::int64_t time : {std::int64_t{1'600'000'000'123'456'789},
                                    std::int64_t{1'600'000'000'000'000'001}, std::int64_t{0}}) {
        const auto stamp = stamp_of(place.directory, at(time));
        REQUIRE(stamp);
        CHECK(stamp->starts_with(place.directory + "/"));
        CHECK(time_of(*stamp) == time);
        CHECK((status_of(*stamp).st_mode & 07777) == 0600);
    }
    CHECK(place.stamps() == 3);
}

TEST_CASE("a stamp from before 1970 has the right time") {
    Place place;
    const auto stamp = stamp_of(place.directory, at(-1));
    REQUIRE(stamp);
    CHECK(time_of(*stamp) == -1);
}

TEST_CASE("the shell's own comparison with a stamp sees changes in both directions") {
    Place place;
    host::DiskFileSystem files;
    const auto path = place.tree.file("watched", "");
    constexpr std::int64_t k_time = 1'600'000'000'123'456'789;
    set_modified(path, k_time);
    const auto stamp = stamp_of(place.directory, observe(files, path));
    REQUIRE(stamp);
    const auto differs = [&] {
        const auto command = "bash -c 'test \"$1\" -nt \"$2\" || test \"$1\" -ot \"$2\"' - '" +
                             path + "' '" + *stamp + "'";
        const int status = std::system(command.c_str()); // NOLINT(concurrency-mt-unsafe)
        REQUIRE(WIFEXITED(status));
        REQUIRE(WEXITSTATUS(status) < 2);
        return WEXITSTATUS(status) == 0;
    };
    CHECK_FALSE(differs());
    set_modified(path, k_time + k_second);
    CHECK(differs());
    set_modified(path, k_time - k_second);
    CHECK(differs());
}

TEST_CASE("the same time is the same stamp, and asking again neither writes nor makes anything") {
    Place place;
    const auto stamp = stamp_of(place.directory, at(7 * k_second));
    REQUIRE(stamp);
    const auto before = status_of(*stamp);
    CHECK(stamp_of(place.directory, {"/another/path", 7 * k_second}) == stamp);
    const auto after = status_of(*stamp);
    CHECK(before.st_ino == after.st_ino);
    CHECK(before.st_ctim.tv_sec == after.st_ctim.tv_sec);
    CHECK(before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
    CHECK(place.stamps() == 1);
}

TEST_CASE("a stamp that somebody touched is made again with the right time") {
    Place place;
    const auto stamp = stamp_of(place.directory, at(7 * k_second));
    REQUIRE(stamp);
    set_modified(*stamp, 8 * k_second);
    CHECK(stamp_of(place.directory, at(7 * k_second)) == stamp);
    CHECK(time_of(*stamp) == 7 * k_second);
    CHECK(place.stamps() == 1);
}

TEST_CASE("a link in a stamp's place is replaced, and what it leads to stays as it was") {
    Place place;
    const auto stamp = stamp_of(place.directory, at(7 * k_second));
    REQUIRE(stamp);
    const auto victim = place.tree.file("victim", "text");
    set_modified(victim, 9 * k_second);
    REQUIRE(::unlink(stamp->c_str()) == 0);
    REQUIRE(::symlink(victim.c_str(), stamp->c_str()) == 0);
    CHECK(stamp_of(place.directory, at(7 * k_second)) == stamp);
    CHECK(S_ISREG(status_of(*stamp).st_mode));
    CHECK(time_of(victim) == 9 * k_second);
}

TEST_CASE("what is not there has no stamp") {
    Place place;
    CHECK_FALSE(stamp_of(place.directory, {"/missing", std::nullopt}));
    CHECK_FALSE(stamp_of(place.tree.path() + "/missing", at(k_second)));
}

TEST_CASE("a time that the file system cannot keep has no stamp, and nothing is left behind") {
    Place place;
    // The year 2262; file systems end in 2038, 2446 or later.
    const auto stamp = stamp_of(place.directory, at(std::numeric_limits<std::int64_t>::max()));
    if (stamp) {
        CHECK(time_of(*stamp) == std::numeric_limits<std::int64_t>::max());
    } else {
        CHECK(place.stamps() == 0);
    }
}

TEST_CASE("no stamps are made where others could change them") {
    Place place;
    const auto directory = place.tree.directory("open");
    REQUIRE(::chmod(directory.c_str(), 0770) == 0);
    CHECK_FALSE(stamp_of(directory, at(k_second)));
    const auto elsewhere = place.tree.directory("elsewhere");
    REQUIRE(::chmod(elsewhere.c_str(), 0700) == 0);
    const auto link = place.tree.link("link", elsewhere);
    CHECK_FALSE(stamp_of(link, at(k_second)));
    CHECK(std::filesystem::is_empty(elsewhere));
}

TEST_CASE("a directory that may not be written has no stamps") {
    TemporaryTree tree;
    const auto directory = tree.directory("runtime"); // root's
    const auto outcome = test::as_nobody(
        [&] { return std::string(stamp_of(directory, at(k_second)) ? "a stamp" : "none"); });
    CHECK(outcome == "none");
    CHECK(std::filesystem::is_empty(directory));
}

TEST_CASE("many asking for one stamp at once all get it, and never with another time") {
    Place place;
    std::vector<std::thread> threads;
    std::array<bool, 8> right{};
    for (std::size_t i = 0; i < right.size(); ++i) {
        threads.emplace_back([&, i] {
            bool all = true;
            for (std::int64_t n = 1; n <= 50; ++n) {
                const auto stamp = stamp_of(place.directory, at(n * k_second + n));
                struct stat status {};
                all = all && stamp && ::lstat(stamp->c_str(), &status) == 0 &&
                      status.st_mtim.tv_sec == n && status.st_mtim.tv_nsec == n;
            }
            right.at(i) = all;
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(std::all_of(right.begin(), right.end(), [](bool all) { return all; }));
    CHECK(place.stamps() == 50);
}

TEST_CASE("stamps that were not used for 30 days are pruned, those in use stay") {
    Place place;
    const auto forgotten = stamp_of(place.directory, at(1 * k_second));
    const auto recent = stamp_of(place.directory, at(2 * k_second));
    const auto used = stamp_of(place.directory, at(3 * k_second));
    const auto fresh = stamp_of(place.directory, at(4 * k_second));
    REQUIRE((forgotten && recent && used && fresh));
    const std::time_t now = std::time(nullptr);
    // What lies beside them is not theirs, and what a killed process left unfinished is.
    const std::array others{"cudaenvd.sock.lock", "1.5", "1.00000000x", "x.000000001",
                            ".000000001"};
    for (const char* name : others) {
        set_times(place.tree.file(std::string("runtime/") + name, ""), now - 31 * k_day, {1, 0});
    }
    const auto unfinished = place.tree.file("runtime/.1.000000000.0123456789abcdef.tmp", "");
    set_times(unfinished, now - 31 * k_day, {1, 0});
    set_times(*forgotten, now - 31 * k_day, {1, 0});
    set_times(*recent, now - 29 * k_day, {2, 0});
    set_times(*used, now - 31 * k_day, {3, 0});
    CHECK(stamp_of(place.directory, at(3 * k_second)) == used);
    CHECK(time_of(*used) == 3 * k_second);
    prune_stamps(place.directory);
    CHECK(::access(forgotten->c_str(), F_OK) != 0);
    CHECK(::access(recent->c_str(), F_OK) == 0);
    CHECK(::access(used->c_str(), F_OK) == 0);
    CHECK(::access(fresh->c_str(), F_OK) == 0);
    CHECK(::access(unfinished.c_str(), F_OK) != 0);
    for (const char* name : others) {
        CHECK(::access((place.directory + '/' + name).c_str(), F_OK) == 0);
    }
    CHECK(stamp_of(place.directory, at(1 * k_second)) == forgotten);
}

TEST_CASE("the first stamp that is made on a day removes the forgotten ones") {
    Place place;
    const auto forgotten = stamp_of(place.directory, at(1 * k_second));
    REQUIRE(forgotten);
    const std::time_t now = std::time(nullptr);
    set_times(*forgotten, now - 31 * k_day, {1, 0});
    REQUIRE(stamp_of(place.directory, at(2 * k_second)));
    CHECK(::access(forgotten->c_str(), F_OK) == 0);
    set_times(place.directory, now, {now - k_day, 0});
    REQUIRE(stamp_of(place.directory, at(3 * k_second)));
    CHECK(::access(forgotten->c_str(), F_OK) != 0);
}

TEST_CASE("pruning where nothing was stamped, or through a link, removes nothing") {
    Place place;
    prune_stamps(place.directory);
    prune_stamps(place.tree.path() + "/missing");
    const auto stamp = stamp_of(place.directory, at(k_second));
    REQUIRE(stamp);
    set_times(*stamp, 1, {1, 0});
    prune_stamps(place.tree.link("link", place.directory));
    CHECK(::access(stamp->c_str(), F_OK) == 0);
}

} // namespace
} // namespace cudaenv::watch
