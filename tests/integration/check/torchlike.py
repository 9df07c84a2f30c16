"""Wheels with the layout of torch's own and of its family, in small: real compiled libraries, whose symbols and
needs are those that matter."""

import functools
import subprocess
import sys
import tempfile
from pathlib import Path

TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
PLATFORM = f"{TAG}-{TAG}-linux_x86_64"
SUFFIX = f"cpython-{sys.version_info.major}{sys.version_info.minor}-x86_64-linux-gnu.so"
ABI_MARK = "-D_GLIBCXX_USE_CXX11_ABI="


@functools.lru_cache(maxsize=None)
def library(soname="", source="", needed=(), rpath=""):
    """The bytes of a shared library out of C++ source, whose needs are `needed`."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        stubs = []
        for name in needed:
            stub = root / name
            build(stub, "", name)
            stubs.append(str(stub))
        target = root / "made.so"
        build(target, source, soname, [*stubs, *([f"-Wl,-rpath,{rpath}"] if rpath else [])])
        return target.read_bytes()


def build(target, source, soname, libraries=()):
    subprocess.run(["g++", "-x", "c++", "-shared", "-fPIC", "-O0", "-nostdlib", "-s", "-o", str(target), "-",
                    *([f"-Wl,-soname,{soname}"] if soname else []), "-x", "none", "-Wl,--no-as-needed", *libraries],
                   input=source.encode(), check=True, capture_output=True)


# What extensions call, and what torch defines: one function of each library.
C10 = """
#include <cstddef>
namespace std { inline namespace __cxx11 { template <class> struct basic_string_of; } }
namespace c10 {
struct Warning { __attribute__((visibility("default"))) void now(); };
void Warning::now() {}
__attribute__((visibility("default"))) void %s(int) {}
}
namespace c10 { namespace detail {
__attribute__((visibility("default"))) void torchCheckFail(const char*, const char*, unsigned, const char*) {}
} }
"""
CPU = """
namespace at { __attribute__((visibility("default"))) int get_num_threads() { return 1; }
namespace _ops { struct zeros_like { __attribute__((visibility("default"))) static int call(int); };
int zeros_like::call(int x) { return x; } } }
"""
CUDA = """
namespace c10 { namespace cuda { __attribute__((visibility("default"))) int current_device() { return 0; } } }
"""
TORCH_CUDA = """
namespace at { namespace cuda { __attribute__((visibility("default"))) int warp_size() { return 32; } } }
"""
PYTHON = """
__attribute__((visibility("default"))) int THPVariable_Wrap(int x) { return x; }
"""


RPATH = ":".join(f"$ORIGIN/../../nvidia/{part}/lib" for part in ("cublas", "cuda_runtime", "cudnn", "nccl"))


def cuda_needs(cuda):
    major = cuda.split(".")[0]
    return f"libcudart.so.{'11.0' if major == '11' else major}"


def torch_files(version, cuda=None, added="of_this_release", libraries=()):
    """`cuda`: "12.8", None of a CPU build. `added`: a function c10::ADDED(int) that other releases lack. `libraries`:
    that libtorch_cuda.so needs beside the runtime."""
    files = {
        "torch/__init__.py": "from .version import __version__\n",
        "torch/version.py": "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version',"
                            f" 'hip']\n__version__ = '{version}'\ndebug = False\n"
                            f"cuda: Optional[str] = {cuda!r}\ngit_version = 'ba56102387ef21a3b04b357e5b183d48f0afefc7'\n"
                            "hip: Optional[str] = None\nxpu: Optional[str] = None\n",
        "torch/lib/libc10.so": library("libc10.so", C10 % added),
        "torch/lib/libtorch_cpu.so": library("libtorch_cpu.so", CPU, ("libc10.so",)),
        "torch/lib/libtorch.so": library("libtorch.so", "", ("libtorch_cpu.so",)),
        "torch/lib/libtorch_python.so": library("libtorch_python.so", PYTHON, ("libtorch_cpu.so",)),
        f"torch/_C.{SUFFIX}": library("", "extern \"C\" void* PyInit__C() { return 0; }", ("libtorch_python.so",)),
        "torch/nn/__init__.py": "", "torch/_inductor/__init__.py": "", "torch/py.typed": "",
    }
    if cuda:
        files["torch/lib/libc10_cuda.so"] = library("libc10_cuda.so", CUDA, ("libc10.so", cuda_needs(cuda)))
        files["torch/lib/libtorch_cuda.so"] = library("libtorch_cuda.so", TORCH_CUDA, ("libc10_cuda.so",
                                                                                       cuda_needs(cuda), *libraries),
                                                        RPATH)
    return files


def torch_requires(cuda=None):
    if not cuda:
        return ["filelock", "typing-extensions>=4.10.0"]
    major = cuda.split(".")[0]
    mark = '; platform_system == "Linux" and platform_machine == "x86_64"'
    return ["filelock", f"nvidia-cuda-runtime-cu{major}=={cuda}.90{mark}", f"nvidia-cudnn-cu{major}==9.10.2.21{mark}",
            f"nvidia-nccl-cu{major}==2.27.3{mark}"]


CALL = """
namespace c10 { void %s(int); namespace detail { void torchCheckFail(const char*, const char*, unsigned, const char*); } }
namespace at { int get_num_threads(); }
extern "C" __attribute__((visibility("default"))) void* PyInit_%s() {
    c10::%s(1); if (at::get_num_threads() == 0) { c10::detail::torchCheckFail("", "", 1, ""); } return 0;
}
"""
CALL_CUDA = """
extern "C" int cudaGetDevice(int*);
namespace c10 { namespace cuda { int current_device(); } }
extern "C" int uses_cuda() { int x = 0; return cudaGetDevice(&x) + c10::cuda::current_device(); }
"""


def extension(module, asks="of_this_release", cuda=None):
    """A compiled module that calls c10::ASKS(int)."""
    needs = ("libc10.so", "libtorch.so", "libtorch_cpu.so", "libtorch_python.so")
    source = CALL % (asks, module, asks)
    if cuda:
        needs += (cuda_needs(cuda), "libc10_cuda.so")
        source += CALL_CUDA
    return library("", source, needs)


def torchvision_files(version, cuda=None, asks="of_this_release"):
    return {"torchvision/__init__.py": "from .extension import _HAS_OPS\n",
            "torchvision/extension.py": "_HAS_OPS = True\n",
            "torchvision/version.py": f"__version__ = '{version}'\ngit_version = 'x'\n"
                                      "from torchvision.extension import _check_cuda_version\n"
                                      "if _check_cuda_version() > 0:\n    cuda = _check_cuda_version()\n",
            "torchvision/_C.so": extension("_C", asks, cuda)}


def torchaudio_files(version, cuda=None, asks="of_this_release"):
    return {"torchaudio/__init__.py": "", "torchaudio/version.py": f"__version__ = '{version}'\ngit_version = 'x'\n",
            "torchaudio/lib/libtorchaudio.so": extension("_torchaudio", asks, cuda)}


PARTNERS = {"2.8.0": ("0.23.0", "2.8.0"), "2.7.1": ("0.22.1", "2.7.1")}


def make_family(home, torch="2.8.0", cuda="12.8"):
    """torch of one release, torchvision and torchaudio of the same build, as wheels of `home`; what pip has to be asked
    for to get them. c10::in_2_8_0(int) is what 2.8.0 alone has, and its partners call it."""
    local = f"+cu{cuda.replace('.', '')}" if cuda else "+cpu"
    own = "in_" + torch.replace(".", "_")
    vision, audio = PARTNERS[torch]
    home.wheel("torch", torch + local, torch_files(torch + local, cuda, own), torch_requires(cuda), PLATFORM)
    home.wheel("torchvision", vision + local, torchvision_files(vision + local, cuda, own), [f"torch=={torch}"], PLATFORM)
    home.wheel("torchaudio", audio + local, torchaudio_files(audio + local, cuda, own), [f"torch=={torch}"], PLATFORM)
    return [f"torch=={torch}{local}", f"torchvision=={vision}{local}", f"torchaudio=={audio}{local}"]


def nvidia_files(part, libraries, extra=None):
    """As NVIDIA's wheels have it: nvidia/PART/lib/SONAME."""
    files = {"nvidia/__init__.py": "", f"nvidia/{part}/__init__.py": "", f"nvidia/{part}/lib/__init__.py": ""}
    for soname, text in libraries.items():
        files[f"nvidia/{part}/lib/{soname}"] = library(soname, f'extern "C" const char* text = "{text}";')
    files.update(extra or {})
    return files


CUDNN_PARTS = ["", "_adv", "_cnn", "_engines_precompiled", "_engines_runtime_compiled", "_graph", "_heuristic", "_ops"]


def cudnn_files(version, only=None):
    major, minor, patch = version.split(".")[:3]
    header = (f"#define CUDNN_MAJOR {major}\n#define CUDNN_MINOR {minor}\n#define CUDNN_PATCHLEVEL {patch}\n")
    return nvidia_files("cudnn", {f"libcudnn{part}.so.{major}": f"{part} {version}" for part in only or CUDNN_PARTS},
                        {"nvidia/cudnn/include/cudnn_version.h": header,
                         f"nvidia/cudnn/include/cudnn_version_v{major}.h": header})


def nccl_files(version, cuda):
    return nvidia_files("nccl", {"libnccl.so.2": f"NCCL version {version}+cuda{cuda}"},
                        {"nvidia/nccl/include/nccl.h": "#define NCCL_MAJOR {}\n#define NCCL_MINOR {}\n"
                                                       "#define NCCL_PATCH {}\n".format(*version.split("."))})


def runtime_files(cuda):
    soname = cuda_needs(cuda)
    major, minor = cuda.split(".")
    return nvidia_files("cuda_runtime", {soname: f"cudart {cuda}"},
                        {"nvidia/cuda_runtime/include/cuda_runtime_api.h":
                         f"#define CUDART_VERSION {int(major) * 1000 + int(minor) * 10}\n",
                         "nvidia/cuda_runtime/include/cuda.h": f"#define CUDA_VERSION {cuda}\n"})
