# One interface target that every target of ours links: warnings, sanitizers, include root.
add_library(cudaenv_options INTERFACE)
target_include_directories(cudaenv_options INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(cudaenv_options INTERFACE
    # gcc 12 sees overlaps in std::string that are not there (GCC PR 105651), and values of tl::expected
    # that nothing wrote; both only in optimised builds.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Werror)
# A unity build compiles several sources as one: what each has for itself is then beside the others'.
target_compile_options(cudaenv_options INTERFACE
    $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-shadow> $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-subobject-linkage>)
# A program holds only the functions that it calls.
target_compile_options(cudaenv_options INTERFACE
    $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)
target_link_options(cudaenv_options INTERFACE $<$<CONFIG:Release>:-Wl,--gc-sections>)
if(CUDAENV_SANITIZE)
    target_compile_options(cudaenv_options INTERFACE
        -fsanitize=${CUDAENV_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    if(CUDAENV_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Asio has fences beside its locks; the sanitizer sees the locks.
        target_compile_options(cudaenv_options INTERFACE -Wno-tsan)
    endif()
    if(CUDAENV_SANITIZE_WITHOUT)
        # Before every pointer's use: a quarter of the time that compiling takes. A null pointer is the
        # address sanitizer's find too; the fuzz preset has them all.
        target_compile_options(cudaenv_options INTERFACE -fno-sanitize=${CUDAENV_SANITIZE_WITHOUT})
    endif()
    target_link_options(cudaenv_options INTERFACE -fsanitize=${CUDAENV_SANITIZE})
endif()
if(CUDAENV_FUZZ)
    # Coverage feedback in every library of ours; only the targets themselves link the fuzzer.
    target_compile_options(cudaenv_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CUDAENV_COVERAGE)
    target_compile_options(cudaenv_options INTERFACE --coverage)
    target_link_options(cudaenv_options INTERFACE --coverage)
endif()

find_program(CUDAENV_CCACHE ccache)
if(CUDAENV_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${CUDAENV_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CUDAENV_CCACHE}")
endif()

# What the static client links. It runs for milliseconds, so its size costs more than its speed.
set(CUDAENV_CLIENT_LIBRARIES base protocol patch hooks pins cli)

# cudaenv_library(NAME sources... ): a static library of ours, `cudaenv_NAME`.
function(cudaenv_library name)
    add_library(cudaenv_${name} STATIC ${ARGN})
    target_link_libraries(cudaenv_${name} PUBLIC cudaenv_options)
    if(name IN_LIST CUDAENV_CLIENT_LIBRARIES)
        target_compile_options(cudaenv_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
    endif()
endfunction()
