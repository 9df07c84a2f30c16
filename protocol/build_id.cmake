# Run at every build: writes OUTPUT (build_id.cpp) with the revision of SOURCE_DIR, and leaves the file
# alone where nothing changed, so that only a new revision costs a compile.
set(revision "")
set(made 0)
find_program(git git)
if(git)
    execute_process(COMMAND ${git} -C "${SOURCE_DIR}" rev-parse --short=9 HEAD
        OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
        set(revision "+g${head}")
        execute_process(COMMAND ${git} -C "${SOURCE_DIR}" diff-index --quiet HEAD --
            OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE changed)
        if(changed)
            string(APPEND revision ".changed")
        endif()
        execute_process(COMMAND ${git} -C "${SOURCE_DIR}" log -1 --format=%ct
            OUTPUT_VARIABLE when OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
        if(NOT failed AND when MATCHES "^[0-9]+$")
            set(made ${when})
        endif()
    endif()
endif()
set(text "#include \"protocol/build_id.hpp\"\n
namespace cudaenv::protocol {\n
std::string_view version() { return \"${VERSION}\"; }
std::string_view build_id() { return \"${VERSION}${revision}\"; }\n
std::int64_t built() { return ${made}; }\n
} // namespace cudaenv::protocol\n")
set(before "")
if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
    file(WRITE "${OUTPUT}" "${text}")
endif()
