# shellcheck shell=bash
# Sourced by the packaging scripts: from here on the system's own compiler, cmake and python are
# used. An active conda environment, a loaded module or CUDA's own variables would otherwise leak a
# second set of headers and libraries into the build.
case ${CUDAENV_SYSTEM_TOOLS:-} in
    "") ;;
    *) return 0 ;;
esac
export CUDAENV_SYSTEM_TOOLS=1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset CC CXX CPP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CMAKE_ARGS CMAKE_PREFIX_PATH CMAKE_GENERATOR \
    CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH PYTHONPATH PYTHONHOME
