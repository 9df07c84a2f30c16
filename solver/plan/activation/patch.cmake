# What is changed in an environment and how it is taken back: nothing but base and zlib below it, so that the
# static client leaves an environment by itself.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
cudaenv_library(patch
    ${CMAKE_CURRENT_LIST_DIR}/direnv_diff.cpp
    ${CMAKE_CURRENT_LIST_DIR}/journal.cpp
    ${CMAKE_CURRENT_LIST_DIR}/journal_compare.cpp
    ${CMAKE_CURRENT_LIST_DIR}/managed.cpp
    ${CMAKE_CURRENT_LIST_DIR}/patch.cpp
    ${CMAKE_CURRENT_LIST_DIR}/update.cpp)
target_link_libraries(cudaenv_patch PUBLIC cudaenv_base PRIVATE ZLIB::ZLIB)
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/update.cpp")
    target_sources(cudaenv_patch PRIVATE ${CMAKE_CURRENT_LIST_DIR}/update.cpp)
endif()
