# What conda, pip and CUDA did to one environment: the rules of `cudaenv check`.
cudaenv_library(check
    ${CMAKE_CURRENT_LIST_DIR}/check.cpp
    ${CMAKE_CURRENT_LIST_DIR}/../constraints.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cuda_builds.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cuda_copies.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cuda_fit.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cuda_libraries.cpp
    ${CMAKE_CURRENT_LIST_DIR}/cudnn_parts.cpp
    ${CMAKE_CURRENT_LIST_DIR}/duplicates.cpp
    ${CMAKE_CURRENT_LIST_DIR}/evidence.cpp
    ${CMAKE_CURRENT_LIST_DIR}/extensions.cpp
    ${CMAKE_CURRENT_LIST_DIR}/file_kind.cpp
    ${CMAKE_CURRENT_LIST_DIR}/finding_text.cpp
    ${CMAKE_CURRENT_LIST_DIR}/foreign_modules.cpp
    ${CMAKE_CURRENT_LIST_DIR}/install_text.cpp
    ${CMAKE_CURRENT_LIST_DIR}/conda_leftovers.cpp
    ${CMAKE_CURRENT_LIST_DIR}/leftovers.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lost_files.cpp
    ${CMAKE_CURRENT_LIST_DIR}/missing_nvcc.cpp
    ${CMAKE_CURRENT_LIST_DIR}/module_names.cpp
    ${CMAKE_CURRENT_LIST_DIR}/origin.cpp
    ${CMAKE_CURRENT_LIST_DIR}/outdated_constraints.cpp
    ${CMAKE_CURRENT_LIST_DIR}/overwrites.cpp
    ${CMAKE_CURRENT_LIST_DIR}/overwritten.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ownership.cpp
    ${CMAKE_CURRENT_LIST_DIR}/parties.cpp
    ${CMAKE_CURRENT_LIST_DIR}/repairs.cpp
    ${CMAKE_CURRENT_LIST_DIR}/replaced.cpp
    ${CMAKE_CURRENT_LIST_DIR}/stale_builds.cpp
    ${CMAKE_CURRENT_LIST_DIR}/torch_family.cpp
    ${CMAKE_CURRENT_LIST_DIR}/torch_pairing.cpp)
target_link_libraries(cudaenv_check PUBLIC cudaenv_base cudaenv_facts cudaenv_knowledge
                      PRIVATE cudaenv_pins cudaenv_specs fmt::fmt)
