# kernels/device/ as one fatbin: machine code for each architecture that the nvcc at hand knows, and
# PTX of the lowest. Sets CUDAENV_FATBIN (the file that is built) and CUDAENV_FATBIN_DEFINITIONS, or
# neither where there is no nvcc that works with the host compiler. To do without:
# -DCMAKE_CUDA_COMPILER=NOTFOUND.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
    message(STATUS "cudaenv-probe: no nvcc that works here "
                   "(CMakeFiles/CMakeError.log); it will run its PTX only")
    return()
endif()
# nvcc's own default is only what the language is tried with.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES OFF)
endif()
enable_language(CUDA)

execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-code
                OUTPUT_VARIABLE _listed RESULT_VARIABLE _status ERROR_QUIET)
string(REGEX MATCHALL "sm_[0-9]+" _codes "${_listed}")
if(NOT _status EQUAL 0 OR NOT _codes OR NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    message(STATUS "cudaenv-probe: ${CMAKE_CUDA_COMPILER} lists no architectures (nvcc does since "
                   "11.0); it will run its PTX only")
    return()
endif()
list(TRANSFORM _codes REPLACE "sm_" "")
list(SORT _codes COMPARE NATURAL)
list(GET _codes 0 _lowest)
set(_generate "")
set(_capabilities "")
foreach(_code IN LISTS _codes)
    set(_makes "sm_${_code}")
    if(_code STREQUAL _lowest)
        set(_makes "[sm_${_code},compute_${_code}]")
    endif()
    list(APPEND _generate "-gencode=arch=compute_${_code},code=${_makes}")
    # 120 is 12.0: the minor is one digit.
    string(REGEX REPLACE "(.)$" ".\\1" _capability "${_code}")
    list(APPEND _capabilities "${_capability}")
endforeach()
list(JOIN _capabilities "," _capabilities)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _cuda "${CMAKE_CUDA_COMPILER_VERSION}")

set(_host_compiler "")
if(CMAKE_CUDA_HOST_COMPILER)
    set(_host_compiler "-ccbin=${CMAKE_CUDA_HOST_COMPILER}")
endif()
# Several architectures at once, where nvcc can.
set(_threads "")
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 11.2)
    set(_threads --threads 2)
endif()
set(CUDAENV_FATBIN "${CMAKE_CURRENT_BINARY_DIR}/probe_kernels.fatbin")
# None of the build's own flags: device code is the same under sanitizers. Uncompressed, because
# nvcc 13 compresses in a way that drivers before 12.4 cannot read.
add_custom_command(
    OUTPUT "${CUDAENV_FATBIN}"
    COMMAND "${CMAKE_CUDA_COMPILER}" -fatbin -std=c++17 -O3 ${_threads} --no-compress
            -Wno-deprecated-gpu-targets ${_host_compiler} ${_generate} "-I${CMAKE_SOURCE_DIR}"
            -MD -MF probe_kernels.fatbin.d
            -o "${CUDAENV_FATBIN}" "${CMAKE_CURRENT_SOURCE_DIR}/device/probe_kernels.cu"
    MAIN_DEPENDENCY device/probe_kernels.cu
    DEPENDS "${CMAKE_CUDA_COMPILER}"
    DEPFILE probe_kernels.fatbin.d
    COMMENT "Building the probe's kernels (sm_${_lowest} and newer) with CUDA ${_cuda}"
    VERBATIM)
set(CUDAENV_FATBIN_DEFINITIONS
    "CUDAENV_FATBIN=\"${CUDAENV_FATBIN}\"" "CUDAENV_MACHINE_CODE=\"${_capabilities}\""
    "CUDAENV_NVCC=\"${_cuda}\"")
list(JOIN _codes " " _words)
message(STATUS "cudaenv-probe: machine code for sm ${_words} (CUDA ${_cuda})")
