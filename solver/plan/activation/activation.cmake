# What a shell is to be: which CUDA, which toolkit, and the patch that makes it so. Asks the tables of
# data/, so the static client has none of it.
cudaenv_library(activation
    ${CMAKE_CURRENT_LIST_DIR}/build_variables.cpp
    ${CMAKE_CURRENT_LIST_DIR}/choice.cpp
    ${CMAKE_CURRENT_LIST_DIR}/composition.cpp
    ${CMAKE_CURRENT_LIST_DIR}/directories.cpp
    ${CMAKE_CURRENT_LIST_DIR}/host_compiler.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quiet_line.cpp
    ${CMAKE_CURRENT_LIST_DIR}/remedy.cpp
    ${CMAKE_CURRENT_LIST_DIR}/situation.cpp
    ${CMAKE_CURRENT_LIST_DIR}/toolkit_match.cpp)
target_link_libraries(cudaenv_activation
    PUBLIC cudaenv_base cudaenv_patch cudaenv_pins
    PRIVATE cudaenv_facts cudaenv_knowledge fmt::fmt)
