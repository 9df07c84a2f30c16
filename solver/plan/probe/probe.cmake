# What the rungs of the probe mean.
cudaenv_library(judge
    ${CMAKE_CURRENT_LIST_DIR}/details.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_build.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_busy.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_closed.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_code.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_driver.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_ending.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_error.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_family.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_libcuda.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_library.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_no_device.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_other_libcuda.cpp
    ${CMAKE_CURRENT_LIST_DIR}/explain_runtime.cpp
    ${CMAKE_CURRENT_LIST_DIR}/judge.cpp
    ${CMAKE_CURRENT_LIST_DIR}/judge_rung.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ladder.cpp
    ${CMAKE_CURRENT_LIST_DIR}/packages.cpp
    ${CMAKE_CURRENT_LIST_DIR}/scene.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verdict.cpp)
target_link_libraries(cudaenv_judge PUBLIC cudaenv_base cudaenv_facts cudaenv_knowledge
                      PRIVATE cudaenv_pins fmt::fmt)
