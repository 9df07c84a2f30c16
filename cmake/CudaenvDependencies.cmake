# Third-party libraries, found once. Each is used in the adapters that docs/architecture.md names.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(simdjson REQUIRED)
find_package(zstd REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(Threads REQUIRED)

# The archive rather than the shared library: cudaenvd starts at prompts, and a library more to load costs time.
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY NAMES libre2.a re2 REQUIRED)
add_library(re2_static INTERFACE)
target_include_directories(re2_static SYSTEM INTERFACE "${RE2_INCLUDE_DIR}")
target_link_libraries(re2_static INTERFACE "${RE2_LIBRARY}" Threads::Threads)

# The archive, since the static client links base/.
find_path(YAML_INCLUDE_DIR yaml.h REQUIRED)
find_library(YAML_LIBRARY NAMES libyaml.a yaml REQUIRED)
add_library(yaml_static INTERFACE)
target_include_directories(yaml_static SYSTEM INTERFACE "${YAML_INCLUDE_DIR}")
target_link_libraries(yaml_static INTERFACE "${YAML_LIBRARY}")

# libsolv with the conda feature: built by packaging/libsolv.sh, or a system one that has it.
set(CUDAENV_LIBSOLV_ROOT "${CMAKE_SOURCE_DIR}/build/deps/libsolv" CACHE PATH
    "prefix of a libsolv built with ENABLE_CONDA")
find_path(LIBSOLV_INCLUDE_DIR solv/solver.h HINTS "${CUDAENV_LIBSOLV_ROOT}/include")
find_library(LIBSOLV_LIBRARY NAMES libsolv.a solv HINTS "${CUDAENV_LIBSOLV_ROOT}/lib"
             "${CUDAENV_LIBSOLV_ROOT}/lib64")
if(NOT LIBSOLV_INCLUDE_DIR OR NOT LIBSOLV_LIBRARY)
    message(FATAL_ERROR "libsolv not found: run packaging/libsolv.sh")
endif()
file(STRINGS "${LIBSOLV_INCLUDE_DIR}/solv/solvversion.h" _solv_conda REGEX "define LIBSOLV_FEATURE_CONDA")
if(NOT _solv_conda)
    message(FATAL_ERROR "${LIBSOLV_INCLUDE_DIR} is a libsolv without the conda feature: run packaging/libsolv.sh")
endif()
add_library(libsolv_conda INTERFACE)
target_include_directories(libsolv_conda SYSTEM INTERFACE "${LIBSOLV_INCLUDE_DIR}")
target_compile_definitions(libsolv_conda INTERFACE LIBSOLV_SOLVABLE_PREPEND_DEP)
target_link_libraries(libsolv_conda INTERFACE "${LIBSOLV_LIBRARY}")
