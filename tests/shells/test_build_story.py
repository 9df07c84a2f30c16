#!/usr/bin/env python3
"""The story that all of activation is for, on CPU alone: a project with a .cu file, an environment
whose torch says CUDA 11.8, a machine whose g++ is too new for nvcc 11.8.

By default `python setup.py build` fails; in the environment, with the hook, it succeeds, and what it
built runs. nvcc 11.8, its headers and its runtime are real; torch is only its metadata and the
version.py that says which CUDA it was built with, as no build of it is small.

usage: test_build_story.py --cudaenv FILE --cudaenvd FILE
Status 77: what it needs is not here, with the reason.
"""

import re
import shutil
import subprocess
import sys

import driver
import play
import scene
import toolkits

# Does as torch.utils.cpp_extension does: nvcc of CUDA_HOME compiles with CC, and CXX links.
SETUP = """\
import os, shlex, subprocess
from setuptools import Command, setup


class build_cuda(Command):
    user_options = []

    def initialize_options(self):
        pass

    def finalize_options(self):
        pass

    def run(self):
        home = os.environ["CUDA_HOME"]
        command = [os.path.join(home, "bin", "nvcc"), "-c", "-gencode", "arch=compute_70,code=sm_70",
                   "-Xcompiler", "-fPIC", "-o", "saxpy.o", "saxpy.cu"]
        if compiler := os.environ.get("CC"):
            command += ["-ccbin", shlex.split(compiler)[-1]]
        subprocess.run(command, check=True)
        linker = shlex.split(os.environ.get("CXX", "g++"))
        library = os.path.join(home, "lib64")
        subprocess.run([*linker, "-shared", "-o", "libsaxpy.so", "saxpy.o", "-L" + library,
                        "-Wl,-rpath," + library, "-lcudart"], check=True)


setup(name="saxpy", version="1", cmdclass={"build_cuda": build_cuda}, py_modules=[])
"""
SAXPY = """\
#include <algorithm>
#include <vector>
__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { y[i] += a * x[i]; }
}
// The runtime is asked, so that it is loaded; what it finds here does not matter.
extern "C" int version() { int count = 0; cudaGetDeviceCount(&count); return CUDART_VERSION; }
extern "C" int launch() {
    std::vector<float> values(4, 1.0f);
    float *x = nullptr, *y = nullptr;
    if (cudaMalloc(&x, 16) != cudaSuccess || cudaMalloc(&y, 16) != cudaSuccess) { return -1; }
    saxpy<<<1, 4>>>(4, 2.0f, x, y);
    return static_cast<int>(cudaDeviceSynchronize());
}
"""
USE = "import ctypes; library = ctypes.CDLL('./libsaxpy.so'); print('runtime', library.version())"


def default_compiler():
    try:
        text = subprocess.run(["/usr/bin/g++", "-dumpfullversion"], capture_output=True, text=True)
        return int(text.stdout.split(".")[0])
    except (OSError, ValueError, IndexError):
        return None


def main():
    options = scene.arguments(__doc__, shells=False).parse_args()
    default = default_compiler()
    if default is None or default <= 11:
        scene.skip(f"the default g++ is {default}: nvcc 11.8 refuses 12 and newer only")
    if not any(shutil.which(f"g++-{major}") for major in range(6, 12)):
        scene.skip("no g++ that nvcc 11.8 accepts is here (Debian package g++-11)")
    try:
        toolkits.toolkit("11.8")
    except toolkits.Unavailable as reason:
        scene.skip(f"nvcc 11.8 cannot be had: {reason}")

    failures = []
    with scene.prepared(options, odd=False) as world:
        environment = world.root / "envs/t118"
        try:
            toolkits.said([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet",
                           "--python", str(environment / "bin/python"), "install", "setuptools"])
        except toolkits.Unavailable as reason:
            scene.skip(f"setuptools comes from PyPI: {reason}")
        project = world.root / "projects/saxpy"
        project.mkdir()
        (project / "setup.py").write_text(SETUP)
        (project / "saxpy.cu").write_text(SAXPY)

        def story(hooked, *before):
            """Status and output of the build, and of the use of what it built."""
            (project / "libsaxpy.so").unlink(missing_ok=True)
            world.write_rc_files(hooked)
            with play.Play(world, "bash", hooked) as playing:
                playing.play(["activate t118", "cd saxpy", *before])
                playing.settle()
                built = playing.shell.run("python setup.py build_cuda", deadline=300)
                used = playing.shell.run(f"python -c \"{USE}\"")
                return built, used

        home = world.root / "toolkits/cuda-11.8"
        built, used = story(False, f"export CUDA_HOME {home}")
        if built.status == 0 or not re.search(r"unsupported GNU version", built.said):
            failures.append(f"by default the build was to fail for g++ {default}, but ended with "
                            f"{built.status}:\n{built.said[-800:]}")
        if used.status == 0:
            failures.append("by default there is a library")
        built, used = story(True)
        if built.status != 0:
            failures.append(f"activated, the build failed with {built.status}:\n{built.said[-1500:]}")
        elif "runtime 11080" not in used.said:
            failures.append(f"what was built does not run: {used.said[-800:]}")
    for failure in failures:
        print(f"FAILED: {failure}")
    if not failures:
        print(f"g++ {default} by default: refused by nvcc 11.8; activated: built and loaded")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
