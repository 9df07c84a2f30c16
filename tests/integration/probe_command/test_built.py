#!/usr/bin/env python3
"""`cudaenv probe --build` where what was built is run: by the nvcc of this machine over a stand-in
driver and runtime, and by a script in nvcc's place whose programs end in every other way. And the
same through torch.

The torch here is a stub: `import torch` of a real one is 3 GB of CUDA libraries and half a minute for each
test. It is a package of that name with what the extension needs of it: `torch.utils.cpp_extension.load`
calls nvcc and the host compiler that the environment gives, as torch's does, and refuses with the words
of torch 2's; `torch.zeros` is memory that the stand-in driver takes for its own."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import unittest
from pathlib import Path

from test_building import BuildingTest
from support import run_tests

# Its output is a program that does what DOES says.
WRITING_NVCC = """#!/bin/sh
test "$1" = --version && exit 0
printf '%%s\\n' "$*" >"$HOME/asked"
cat >"$3" <<'END'
#!/bin/sh
%s
END
chmod +x "$3"
"""

# Compiles the extension's device half with the host's compiler: nvcc SOURCE -c OBJECT. Programs only
# say that they went well.
COMPILING_NVCC = """#!/bin/sh
test "$1" = --version && exit 0
if [ "$2" != -c ]; then
    printf '#!/bin/sh\\necho ok\\n' >"$3" && chmod +x "$3"
    exit
fi
echo "nvcc $*" >>"$HOME/asked"
grep -q 'values\\[i\\] += 1.0f' "$1" || exit 1
exec c++ -x c++ -fPIC -c -o "$3" - <<'END'
int launch_add_one(float* values, int count) {
    for (int i = 0; i < count; ++i) values[i] += %s;
    return %d;
}
END
"""

RUNTIME_HEADER = """#pragma once
enum cudaError_t { cudaSuccess, cudaErrorNoKernelImageForDevice = 209 };
inline const char* cudaGetErrorName(cudaError_t) { return "cudaErrorNoKernelImageForDevice"; }
"""

TORCH = """import ctypes
from torch import version
__version__ = version.__version__
class cuda:
    @staticmethod
    def is_available():
        return %s
class Values(list):
    def __init__(self, count):
        self.memory = (ctypes.c_float * count)()
    def sum(self):
        return sum(self.memory)
def zeros(count, device):
    assert device == "cuda"
    return Values(count)
"""

# The words of its refusals are torch's.
CPP_EXTENSION = """import ctypes, os, shutil, subprocess, sys
from torch import version
CUDA_HOME = os.environ.get("CUDA_HOME")
REFUSES = %r
RUNTIME = %r  # where the runtime is that is linked; empty: nvcc is a script, and there is none
def load(name, sources, build_directory):
    if REFUSES:
        raise RuntimeError(REFUSES)
    for warning in %r:
        print(warning, file=sys.stderr)
    include = os.path.join(os.path.dirname(os.path.dirname(__file__)), "include")
    objects = []
    for source in sources:
        made = os.path.join(build_directory, os.path.basename(source) + ".o")
        if source.endswith(".cu"):
            command = [os.path.join(CUDA_HOME, "bin", "nvcc"), source, "-c", made]
            if RUNTIME:
                command = [command[0], source, "-c", "-o", made, "-Xcompiler", "-fPIC"] + [
                    "-gencode=arch=compute_{0},code=sm_{0}".format(one.replace(".", ""))
                    for one in os.environ["TORCH_CUDA_ARCH_LIST"].split(";")]
        else:
            command = [os.environ.get("CXX", "c++"), "-fPIC", "-c", source, "-o", made, "-I", include,
                       "-I", os.path.join(CUDA_HOME, "include"), "-DTORCH_EXTENSION_NAME=" + name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError("Error building extension '%%s': %%s" %% (name, done.stdout))
        objects.append(made)
    library = os.path.join(build_directory, name + ".so")
    subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-o", library, *objects,
                    *(["-Wl,--disable-new-dtags,-rpath=" + RUNTIME,
                       "-L" + os.path.join(CUDA_HOME, "lib64"), "-lcudart"]
                      if RUNTIME else [])], check=True)
    loaded = ctypes.CDLL(library)
    loaded.call.restype = ctypes.c_char_p
    class module:
        @staticmethod
        def add_one(values):
            error = loaded.call(values.memory, len(values.memory))
            if error:
                raise RuntimeError(error.decode())
    return module
"""

TORCH_HEADER = """#pragma once
#include <cstdio>
#include <sstream>
#include <stdexcept>
namespace torch {
struct Tensor {
    float* values;
    long count;
    template <typename T> T* data_ptr() { return values; }
    long numel() const { return count; }
};
}
template <typename... Words> void refuse(const Words&... words) {
    std::ostringstream text;
    (text << ... << words);
    throw std::runtime_error(text.str());
}
#define TORCH_CHECK(holds, ...) do { if (!(holds)) refuse(__VA_ARGS__); } while (false)
struct Module {
    void (*function)(torch::Tensor);
    void def(const char*, void (*given)(torch::Tensor)) { function = given; }
};
#define PYBIND11_MODULE(name, module)                                                              \\
    static void define(Module& module);                                                            \\
    extern "C" const char* call(float* values, int count) {                                        \\
        static char text[200];                                                                     \\
        Module made{};                                                                             \\
        define(made);                                                                              \\
        try {                                                                                      \\
            made.function({values, count});                                                        \\
        } catch (const std::exception& error) {                                                    \\
            std::snprintf(text, sizeof text, "%s", error.what());                                  \\
            return text;                                                                           \\
        }                                                                                          \\
        return nullptr;                                                                            \\
    }                                                                                              \\
    static void define(Module& module)
"""


def real_nvcc():
    """Its toolkit; None without a toolkit of CUDA 13, whose runtime the stand-in is named after."""
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(found) or not shutil.which("g++"):
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    home = Path(os.path.realpath(found)).parent.parent
    return home if "release 13." in said and (home / "lib64/libcudart.so").exists() else None


def real_toolkit(site):
    """What is linked takes the stand-in in `site` before the real runtime, which activation names: an
    old DT_RPATH comes before LD_LIBRARY_PATH."""
    path = f"{site}/nvidia/cu13/lib"
    return {"CUDA_HOME": str(real_nvcc()), "NVCC_APPEND_FLAGS": "-cudart shared -Xlinker "
            f"--disable-new-dtags -Xlinker -rpath -Xlinker {path}"}


class BuiltTest(BuildingTest):
    def take(self, nvcc):
        self.environment["CUDA_HOME"] = str(self.toolkit(nvcc))
        self.scenario("")  # with a GPU

    def build(self):
        probe, status = self.probe("--build")
        self.assertEqual(os.listdir(self.scratch), [])
        return self.step(probe, "build"), status


class Programs(BuiltTest):
    def run_program(self, does):
        self.take(WRITING_NVCC % does)
        return self.build()

    def check(self, does, code, *words):
        step, status = self.run_program(does)
        self.assertEqual((step["status"], step["code"], status), ("fails", code, 1), step)
        shown = " ".join([step["detail"], step["cause"], json.dumps(step["fix"])])
        for word in words:
            self.assertIn(word, shown)

    def test_one_that_says_ok_is_ok_and_was_compiled_for_this_gpu(self):
        step, status = self.run_program("echo begins; echo ok")
        self.assertEqual((step["status"], status), ("ok", 0), step)
        self.assertIn("-gencode arch=compute_90,code=sm_90",
                      (self.root / "home" / "asked").read_text())

    def test_one_that_is_wrong_is_reported_loudly(self):
        self.check("echo wrong element 7 is 14; exit 1", "CE336", "WRONG RESULT",
                   "element 7 is 14")

    def test_one_that_the_runtime_refuses_has_the_errors_own_code(self):
        self.check("echo failed cudaMalloc 35 cudaErrorInsufficientDriver; exit 1", "CE323", "35")
        shutil.rmtree(self.root / "toolkit")
        self.check("echo failed cudaGetLastError 222 cudaErrorUnsupportedPtxVersion; exit 1",
                   "CE330", "222")

    def test_what_only_looks_like_a_refusal_is_none(self):
        for does in ("echo failed; exit 1", "echo failed cudaMalloc; exit 1",
                     "echo failed cudaMalloc many cudaErrorUnknown; exit 1"):
            with self.subTest(does):
                shutil.rmtree(self.root / "toolkit", ignore_errors=True)
                self.check(does, "CE363", "failed")

    def test_one_that_ends_well_without_saying_ok_is_not_ok(self):
        for does in ("exit 0", "echo fine", "echo ok; echo not quite"):
            with self.subTest(does):
                shutil.rmtree(self.root / "toolkit", ignore_errors=True)
                self.check(does, "CE363")

    def test_one_that_says_ok_and_fails_is_not_ok(self):
        self.check("echo ok; exit 3", "CE363")

    def test_one_that_crashes_is_reported_with_its_signal(self):
        self.check("kill -SEGV $$", "CE363", "signal 11")

    def test_one_whose_library_is_missing_is_reported_with_it(self):
        self.check("echo 'program: error while loading shared libraries: libcudart.so.13: cannot "
                   "open shared object file: No such file or directory' >&2; exit 127",
                   "CE341", "the built program does not load: libcudart.so.13 is not found")


@unittest.skipUnless(real_nvcc(), "no nvcc of CUDA 13 with a g++ here: install its toolkit")
class RealNvcc(BuiltTest):
    """The program itself, compiled and linked against the runtime that is the stand-in's here."""

    def setUp(self):
        super().setUp()
        self.scenario("")
        self.environment |= real_toolkit(self.site)
        self.environment["VIRTUAL_ENV"] = str(self.prefix)
        for file in self.site.glob("torch*"):
            shutil.rmtree(file)
        self.install_runtime(13, self.site / "nvidia" / "cu13" / "lib")

    def test_its_kernel_is_run_and_what_it_computed_compared(self):
        step, status = self.build()
        self.assertEqual((step["status"], status), ("ok", 0), step)
        self.assertIn("nvcc 13.", step["detail"])
        self.assertIn("cuLaunchKernel", self.calls())
        for text, code, words in (("cuLaunchKernel wrong name _Z5scalePKfPfif", "CE336",
                                   "element 500 is 1001"),
                                  ("cuLaunchKernel 209 name _Z5scalePKfPfif", "CE328", "209"),
                                  ("cuLaunchKernel fault 700 name _Z5scalePKfPfif", "CE334",
                                   "700")):
            with self.subTest(text):
                self.scenario(text)
                step, status = self.build()
                self.assertEqual((step["status"], step["code"], status), ("fails", code, 1), step)
                self.assertIn(words, step["detail"])


class TorchTest(BuiltTest):
    def take_torch(self, refuses="", warns=(), sees_gpu=True, cuda="13.0",
                   runtime=""):
        self.environment["VIRTUAL_ENV"] = str(self.prefix)
        if not (self.prefix / "bin").exists():
            (self.prefix / "bin").mkdir()
            (self.prefix / "bin" / "python").symlink_to(sys.executable)
            home = os.path.dirname(os.path.realpath(sys.executable))
            (self.prefix / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.2\n")
            of_this = self.prefix / "lib" / f"python{sysconfig.get_python_version()}"
            if not of_this.exists():
                of_this.symlink_to("python3.11")
        torch = self.site / "torch"
        (torch / "utils").mkdir(exist_ok=True)
        (torch / "include" / "torch").mkdir(parents=True, exist_ok=True)
        (torch / "version.py").write_text(f"__version__ = '2.11.0'\ncuda = {cuda!r}\n")
        (torch / "__init__.py").write_text(TORCH % sees_gpu)
        (torch / "utils" / "__init__.py").touch()
        (torch / "utils" / "cpp_extension.py").write_text(
            CPP_EXTENSION % (refuses, runtime, list(warns)))
        (torch / "include" / "torch" / "extension.h").write_text(TORCH_HEADER)
        self.install_runtime(13, self.site / "nvidia" / "cu13" / "lib")

    def take_nvcc(self, added="1.0f", error=0):
        self.take(COMPILING_NVCC % (added, error))
        (self.root / "toolkit" / "include" / "cuda_runtime_api.h").write_text(RUNTIME_HEADER)

    def extension(self):
        before = set(self.prefix.rglob("*"))
        probe, status = self.probe("--build")
        self.assertEqual(os.listdir(self.scratch), [])
        self.assertEqual(set(self.prefix.rglob("*")) - before, set())  # no bytecode either
        return self.step(probe, "torch-extension"), status


@unittest.skipUnless(shutil.which("c++"), "no c++ here: install a C++ compiler")
class TorchExtension(TorchTest):
    def setUp(self):
        super().setUp()
        self.take_nvcc()

    def check(self, code, *words):
        step, status = self.extension()
        self.assertEqual((step["status"], step["code"], status), ("fails", code, 1), step)
        shown = " ".join([step["detail"], step["cause"], json.dumps(step["fix"])])
        for word in words:
            self.assertIn(word, shown)

    def test_it_is_built_with_the_environments_nvcc_and_run(self):
        self.take_torch()
        step, status = self.extension()
        self.assertEqual((step["status"], status), ("ok", 0), step)
        self.assertIn("extension.cu -c ", (self.root / "home" / "asked").read_text())

    def test_a_wrong_sum_is_reported_loudly(self):
        self.take_torch()
        shutil.rmtree(self.root / "toolkit")
        self.take_nvcc("2.0f")
        self.check("CE336", "WRONG RESULT", "the sum is 2000, not 1000")

    def test_a_launch_that_is_refused_has_the_errors_own_code(self):
        self.take_torch()
        shutil.rmtree(self.root / "toolkit")
        self.take_nvcc(error=209)
        self.check("CE328", "kernel launch: error 209")

    def test_torchs_own_words_are_the_cause(self):
        for words, code, shown in (
                ("The detected CUDA version (13.0) mismatches the version that was used to compile\n"
                 "PyTorch (11.8). Please make sure to use the same CUDA versions.", "CE365",
                 "nvcc is for CUDA 13.0"),
                ("CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
                 "CE367", "torch finds no nvcc"),
                ("Ninja is required to load C++ extensions (pip install ninja to get it)", "CE371",
                 "pip install ninja"),
                ("Error building extension 'cudaenv_trial': fatal error: Python.h: No such file or "
                 "directory", "CE372", "python3-dev"),
                ("ImportError: libcudnn.so.9: cannot open shared object file: No such file or "
                 "directory", "CE341", "the built program does not load: libcudnn.so.9 is not found"),
                ("Error building extension 'cudaenv_trial': error: an unknown word", "CE369",
                 "an unknown word")):
            with self.subTest(code):
                self.take_torch(words)
                self.check(code, shown)

    def test_what_the_compiler_said_is_the_cause(self):
        self.take_torch()
        nvcc = self.root / "toolkit" / "bin" / "nvcc"
        nvcc.write_text(nvcc.read_text().replace(
            "grep -q", "echo \"nvcc fatal : Unsupported gpu architecture 'compute_90'\"; exit 1; "))
        self.check("CE361", "compute_90")

    def test_another_minor_is_a_warning(self):
        self.take_torch(warns=["UserWarning: The detected CUDA version (13.0) has a minor version "
                               "mismatch with the version that was used to compile PyTorch (13.2)."],
                        cuda="13.2")
        step, status = self.extension()
        self.assertEqual((step["status"], step["code"], status), ("warns", "CE366", 0), step)
        self.assertIn("torch for 13.2", step["detail"])

    def test_where_torch_sees_no_gpu_it_is_built_and_not_run(self):
        self.take_torch(sees_gpu=False)
        step, status = self.extension()
        self.assertEqual((step["status"], status), ("skipped", 0), step)
        self.assertIn("builds it; not run: torch.cuda.is_available() is False", step["detail"])

    def test_where_the_driver_shows_no_gpu_it_is_built_and_not_run(self):
        self.take_torch(sees_gpu=False)
        self.scenario("cuInit 100")
        step, status = self.extension()
        self.assertEqual((step["status"], status), ("skipped", 1), step)
        self.assertIn("not run: no GPU was found here", step["detail"])

    def test_a_torch_that_does_not_import_is_reported_with_its_words(self):
        self.take_torch()
        (self.site / "torch" / "__init__.py").write_text("import nothing_of_that_name\n")
        self.check("CE374", "nothing_of_that_name")

    def test_a_torch_without_cuda_is_not_tried_and_said_to_be_that(self):
        self.take_torch(cuda=None)
        step, _ = self.extension()
        self.assertEqual((step["status"], step["code"]), ("skipped", "CE368"), step)
        self.assertIn("CPU build", step["detail"])

    def test_an_environment_without_torch_has_no_such_rung(self):
        self.take_torch()
        for file in self.site.glob("torch*"):
            shutil.rmtree(file)
        probe, status = self.probe("--build")
        self.assertEqual(status, 0, probe)
        self.assertEqual([step for step in probe["steps"] if step["name"] == "torch-extension"], [])

    def test_the_users_own_architectures_stay(self):
        self.take_torch("The architectures are these.")
        code = self.site / "torch" / "utils" / "cpp_extension.py"
        code.write_text(code.read_text().replace("REFUSES)", "os.environ['TORCH_CUDA_ARCH_LIST'])"))
        self.check("CE369", "9.0")
        self.environment["TORCH_CUDA_ARCH_LIST"] = "8.6;9.0a"
        self.check("CE369", "8.6;9.0a")


@unittest.skipUnless(real_nvcc(), "no nvcc of CUDA 13 with a g++ here: install its toolkit")
class RealNvccForTorch(TorchTest):
    def test_the_extensions_own_kernel_is_compiled_and_run(self):
        self.scenario("")
        self.take_torch(runtime=f"{self.site}/nvidia/cu13/lib")
        self.environment |= real_toolkit(self.site)
        step, status = self.extension()
        self.assertEqual((step["status"], status), ("ok", 0), step)
        self.scenario("cuLaunchKernel 209 name _Z7add_onePfi")
        step, status = self.extension()
        self.assertEqual((step["status"], step["code"], status), ("fails", "CE328", 1), step)


if __name__ == "__main__":
    run_tests()
