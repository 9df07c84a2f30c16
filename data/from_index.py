#!/usr/bin/env python3
"""Writes packages.json: what the CUDA world's Python packages require, release by release.

    python3 data/from_index.py [NAME ...] [--all] [--offline] [--cache DIR] [--out FILE]

It asks the index that pip is configured for, through pip's own session (index, proxy, certificates,
credentials), for the names of PROJECTS below and no others: one request at a time, the list of files of
each name, and of each release only the METADATA at the end of one wheel (range requests; pip's lazy
wheel) or the PKG-INFO at the start of an sdist. Releases that the table already has are not read again,
since a release does not change; their list of wheels is renewed. `--all` reads all of them, which a
change to PROJECTS needs that concerns METADATA (extras, gpu_text). What PROJECTS itself says of a release (gpu,
cuda, unstated, since) is rewritten in every row; `--offline` does only that.
`--cache DIR` keeps METADATA between runs. With NAMEs, only these are renewed.

Uses pip's internals: tried with pip 23.2 and 26.3. Python 3.9 or newer.
"""
import argparse
import collections
import datetime
import email
import hashlib
import json
import pathlib
import re
import sys
import tarfile
import zipfile

from pip._internal.commands.install import InstallCommand
from pip._internal.index.collector import parse_links
from pip._internal.models.link import Link
from pip._internal.network.lazy_wheel import LazyZipOverHTTP
from pip._vendor.packaging.markers import Marker
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
from pip._vendor.packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from pip._vendor.packaging.version import Version

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from from_facts import SOURCE_KEYS, Table  # noqa: E402

SOURCE_KEYS.update({
    "METADATA, read": "metadata", "PKG-INFO, read": "pkg-info", "METADATA and cpp_lib.json": "metadata+cpp_lib",
    "docs/bitsandbytes": "bitsandbytes", "docs.vllm.ai": "vllm", "vllm-project/vllm": "vllm-gpu",
    "onnxruntime.ai": "onnxruntime", "docs.jax.dev": "jax", "torch/_inductor": "inductor",
    "transformer-engine of the same": "transformer-engine", "pytorch_geometric": "pyg",
    "numpy/numpy#26191": "numpy-26191", "meta-pytorch/torchcodec": "torchcodec",
    "flash-attention README.md, Requirements": "flash-attn", "pytorch#132179": "torch-132179"})
SINCE = "2022-11-01"  # releases before are left out, but for a Project's own `published`
# What a marker is evaluated for. Variables that are not here (python_version, ...) stay in the marker.
LINUX = {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux",
         "platform_machine": "x86_64", "platform_python_implementation": "CPython",
         "implementation_name": "cpython", "platform_release": "", "platform_version": ""}
# Requirements on these are kept, and on every name of PROJECTS.
WORLD = re.compile(r"(nvidia|cuda|cupy|jax|torch|tensorflow|tensorrt|flashinfer|numba|rmm|pylibcudf|libcudf)"
                   r"(-.*)?|cupy-cuda.*|jaxlib|ml-dtypes|numpy|numba|keras|cutlass|pytorch-.*")
LEGACY_TAGS = {"manylinux1": "manylinux_2_5", "manylinux2010": "manylinux_2_12",
               "manylinux2014": "manylinux_2_17"}


class Project:
    """How one name is read.

    every: "release", or "minor" for the newest patch of each minor. newest: at most so many of these.
    published: releases before this date are left out.
    listed: False where the index does not have it. since: releases before are placeholders.
    undecided: pattern of requirements that a build decides, whatever PKG-INFO has.
    extras: pattern of the extras that are kept. needs: what a build needs. tools: distributions that a build
    without isolation imports, to be installed before. exact_nvcc: its build refuses an nvcc of another minor.
    gpu_text: (pattern in METADATA's description, compute capability); the first that is found counts.
    gpu, cuda, unstated: (first version, value, source), where METADATA does not say: least compute
    capability; CUDA that it is built for; a requirement. The last that begins at or before a version counts.
    """

    def __init__(self, every="release", newest=None, listed=True, since="0", published=SINCE, extras=None,
                 needs=(), tools=(), gpu_text=(), gpu=(), cuda=(), unstated=(), undecided=None, **facts):
        self.every, self.newest, self.listed, self.extras = every, newest, listed, extras
        self.since, self.published, self.undecided = Version(since), published, undecided
        self.needs, self.tools, self.facts = list(needs), list(tools), facts
        self.gpu_text, self.gpu, self.cuda, self.unstated = gpu_text, gpu, cuda, unstated


def documented(ranges, version):
    """(value, source) of the last range that begins at or before this version."""
    found = (None, None)
    for first, value, source in ranges:
        if version >= Version(first):
            found = (value, source)
    return found


TORCH_BUILD = ["nvcc", "torch", "--no-build-isolation", "MAX_JOBS"]
TOOLS = ["setuptools", "wheel", "packaging", "ninja"]  # of nearly every setup.py over torch/utils/cpp_extension.py
# Linux rows of "The following combinations are supported".
PYG_BUILDS = {"1.12": "cu113 cu116", "1.13": "cu116 cu117", "2.0": "cu117 cu118 cu121", "2.1": "cu118 cu121",
              "2.2": "cu118 cu121", "2.3": "cu118 cu121", "2.4": "cu118 cu121 cu124", "2.5": "cu118 cu121 cu124",
              "2.6": "cu118 cu124 cu126", "2.7": "cu118 cu126 cu128", "2.8": "cu126 cu128 cu129",
              "2.9": "cu126 cu128 cu130", "2.10": "cu126 cu128 cu130", "2.11": "cu126 cu128 cu130",
              "2.12": "cu126 cu130 cu132", "2.13": "cu126 cu130 cu132"}
PYG = dict(elsewhere="https://data.pyg.org/whl/torch-{torch_minor}.0+{tag}.html", builds=PYG_BUILDS,
           needs=["nvcc", "torch", "--no-build-isolation"], tools=["setuptools", "wheel"],
           note="The index has the source only. Wheels for each torch and CUDA are on the project's own page, "
                "for pip's -f.",
           source="pytorch_geometric docs/source/install/installation.rst; github.com/pyg-team/pyg-lib README.md "
                  "@06a3d5d8 and its later versions up to torch 2.13")
RAPIDS = dict(every="minor", newest=8, gpu=[("0", "7.0", "docs.rapids.ai/install: Volta or newer, since 24.02")],
              note="Up to 24.10 the index has a stub, which fetches the wheel from NVIDIA's own index.",
              source="cudf-cu12 24.4.1: PKG-INFO; 24.12.0: list of files")
RAPIDS_NAMES = "Not on the index under this name; each CUDA major has its own."
CUDA_PYTHON = "nvidia.github.io/cuda-python: cuda-bindings of a major is for CUDA of that major"
TENSORRT = "It requires the package of one CUDA major: tensorrt-cu12 before 10.13.3, tensorrt-cu13 since."
AMPERE = [(r"NVIDIA Ampere GPU architecture generations and later", "8.0")]
AMPERE_OF_CORE = [("0", "8.0", "transformer-engine of the same version: METADATA")]
LOOKS_FOR_WHEEL = ("The index has the source only. Its setup.py first looks for a wheel of the same torch, CUDA, "
                   "Python and C++ ABI among the project's releases, and builds where there is none.")
TORCHCODEC = "github.com/meta-pytorch/torchcodec @78ed5ad8 README.md, compatibility table"
CUPY = "docs.cupy.dev/en/stable/install.html; cupy-cuda12x 14.2.0: METADATA, extra ctk"
TORCH_TENSORRT = "github.com/pytorch/TensorRT: notes of the release"
AUTO_GPTQ = "github.com/AutoGPTQ/AutoGPTQ docs/INSTALLATION.md, wheels for PyTorch versions"
JAX = "docs.jax.dev/en/latest/installation.html"
JAX_RELEASES = "https://storage.googleapis.com/jax-releases/jax_cuda_releases.html"
ONNX = "onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html, requirements"
NUMPY_2 = "tensorflow/tensorflow#91042, #102743: compiled against NumPy 1"
PROTOBUF = "tensorflow/tensorflow#56266: the import fails with protobuf 4.21 (3.21 of its old numbers) and newer"
VLLM_GPU = "github.com/vllm-project/vllm @0487d5c2 docs/getting_started/installation/gpu.cuda.inc.md"
PROJECTS = {
    "torch": Project(unstated=[("0", "numpy<2", "pytorch/pytorch#132179: 2.3.0 is the first that supports NumPy 2"),
                               ("2.3", None, None)]),
    "torchvision": Project(),
    "torchaudio": Project(),
    "torchtext": Project(unstated=[("0.18", "torch==2.3.*", "pytorch/text#2272 and #2283: with torch 2.4 and newer "
                                                            "the import fails with an undefined symbol")],
                         note="0.18, for torch 2.3, is the last release.",
                         source="github.com/pytorch/text README: development is stopped; torchtext 0.18.0: METADATA"),
    "torchdata": Project(),
    "torchcodec": Project(unstated=[("0.0.3", "torch==2.4.*", TORCHCODEC), ("0.1", "torch==2.5.*", TORCHCODEC),
                                    ("0.2", "torch==2.6.*", TORCHCODEC), ("0.3", "torch==2.7.*", TORCHCODEC),
                                    ("0.6", "torch==2.8.*", TORCHCODEC), ("0.8", "torch==2.9.*", TORCHCODEC),
                                    ("0.10", "torch==2.10.*", TORCHCODEC), ("0.11", "torch==2.11.*", TORCHCODEC),
                                    ("0.12", "torch>=2.11", TORCHCODEC)]),
    "torchao": Project(every="minor"),
    "torch-tensorrt": Project(cuda=[("1.3", "11.7", TORCH_TENSORRT), ("1.4", "11.8", TORCH_TENSORRT),
                                    ("2.2", "12.1", TORCH_TENSORRT), ("2.4", None, None)]),
    "jax": Project(extras=r"cuda.*", cuda_extras=["cuda13", "cuda12"],
                   machine_libraries={"cuda12-local": "CUDA 12 and cuDNN 9", "cuda13-local": "CUDA 13 and cuDNN 9"},
                   note="Without an extra it is a CPU build.", source=JAX),
    "jaxlib": Project(extras=r"cuda.*", elsewhere=JAX_RELEASES,
                      note="Wheels that have CUDA inside, up to 0.4.29, are on JAX's own page, for pip's -f.",
                      source="jax-ml/jax README.md of 0.4.25, pip installation: GPU (CUDA, installed via pip)",
                      unstated=[("0", "numpy<2", "numpy/numpy#26191: JAX 0.4.26 is the first built against NumPy 2"),
                                ("0.4.26", None, None)]),
    "jax-cuda12-plugin": Project(extras=r"with[-_]cuda", gpu=[("0", "5.2", JAX)]),
    "jax-cuda12-pjrt": Project(),
    "jax-cuda13-plugin": Project(extras=r"with[-_]cuda", gpu=[("0", "7.5", JAX)]),
    "jax-cuda13-pjrt": Project(),
    "flax": Project(every="minor"),
    **{name: Project(every="minor", newest=8)
       for name in ("optax", "chex", "equinox", "numpyro", "dm-haiku", "orbax-checkpoint")},
    **{f"cupy-cuda{cuda}": Project() for cuda in ("102", "110", "111", "112", "113", "114", "115", "116", "117")},
    **{f"cupy-cuda{cuda}x": Project(extras="ctk", cuda_extras=["ctk"], without_extras="toolkit", source=CUPY)
       for cuda in ("11", "12", "13")},
    "cupy": Project(needs=["nvcc", "CUDA_PATH"],
                    wheels=[f"cupy-cuda{cuda}" for cuda in ("13x", "12x", "11x", "111", "110", "102")],
                    note="The index has the source only; cupy-cuda11x, -cuda12x and -cuda13x are its wheels.",
                    source="docs.cupy.dev/en/stable/install.html"),
    "triton": Project(gpu=[("2.0", "7.0", "torch/_inductor: Triton only supports devices of CUDA Capability >= 7.0")],
                      note="Its README names 8.0 and newer; torch.compile accepts 7.0 and newer.",
                      source="github.com/triton-lang/triton README.md, 2026-10"),
    "xformers": Project(needs=TORCH_BUILD, tools=TOOLS),
    "flash-attn": Project(newest=64, needs=TORCH_BUILD, tools=TOOLS + ["psutil"],
                          gpu_text=[(r"Turing(,| or) Ampere", "7.5"), (r"(?m)^1\. Ampere", "8.0")],
                          gpu=[("2", "8.0", "github.com/Dao-AILab/flash-attention README.md, Requirements: "
                                            "FlashAttention-2 with CUDA supports Ampere, Ada and Hopper")],
                          elsewhere="https://github.com/Dao-AILab/flash-attention/releases", note=LOOKS_FOR_WHEEL,
                          source="flash-attn 2.8.3: PKG-INFO and setup.py"),
    "flashinfer-python": Project(every="minor"),
    "sageattention": Project(every="minor"),
    "bitsandbytes": Project(gpu=[("0.41", "5.0", "huggingface.co/docs/bitsandbytes/v0.46.0/installation"),
                                 ("0.48", "6.0", "huggingface.co/docs/bitsandbytes/v0.48.1/installation")],
                            note="LLM.int8() needs 7.5 or newer.",
                            source="huggingface.co/docs/bitsandbytes/v0.50.0/installation"),
    "transformer-engine": Project(since="0.1", extras=r"pytorch|jax|core.*", cuda_extras=["pytorch", "jax"],
                                  needs=TORCH_BUILD + ["cudnn"],
                                  tools=TOOLS + ["pybind11"], gpu_text=AMPERE),
    "transformer-engine-cu12": Project(since="0.1", gpu_text=AMPERE),
    "transformer-engine-cu13": Project(since="0.1", gpu_text=AMPERE),
    "transformer-engine-torch": Project(
        since="0.1", undecided=r"transformer-engine-cu1\d", needs=TORCH_BUILD + ["cudnn"], tools=TOOLS + ["pybind11"], gpu=AMPERE_OF_CORE,
        note="Source only. Its build decides which core it requires: transformer-engine-cu12 or -cu13, of the same "
             "version, by the CUDA that it finds; PKG-INFO names that of the machine that packed it.",
        source="docs.nvidia.com/deeplearning/transformer-engine-releases/release-2.14/user-guide/installation.html"),
    "transformer-engine-jax": Project(newest=8, undecided=r"transformer-engine-cu1\d",
                                      needs=["nvcc", "jax", "--no-build-isolation", "MAX_JOBS", "cudnn"],
                                      tools=TOOLS + ["pybind11"],
                                      gpu=AMPERE_OF_CORE),
    "vllm": Project(
        since="0.2",
        gpu=[("0.2", "7.0", "docs.vllm.ai/en/v0.3.3 and v0.14.0: getting_started/installation"),
             ("0.20", "7.5", VLLM_GPU)],
        cuda=[("0.2.2", "12.1", "vllm-project/vllm#1596"), ("0.7", "12.4", "vllm-project/vllm#12098"),
              ("0.9", "12", "docs.vllm.ai/en/v0.14.0: 12.8"),
              ("0.20", "13", "vllm-project/router#154, vllm-project/vllm#47628")],
        unstated=[("0.9", "transformers<4.54.0", "vllm.ai/releases"), ("0.10", None, None)],
        elsewhere="https://github.com/vllm-project/vllm/releases",
        note="The index has one CUDA a release; the project's releases have wheels for others (+cu118, +cu129).",
        source="vllm-project/vllm#1596 and #42756"),
    "sglang": Project(newest=25, extras="srt"),
    "auto-gptq": Project(every="minor", since="0.5", cuda=[("0", "12.1", AUTO_GPTQ)],
                         unstated=[("0.5", "torch==2.1.*", AUTO_GPTQ), ("0.7", "torch==2.2.*", AUTO_GPTQ)]),
    "autoawq": Project(every="minor", since="0.2"),
    "gptqmodel": Project(every="minor", newest=8, needs=TORCH_BUILD, tools=TOOLS),
    "deepspeed": Project(needs=["torch"],
                         note="Installs without nvcc; its operators are built at first use, with nvcc of torch's CUDA.",
                         source="deepspeed 0.19.8: PKG-INFO"),
    "torch-scatter": Project(**PYG),
    "torch-sparse": Project(**PYG),
    "torch-cluster": Project(**PYG),
    "torch-spline-conv": Project(**PYG),
    "torch-geometric": Project(every="minor"),
    "pyg-lib": Project(listed=False, **{**PYG, "note": "Not on the index. Wheels for each torch and CUDA are on the "
                                                       "project's own page, for pip's -f."}),
    "mmcv": Project(every="minor", needs=TORCH_BUILD, tools=TOOLS,
                    elsewhere="https://download.openmmlab.com/mmcv/dist/{tag}/torch{torch_minor}/index.html",
                    note="The index has the source only. Wheels for some torch and CUDA are on the project's own page, "
                         "for pip's -f.",
                    source="github.com/open-mmlab/mmcv @058a3e8c docs/en/get_started/installation.md"),
    "detectron2": Project(listed=False, elsewhere="https://github.com/facebookresearch/detectron2",
                          needs=TORCH_BUILD, tools=TOOLS,
                          note="Not on the index: pip install git+https://github.com/facebookresearch/detectron2.git",
                          source="github.com/facebookresearch/detectron2 INSTALL.md"),
    "mamba-ssm": Project(needs=TORCH_BUILD, tools=TOOLS, elsewhere="https://github.com/state-spaces/mamba/releases",
                         note=LOOKS_FOR_WHEEL, source="github.com/state-spaces/mamba @014340f4 setup.py"),
    "causal-conv1d": Project(needs=TORCH_BUILD, tools=TOOLS, elsewhere="https://github.com/Dao-AILab/causal-conv1d/releases",
                             note=LOOKS_FOR_WHEEL, source="github.com/Dao-AILab/causal-conv1d setup.py"),
    "apex": Project(
        other_project=True, elsewhere="https://github.com/NVIDIA/apex", needs=TORCH_BUILD, tools=TOOLS,
        exact_nvcc=True, exact_nvcc_source="github.com/NVIDIA/apex @6424da3b setup.py, "
                                           "check_cuda_torch_binary_vs_bare_metal; NVIDIA/apex#323, #1748",
        note="The index's apex is a web toolkit. NVIDIA's is source only.",
        source="github.com/NVIDIA/apex @6424da3b README.md; apex on the index: PKG-INFO, summary"),
    "tinycudann": Project(listed=False, elsewhere="https://github.com/NVlabs/tiny-cuda-nn", needs=TORCH_BUILD, tools=TOOLS,
                          note="Not on the index: pip install git+https://github.com/NVlabs/tiny-cuda-nn/"
                               "#subdirectory=bindings/torch",
                          source="github.com/NVlabs/tiny-cuda-nn @02919511 README.md"),
    "tensorflow": Project(
        extras="and-cuda", published="2015-01-01",
        # Where METADATA has no upper bound; an older one is for Pythons that have neither NumPy 2 nor protobuf 4.
        unstated=[("1.13", "protobuf<3.21", PROTOBUF), ("2.6.5", None, None),
                  ("2.7", ["numpy<2", "protobuf<3.21"], f"{NUMPY_2}; {PROTOBUF}"), ("2.7.3", "numpy<2", NUMPY_2),
                  ("2.8", ["numpy<2", "protobuf<3.21"], f"{NUMPY_2}; {PROTOBUF}"), ("2.8.2", "numpy<2", NUMPY_2),
                  ("2.9", ["numpy<2", "protobuf<3.21"], f"{NUMPY_2}; {PROTOBUF}"), ("2.9.1", "numpy<2", NUMPY_2),
                  ("2.12", None, None), ("2.14", "numpy<2", NUMPY_2), ("2.14.1", None, None)]),
    "tensorflow-gpu": Project(note="Wheels end with 2.11.0; 2.12.0 refuses. Use tensorflow, which has been the same "
                                   "package since 2.1.",
                              source="tensorflow-gpu 2.12.0: PKG-INFO; list of files, read 2026-11-24"),
    "keras": Project(every="minor"),
    **{name: Project(listed=False, other_platform=platform, source=f"{name}: list of files, read 2026-11-25")
       for name, platform in (("tensorflow-metal", "a plugin for Apple GPUs, on macOS"),
                              ("tensorflow-macos", "a build for Apple's processors, on macOS"),
                              ("jax-metal", "a plugin for Apple GPUs, on macOS"),
                              ("tensorflow-rocm", "a ROCm build, for AMD GPUs"))},
    "onnxruntime-gpu": Project(extras="cuda|cudnn", cuda=[("1.11", "11.4", ONNX), ("1.13", "11.6", ONNX),
                                                          ("1.15", "11.8", ONNX), ("1.19", "12", ONNX)],
                               cpu_package="onnxruntime", cuda_extras=["cuda,cudnn"], without_extras="libraries",
                               note="cuDNN 8 up to 1.18, cuDNN 9 from 1.19.", source=ONNX),
    "numba": Project(every="minor"),
    "ml-dtypes": Project(),
    "numba-cuda": Project(every="minor", newest=12, extras=r"cu1.*", cuda_extras=["cu13", "cu12"],
                          without_extras="toolkit", source="numba-cuda 0.30.4: METADATA, extras"),
    "cuda-python": Project(every="minor", cuda=[("11", "11", CUDA_PYTHON), ("12", "12", CUDA_PYTHON),
                                                ("13", "13", CUDA_PYTHON)]),
    **{f"{name}-cu{cuda}": Project(**RAPIDS) for name in ("cudf", "cuml", "cugraph", "cuvs") for cuda in (12, 13)},
    **{name: Project(listed=False, wheels=[f"{name}-cu13", f"{name}-cu12"], note=RAPIDS_NAMES,
                     source="docs.rapids.ai/install, pip") for name in ("cudf", "cuml", "cugraph", "cuvs")},
    "faiss-gpu-cu12": Project(every="minor", cpu_package="faiss-cpu", source="faiss-gpu-cu12: list of files"),
    "faiss-gpu": Project(listed=False, wheels=["faiss-gpu-cu12"],
                         note="faiss-gpu on the index ended with 1.7.2, of 2022; faiss-gpu-cu12 is its successor.",
                         source="faiss-gpu and faiss-gpu-cu12: lists of files, read 2026-11-25"),
    "tensorrt": Project(every="minor", newest=12, wheels=["tensorrt-cu13", "tensorrt-cu12"], note=TENSORRT,
                        source="tensorrt 10.12.0 and 10.13.3: PKG-INFO"),
    "tensorrt-cu12": Project(every="minor", newest=12),
    "tensorrt-cu13": Project(every="minor", newest=12),
    "pytorch3d": Project(listed=False, elsewhere="https://github.com/facebookresearch/pytorch3d",
                         needs=TORCH_BUILD, tools=TOOLS,
                         note="Not on the index: pip install git+https://github.com/facebookresearch/pytorch3d.git@stable",
                         source="github.com/facebookresearch/pytorch3d INSTALL.md"),
    "pycuda": Project(every="minor", newest=4, needs=["nvcc"], source="github.com/inducer/pycuda doc/install.rst",
                      note="The index has the source only; conda-forge has it compiled."),
    "gsplat": Project(every="minor", newest=6, needs=["torch"], note="Its kernels are built at first use.",
                      source="github.com/nerfstudio-project/gsplat README.md"),
    "pytorch-lightning": Project(every="minor"),
    "lightning": Project(every="minor"),
    "accelerate": Project(every="minor", newest=24),
    "torchmetrics": Project(every="minor"),
    **{name: Project(every="minor", newest=6)
       for name in ("unsloth", "lmdeploy", "optimum", "open-clip-torch", "gpytorch", "fastai",
                    "torchdiffeq", "pyro-ppl")},
    "transformers": Project(every="minor", newest=24, extras="torch"),
    "diffusers": Project(every="minor", newest=24, extras="torch"),
    "timm": Project(every="minor"),
    "sentence-transformers": Project(every="minor", newest=16),
    "peft": Project(every="minor", newest=16),
    "trl": Project(every="minor", newest=24),
    **{name: Project(every="minor", newest=8)
       for name in ("ultralytics", "openai-whisper", "kornia", "stable-baselines3", "monai", "easyocr")},
    "numpy": Project(every="minor"),
    **{f"nvidia-{library}": Project(listed=False, wheels=[f"nvidia-{library}-cu{cuda}" for cuda in majors],
                                    note="Each CUDA major has its own.", source="lists of files, read 2026-11-25")
       for library, majors in (("cudnn", (13, 12, 11)), ("nccl", (13, 12)))},
    "nvidia-cudnn-cu11": Project(newest=24),
    "nvidia-cudnn-cu12": Project(newest=24),
    "nvidia-cudnn-cu13": Project(newest=24),
    "nvidia-nccl-cu12": Project(newest=24),
    "nvidia-nccl-cu13": Project(newest=24),
}

# How a package is built from its repository, by the first torch that a row is for.
APEX = "git+https://github.com/NVIDIA/apex"
BUILDS = [
    dict(name="apex", torch="1.0", requirement=f"{APEX}@22.03",
         options=["--global-option=--cpp_ext", "--global-option=--cuda_ext"],
         note="apex's current source requires torch 2.6 or newer. Tag 22.03, of February 2022, still has code for "
              "torch 1.0 to 1.5; apex names no tag for an older torch.",
         source="github.com/NVIDIA/apex tag 22.03: README.md and setup.py (VERSION_GE_1_1 to 1_5)"),
    dict(name="apex", torch="2.0", requirement=f"{APEX}@25.09", environment=["APEX_CPP_EXT=1", "APEX_CUDA_EXT=1"],
         note="apex's current source requires torch 2.6 or newer. Tag 25.09 is the last before that; apex names no tag "
              "for an older torch.",
         source="github.com/NVIDIA/apex @db8e053e requirements.txt (#1972); tag 25.09: setup.py, ENV_TO_FLAG"),
    dict(name="apex", torch="2.6", requirement=APEX, environment=["APEX_CPP_EXT=1", "APEX_CUDA_EXT=1"],
         source="github.com/NVIDIA/apex @6424da3b README.md, Using Environment Variables; requirements.txt"),
    dict(name="detectron2", torch="1.8", requirement="git+https://github.com/facebookresearch/detectron2.git",
         source="github.com/facebookresearch/detectron2 INSTALL.md"),
    dict(name="pyg-lib", torch="1.12", requirement="git+https://github.com/pyg-team/pyg-lib.git",
         source="github.com/pyg-team/pyg-lib README.md, From master"),
    dict(name="pytorch3d", torch="2.1", requirement="git+https://github.com/facebookresearch/pytorch3d.git@stable",
         source="github.com/facebookresearch/pytorch3d INSTALL.md"),
    dict(name="tinycudann", torch="1.0",
         requirement="git+https://github.com/NVlabs/tiny-cuda-nn/#subdirectory=bindings/torch",
         source="github.com/NVlabs/tiny-cuda-nn @02919511 README.md"),
]
# Which setuptools torch/utils/cpp_extension.py of a release imports, by the first torch that a row is for.
SETUPTOOLS = [
    dict(torch="1.0", requirement="setuptools<70",
         source="pypa/setuptools#4385: 70 removed packaging from pkg_resources, which torch imports before 2.2"),
    dict(torch="2.2", requirement="setuptools<82",
         source="nerfstudio-project/gsplat#899: 82 removed pkg_resources, which torch imports before 2.9"),
    dict(torch="2.9", requirement="setuptools", source="nerfstudio-project/gsplat#899"),
]


# --- the index ----------------------------------------------------------------------------------

class Index:
    def __init__(self, session, collector, cache):
        self.session, self.collector, self.cache = session, collector, cache

    def files(self, name):
        """{version: [(link, upload date or "")]} of what is not withdrawn."""
        found = collections.defaultdict(list)
        for url in self.collector.search_scope.get_index_urls_locations(name):
            page = self.collector.fetch_response(Link(url))
            if page is None:
                continue
            dates = {}
            if "json" in page.content_type:
                dates = {file["filename"]: file.get("upload-time", "")[:10]
                         for file in json.loads(page.content)["files"]}
            for link in parse_links(page):
                try:
                    if link.filename.endswith(".whl"):
                        version = parse_wheel_filename(link.filename)[1]
                    else:
                        version = parse_sdist_filename(link.filename)[1]
                except ValueError:
                    continue
                if link.yanked_reason is None:
                    found[version].append((link, dates.get(link.filename, "")))
        return found

    def metadata(self, link):
        """METADATA text of a wheel or an sdist, and the wheel's list of files."""
        key = hashlib.sha256(link.url_without_fragment.encode()).hexdigest()[:24]
        cached = self.cache / key if self.cache else None
        if cached and cached.exists():
            text, _, rest = cached.read_text(encoding="utf-8").partition("\0")
            return text, rest.split("\n")
        text, names = self._wheel(link) if link.is_wheel else (self._sdist(link), [])
        if cached:
            cached.write_text(text + "\0" + "\n".join(names), encoding="utf-8")
        return text, names

    def _wheel(self, link):
        with LazyZipOverHTTP(link.url_without_fragment, self.session) as file:
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
                member = next(n for n in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", n))
                text = archive.read(member).decode("utf-8", "replace")
                for extra in (n for n in names if n.endswith("/cpp_lib.json")):  # xformers' record of its build
                    text = f"X-Build: {json.dumps(json.loads(archive.read(extra)))}\n" + text
        return text, [n for n in names if re.search(r"cuda\d+[^/]*\.so$", n)]

    def _sdist(self, link):
        """PKG-INFO; where that has no requirements, with those of requires.txt."""
        information, required = "", None
        response = self.session.get(link.url_without_fragment, stream=True,
                                    headers={"Accept-Encoding": "identity"})
        response.raise_for_status()
        try:
            with tarfile.open(fileobj=response.raw, mode="r|*") as archive:
                for member in archive:
                    if re.fullmatch(r"([^/]+/)?PKG-INFO", member.name):
                        information = archive.extractfile(member).read().decode("utf-8", "replace")
                        if re.search(r"^Requires-Dist:", information, re.M):
                            break
                    elif re.fullmatch(r".*\.egg-info/requires\.txt", member.name):
                        required = archive.extractfile(member).read().decode("utf-8", "replace")
                    if information and required is not None:
                        break
        finally:
            response.close()
        return "".join(f"Requires-Dist: {line}\n" for line in of_requires_txt(required or "")) + information


def of_requires_txt(text):
    """setuptools' own form: sections [extra:marker] instead of markers."""
    condition = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        section = re.fullmatch(r"\[([^:\]]*)(?::(.*))?\]", line)
        if section:
            parts = [f"({section[2]})"] if section[2] else []
            parts += [f'extra == "{section[1]}"'] if section[1] else []
            condition = " and ".join(parts)
        elif condition:
            yield f"{line} and ({condition})" if ";" in line else f"{line} ; {condition}"
        else:
            yield line


# --- one release --------------------------------------------------------------------------------

def partial(node, environment):
    """A marker's value where the environment decides it, else the text that is left of it."""
    if isinstance(node, tuple):
        text = " ".join(part.serialize() for part in node)
        known = all(part.value in environment for part in (node[0], node[2])
                    if type(part).__name__ == "Variable")
        return Marker(text).evaluate(environment) if known else text
    alternatives = [[]]
    for part in node:
        if part == "or":
            alternatives.append([])
        elif part != "and":
            alternatives[-1].append(partial(part, environment))
    left = []
    for terms in alternatives:
        if False in terms:
            continue
        terms = [term for term in terms if term is not True]
        if not terms:
            return True
        left.append(" and ".join(f"({t})" if " or " in t and len(terms) > 1 else t for t in terms))
    return " or ".join(left) if left else False


def requirement(text, extra):
    """The requirement as it stands on Linux x86_64 with this extra; None where it does not hold."""
    required = Requirement(text)
    left = partial(required.marker._markers, {**LINUX, "extra": extra}) if required.marker else True
    if left is False:
        return None
    required.marker, required.name = None, canonicalize_name(required.name)
    required.extras = set(map(canonicalize_name, required.extras))
    return str(required).replace(" ", "") + ("" if left is True else f"; {left}")


def ours(text):
    name = canonicalize_name(re.match(r"[\w.-]+", text)[0])
    return name in PROJECTS or WORLD.fullmatch(name)


def requirements(metadata, keep_extras):
    lines = [line.replace("\n", " ") for line in metadata.get_all("Requires-Dist", [])]
    lines = [line for line in lines if ours(line)]
    base = [r for r in (requirement(line, "") for line in lines) if r]
    extras = collections.defaultdict(list)  # names of the same meaning share a line
    names = set(metadata.get_all("Provides-Extra", []))
    names.update(e for line in lines for e in re.findall(r"extra\s*==\s*['\"]([^'\"]+)", line))
    for extra in sorted(names):
        if keep_extras and re.fullmatch(keep_extras, extra):
            more = [r for r in (requirement(line, extra) for line in lines) if r and r not in base]
            if more:
                extras["\n".join(dict.fromkeys(more))].append(canonicalize_name(extra))
    return list(dict.fromkeys(base)), {" ".join(names): lines for lines, names in extras.items()}


def wheel_tags(links):
    """["cp310 cp311 manylinux_2_28_x86_64 manylinux_2_28_aarch64"]: interpreters, then platforms."""
    found = collections.defaultdict(set)
    for link in links:
        if not link.is_wheel:
            continue
        tags = parse_wheel_filename(link.filename)[3]
        platforms = {LEGACY_TAGS.get(t.platform.partition("_")[0], t.platform.partition("_")[0])
                     + t.platform[len(t.platform.partition("_")[0]):] if t.platform.startswith("manylinux")
                     else t.platform for t in tags}
        platforms = [p for p in platforms if p == "any" or re.fullmatch(r"(many)?linux_.*(x86_64|aarch64)", p)]
        if not platforms:
            continue
        # Of a wheel with several tags the oldest glibc is the condition.
        platform = min(platforms, key=glibc)
        for tag in tags:
            if tag.interpreter.startswith("pp"):
                continue
            abi = "" if tag.abi in ("none", tag.interpreter, tag.interpreter + "m") else "-" + tag.abi
            abi = "t" if abi == f"-{tag.interpreter}t" else abi
            found[platform].add(tag.interpreter + abi)
    order = lambda tag: [int(n) if n.isdigit() else n for n in re.split(r"(\d)(\d*)", tag, maxsplit=1)]
    lines = collections.defaultdict(list)
    for platform in sorted(found, key=lambda p: (p.rpartition("aarch64")[1], glibc(p))):
        lines[" ".join(sorted(found[platform], key=order))].append(platform)
    return [" ".join([pythons] + platforms) for pythons, platforms in lines.items()]


def glibc(platform):
    numbers = re.match(r"manylinux_(\d+)_(\d+)", platform)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def readable(links):
    """The file whose METADATA stands for the release: a wheel of this platform, of the newest CPython."""
    def rank(link):
        tags = wheel_tags([link])
        newest = re.findall(r"cp3(\d+)\b", tags[0]) if tags else []
        return ("x86_64" in tags[0], "any" in tags[0], int(newest[-1]) if newest else 0)
    wheels = [link for link in links if link.is_wheel and wheel_tags([link])]
    wheels = [link for link in wheels if "x86_64" in link.filename or "any" in link.filename] or wheels
    if wheels:
        return max(wheels, key=rank)
    return next((link for link in links if link.filename.endswith(".tar.gz")), None)


def cudas(name, required, names, build):
    """What the release is built for: by its record, its libraries, its name, its exact requirements."""
    if build.get("version", {}).get("cuda"):
        number = str(build["version"]["cuda"])  # 1201
        return [f"{int(number[:-2])}.{int(number[-2:])}" if number.isdigit() else number]
    libraries = {m[1] for n in names for m in [re.search(r"bitsandbytes_cuda(\d\d\d)\.so$", n)] if m}
    if libraries:
        return sorted((n[:2] + "." + n[2:] for n in libraries), key=lambda v: list(map(int, v.split("."))))
    minor = re.search(r"-cuda(\d\d)(\d)$", name)
    if minor:
        return [f"{minor[1]}.{minor[2]}"]
    named = re.search(r"-cu(?:da)?(1\d)(?:x|-|$)", name)
    if named:
        return [named[1]]
    for text in required:
        exact = re.match(r"(?:cuda-toolkit(?:\[.*\])?|nvidia-cuda-(?:runtime|nvrtc)(?:-cu1\d)?)==(1\d\.\d+)", text)
        if exact:
            return [exact[1]]
    majors = {m[1] for text in required
              for m in [re.match(r"(?:nvidia|tensorrt)[a-z-]*(?:-|\[)cu(1\d)\b", text) or
                        re.match(r"nvidia-cuda-(?:runtime|nvrtc)[~>]=(1\d)\.", text)] if m}
    return sorted(majors) if len(majors) == 1 else []


def least_gpu(build):
    listed = re.findall(r"(\d+\.\d)", build.get("env", {}).get("TORCH_CUDA_ARCH_LIST") or "")
    return min(listed, key=lambda v: list(map(int, v.split("."))), default=None)


def read_release(index, name, project, version, links, today):
    link = readable(links)
    if link is None:
        return {}
    try:
        text, names = index.metadata(link)
    except (OSError, KeyError, StopIteration, tarfile.TarError, zipfile.BadZipFile) as error:
        print(f"from_index.py: {link.filename}: {error!r}", file=sys.stderr)
        return {}
    if not text:
        return {}
    metadata = email.message_from_string(text)
    build = json.loads(metadata.get("X-Build") or "{}")
    required, extras = requirements(metadata, project.extras)
    source = "METADATA" if link.is_wheel else "PKG-INFO"
    gpu, gpu_source = least_gpu(build), None
    if build:
        source += " and cpp_lib.json"
    else:
        gpu = next((found for pattern, found in project.gpu_text if re.search(pattern, text)), None)
    cuda = cudas(name, required + [l for e in extras.values() for l in e.split("\n")], names, build)
    return {"python": metadata.get("Requires-Python"), "requires": required, "extras": extras or None,
            "cuda": cuda, "gpu": gpu, "source": f"{source}, read {today}"}


def with_documented(row, project):
    """The row with what PROJECTS says of its release; METADATA's word counts before."""
    version = Version(row["version"])
    of_metadata = {k: row.get(k) if not row.get(f"{k}_source") else None for k in ("gpu", "cuda")}
    gpu, cuda = of_metadata["gpu"], of_metadata["cuda"]
    gpu_source = cuda_source = None
    if not gpu:
        gpu, gpu_source = documented(project.gpu, version)
    if not cuda:
        cuda, cuda_source = documented(project.cuda, version)
    unstated, unstated_source = documented(project.unstated, version)
    if project.undecided:
        row["requires"] = [text for text in row.get("requires") or [] if not re.match(project.undecided, text)]
    row = {**row, "cuda": [cuda] if isinstance(cuda, str) else cuda, "cuda_source": cuda_source,
           "gpu": gpu, "gpu_source": gpu_source, "unstated": [unstated] if isinstance(unstated, str) else unstated,
           "unstated_source": unstated_source}
    order = ("name", "version", "python", "requires", "extras", "cuda", "cuda_source", "gpu", "gpu_source", "unstated",
             "unstated_source", "wheels", "build", "source")
    return {key: row[key] for key in order if row.get(key)}


def chosen(files, project):
    """Final releases since SINCE, or of each minor the newest; of another project's name the newest."""
    versions = sorted(v for v in files
                      if v >= project.since and (not v.is_prerelease or project.facts.get("other_project")))
    if project.facts.get("other_project"):
        return versions[-1:]
    recent = [v for v in versions if max(date for _, date in files[v]) >= project.published
              or not any(date for _, date in files[v])]
    if project.every == "minor":
        recent = list({v.release[:2]: v for v in recent}.values())
    return recent[-(project.newest or 0):] or versions[-1:]


def read_project(index, name, project, known, read_all, today):
    files = index.files(name)
    rows = []
    for version in chosen(files, project):
        links = [link for link, _ in files[version]]
        wheels = wheel_tags(links)
        if not wheels and not any(link.filename.endswith((".tar.gz", ".zip")) for link in links):
            continue  # other platforms only
        old = known.get((name, str(version)))
        row = {"name": name, "version": str(version)}
        if old and not read_all:
            row.update({k: v for k, v in old.items() if k not in ("wheels", "build")})
        else:
            row.update(read_release(index, name, project, version, links, today))
        if "source" not in row:
            row["source"] = f"list of files, read {today}"
        source = row.pop("source")
        row.update(wheels=wheels, build=bool(project.needs) and not wheels, source=source)
        rows.append(row)
    return rows


def read_table(path):
    """{(name, version): row}, with sources written out."""
    table = json.loads(path.read_text(encoding="utf-8"))
    for row in table["releases"]:
        row.update({key: table["sources"][value[1:]] for key, value in row.items()
                    if key.endswith("source") and value.startswith("@")})
    return {(row["name"], row["version"]): row for row in table["releases"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these names")
    parser.add_argument("--all", action="store_true", help="read again what the table has")
    parser.add_argument("--offline", action="store_true", help="ask no index: keep the rows, with PROJECTS' facts")
    parser.add_argument("--cache", type=pathlib.Path, help="directory that keeps METADATA")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "packages.json")
    options = parser.parse_args()
    unknown = set(options.names) - set(PROJECTS)
    if unknown:
        sys.exit(f"from_index.py: not in PROJECTS: {', '.join(sorted(unknown))}")
    known = read_table(options.out) if options.out.exists() else {}
    if options.cache:
        options.cache.mkdir(parents=True, exist_ok=True)
    today = datetime.date.today().isoformat()

    table = Table("Python packages of the CUDA world: what each release requires on Linux x86_64, and "
                  "which wheels it has.")
    command = InstallCommand("install", "")
    pip_options, _ = command.parse_args([])
    with command.main_context():
        session = command.get_default_session(pip_options)
        collector = command._build_package_finder(pip_options, session)._link_collector
        index = Index(session, collector, options.cache)
        for name, project in PROJECTS.items():
            if not project.listed:
                rows = []
            elif not options.offline and (not options.names or name in options.names):
                rows = read_project(index, name, project, known, options.all, today)
                print(f"{name}: {len(rows)}", file=sys.stderr, flush=True)
            else:
                rows = [row for (held_name, _), row in known.items() if held_name == name]
            for row in rows:
                if Version(row["version"]) >= project.since:
                    table.add("releases", **with_documented(row, project))
            if project.needs or project.facts:
                source = project.facts.get("source", f"{name}: METADATA; torch/utils/cpp_extension.py "
                                                     "(ninja, MAX_JOBS)")
                table.add("projects", name=name, needs=project.needs, tools=project.tools,
                          **{**project.facts, "source": source})
        for row in BUILDS:
            table.add("builds", **row)
        for row in SETUPTOOLS:
            table.add("setuptools", **row)
    table.write(options.out)


if __name__ == "__main__":
    main()
