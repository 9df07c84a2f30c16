#include "check/extensions/elf_file.hpp"
#include "host/file_system.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <dlfcn.h>
#include <fstream>
#include <gnu/libc-version.h>
#include <iterator>
#include <sys/stat.h>
#include <utility>

namespace cudaenv::extensions {
namespace {

// Of the C library that this test itself uses; by a function that no sanitizer puts its own before.
std::string libc_path() {
    Dl_info found{};
    REQUIRE(::dladdr(reinterpret_cast<const void*>(&::gnu_get_libc_version), &found) != 0);
    return found.dli_fname;
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string reason(std::string bytes) {
    const auto file = ElfFile::of_bytes(bytes);
    return file ? std::string() : file.error().message;
}

TEST_CASE("a real library's needs and definitions are those that the loader finds") {
    const auto file = ElfFile::open(libc_path());
    REQUIRE(file);
    CHECK(std::ranges::any_of(
        file->needed(), [](const std::string& needed) { return needed.starts_with("ld-linux"); }));
    for (const auto* name : {"fopen", "printf", "malloc", "qsort", "stdout"}) {
        CHECK(file->defines(name));
        CHECK(::dlsym(RTLD_DEFAULT, name) != nullptr);
    }
    for (const auto* name : {"no_such_function", "fopen_", "", "_ZN3c105ErrorC1Ev"}) {
        CHECK_FALSE(file->defines(name));
    }
    CHECK(file->defined_with_beginning("fope").starts_with("fopen"));
    CHECK(file->defined_with_beginning("no_such_f").empty());
}

TEST_CASE("this program wants what it uses of others") {
    const auto file = ElfFile::open("/proc/self/exe");
    REQUIRE(file);
    const auto wanted = file->undefined_symbols();
    REQUIRE(wanted);
    CHECK(std::ranges::find(*wanted, "dladdr") != wanted->end());
    CHECK(std::ranges::find(*wanted, "main") == wanted->end());
}

TEST_CASE("a file that is not an ELF file of this machine is refused with the reason") {
    CHECK(reason("") == "is not an ELF file");
    CHECK(reason("INPUT(-lfoo)\n") == "is not an ELF file");
    auto header = bytes_of(libc_path()).substr(0, 64);
    CHECK_FALSE(reason(header).empty());
    auto whole = bytes_of(libc_path());
    whole[18] = 40; // e_machine: 32-bit ARM
    whole[19] = 0;
    CHECK(reason(whole) == "is for another machine");
    whole[4] = 1; // ELFCLASS32
    CHECK_FALSE(reason(whole).empty());
}

TEST_CASE("a library that is cut short anywhere is read or refused") {
    const auto whole = bytes_of(libc_path());
    for (std::size_t size = 0; size < whole.size(); size += whole.size() / 50) {
        auto cut = whole.substr(0, size);
        if (const auto file = ElfFile::of_bytes(cut)) {
            CHECK_FALSE(file->defines("no_such_function"));
            (void)file->undefined_symbols();
        }
    }
    CHECK_FALSE(ElfFile::of_bytes(std::span<char>()));
}

TEST_CASE("a path that cannot be opened or is not a file is reported without waiting") {
    const test::TemporaryTree tree;
    const auto code = [](const std::string& path) {
        const auto file = ElfFile::open(path);
        return file ? std::string() : file.error().code;
    };
    CHECK(code(tree.path() + "/gone.so") == k_not_found);
    CHECK(code(tree.directory("directory.so")) == "not-a-file");
    REQUIRE(::mkfifo((tree.path() + "/pipe.so").c_str(), 0600) == 0);
    CHECK(code(tree.path() + "/pipe.so") == "not-a-file");
    CHECK(code(tree.link("loop.so", "loop.so")) == k_symlink_loop);
    CHECK(code(tree.file("empty.so", "")) == "not-elf");
}

TEST_CASE("a module that may not be read is reported") {
    const auto found = test::as_nobody([] {
        const test::TemporaryTree tree;
        const auto file = ElfFile::open(tree.file("closed.so", "x", 0000));
        return file ? std::string("read") : file.error().code;
    });
    CHECK(found == k_permission_denied);
}

} // namespace
} // namespace cudaenv::extensions
