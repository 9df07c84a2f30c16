#include "host/modulefile.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

using Paths = std::vector<std::string>;

TEST_CASE("a Tcl modulefile that sets CUDA_HOME through a variable is read") {
    CHECK(parse_modulefile("#%Module1.0\n"
                           "## CUDA 11.3\n"
                           "proc ModulesHelp { } {\n    puts stderr \"CUDA\"\n}\n"
                           "set version 11.3\n"
                           "set root   \"/opt/cuda/$version\"  ; # here\n"
                           "setenv CUDA_HOME $root\n"
                           "prepend-path PATH ${root}/bin\n",
                           "/usr/share/modules/cuda/11.3") == Paths{"/opt/cuda/11.3"});
}

TEST_CASE("a Tcl modulefile that only extends PATH gives the parent of bin") {
    CHECK(parse_modulefile("#%Module\n"
                           "set base /apps/cuda\n"
                           "prepend-path PATH [file join $base [module-info version] bin]\n"
                           "prepend-path LD_LIBRARY_PATH $base/lib64\n",
                           "/m/cuda/12.4") == Paths{"/apps/cuda/12.4"});
}

TEST_CASE("a Lua modulefile is read") {
    CHECK(parse_modulefile("help([[CUDA]])\n"
                           "local version = myModuleVersion()\n"
                           "local base = pathJoin(\"/sw/cuda\", version)\n"
                           "-- setenv(\"CUDA_HOME\", \"/wrong\")\n"
                           "setenv(\"CUDA_HOME\", base)\n"
                           "prepend_path(\"PATH\", pathJoin(base, \"bin\"))\n",
                           "/sw/modules/cuda/12.1.lua") == Paths{"/sw/cuda/12.1"});
    CHECK(parse_modulefile("prepend_path{\"PATH\", \"/x/bin\"}\n"
                           "local r = '/sw/' .. myModuleName() .. \"-\" .. (\"11\" .. \".8\")\n"
                           "prepend_path('PATH', r .. '/bin', ':')\n",
                           "/m/cuda/11.8.lua") == Paths{"/sw/cuda-11.8"});
}

TEST_CASE("what a modulefile computes in other ways stays unknown") {
    CHECK(parse_modulefile("#%Module\nsetenv CUDA_HOME [exec find-cuda]\n", "/m/cuda/1").empty());
    CHECK(parse_modulefile("#%Module\nsetenv CUDA_HOME $env(HOME)/cuda\n", "/m/cuda/1").empty());
    CHECK(parse_modulefile("setenv(\"CUDA_HOME\", os.getenv(\"X\"))\n", "/m/cuda/1.lua").empty());
    CHECK(parse_modulefile("setenv(\"CUDA_HOME\", pathJoin(unknown, \"x\"))\n", "/m/c/1.lua")
              .empty());
    CHECK(parse_modulefile("#%Module\nsetenv CUDA_HOME relative/path\n", "/m/cuda/1").empty());
}

TEST_CASE("a file that is no modulefile, or a broken one, gives nothing") {
    CHECK(parse_modulefile("setenv CUDA_HOME /opt/cuda\n", "/m/cuda/README").empty());
    CHECK(parse_modulefile("", "/m/cuda/1.lua").empty());
    for (const auto* text : {"setenv(\"CUDA_HOME\"", "setenv(\"CUDA_HOME\", \"/x", "setenv(,)",
                             "= = =", "local", "local x =", "((((((((((("}) {
        INFO(text);
        CHECK(parse_modulefile(text, "/m/cuda/1.lua").empty());
    }
    for (const auto* text : {"set", "set x", "setenv CUDA_HOME {/x", "setenv CUDA_HOME [[[",
                             "setenv CUDA_HOME ${x", "prepend-path PATH \"/x/bin"}) {
        INFO(text);
        CHECK(parse_modulefile(std::string("#%Module\n") + text, "/m/cuda/1").size() <= 1);
    }
    CHECK(parse_modulefile("x = " + std::string(100000, '('), "/m/cuda/1.lua").empty());
    CHECK(parse_modulefile("#%Module\nset x " + std::string(100000, '['), "/m/cuda/1").empty());
}

} // namespace
} // namespace cudaenv::host
