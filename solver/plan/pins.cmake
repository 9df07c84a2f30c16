# Pins, project and config files: text in, values out.
cudaenv_library(pins
    ${CMAKE_CURRENT_LIST_DIR}/config.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pin_constraint.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pin_layers.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pins.cpp
    ${CMAKE_CURRENT_LIST_DIR}/printable.cpp
    ${CMAKE_CURRENT_LIST_DIR}/project_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/settings.cpp
    ${CMAKE_CURRENT_LIST_DIR}/toml_document.cpp
    ${CMAKE_CURRENT_LIST_DIR}/toml_edit.cpp
    ${CMAKE_CURRENT_LIST_DIR}/toml_layout.cpp)
target_link_libraries(cudaenv_pins PUBLIC cudaenv_base)
