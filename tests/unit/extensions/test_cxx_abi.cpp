#include "check/extensions/torch_libraries.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace cudaenv::extensions {
namespace {

TEST_CASE("torch's symbols are recognised by their first name") {
    CHECK(is_symbol_of_torch("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"));
    CHECK(is_symbol_of_torch("_ZNK3c104Type3strEv"));
    CHECK(is_symbol_of_torch("_ZN2at4_ops5zeros4callEN3c108ArrayRefIlEE"));
    CHECK(is_symbol_of_torch("_ZTVN5torch8autograd4NodeE"));
    CHECK(is_symbol_of_torch("_ZTIN3c105ErrorE"));
    CHECK(is_symbol_of_torch("_ZGVN6caffe28TypeMeta5dummyE"));
    CHECK(is_symbol_of_torch("_Z16THPVariable_WrapN2at10TensorBaseE"));
    CHECK_FALSE(is_symbol_of_torch("_Z11my_functionRKN2at6TensorE"));
    CHECK_FALSE(is_symbol_of_torch("_ZN2my2at4callEv"));
    CHECK_FALSE(is_symbol_of_torch("_ZNSt6vectorIN2at6TensorESaIS1_EED1Ev"));
    CHECK_FALSE(is_symbol_of_torch("cudaMalloc"));
    CHECK_FALSE(is_symbol_of_torch("_Z"));
    CHECK_FALSE(is_symbol_of_torch("_ZN"));
    CHECK_FALSE(is_symbol_of_torch(""));
}

TEST_CASE("the other ABI's name begins alike up to the first string") {
    const auto of_new =
        under_other_abi("_ZN3c104failEPKcRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
    REQUIRE(of_new.beginnings.size() == 1);
    CHECK(of_new.beginnings[0] == "_ZN3c104failEPKcRKSs");
    const auto of_old = under_other_abi("_ZN3c104failEPKcRKSs");
    CHECK(std::ranges::find(of_old.beginnings, "_ZN3c104failEPKcRKNSt7__cxx1112basic_string") !=
          of_old.beginnings.end());
}

TEST_CASE("a function that returns a string has a tag under one ABI alone") {
    const auto tagged = under_other_abi("_ZNK3c104Type3strB5cxx11Ev");
    CHECK(tagged.names == std::vector<std::string>{"_ZNK3c104Type3strEv"});
    const auto plain = under_other_abi("_ZNK3c104Type3strEv");
    CHECK(std::ranges::find(plain.names, "_ZNK3c104Type3strB5cxx11Ev") != plain.names.end());
}

TEST_CASE("a name without strings has no other") {
    const auto other = under_other_abi("cudaMalloc");
    CHECK(other.names.empty());
    CHECK(other.beginnings.empty());
}

} // namespace
} // namespace cudaenv::extensions
