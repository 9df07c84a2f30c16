"""What the tests of healthy environments share: wheels to install, and that `cudaenv check` finds nothing."""

import json

from envs import HomeTest
from torchlike import cudnn_files, make_family, nccl_files


def plain_module(text="x = 1\n"):
    return text * 20


def source_tree(root, name, version="1.0", legacy=False):
    (root / name).mkdir(parents=True)
    (root / name / "__init__.py").write_text(plain_module())
    if legacy:
        (root / "setup.py").write_text(f"from setuptools import setup\nsetup(name={name!r}, version={version!r},"
                                       f" packages=[{name!r}])\n")
    else:
        (root / "pyproject.toml").write_text(
            f'[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
            f'[project]\nname = "{name}"\nversion = "{version}"\n[tool.setuptools]\npackages = ["{name}"]\n')
    return root


def torch_wheels(home, torch="2.8.0", cuda="12.8"):
    wanted = make_family(home, torch, cuda)
    if cuda:
        major = cuda.split(".")[0]
        home.wheel(f"nvidia-cudnn-cu{major}", "9.10.2.21", cudnn_files("9.10.2.21"), tag="py3-none-linux_x86_64")
        home.wheel(f"nvidia-nccl-cu{major}", "2.27.3", nccl_files("2.27.3", cuda), tag="py3-none-linux_x86_64")
    home.wheel("typing-extensions", "4.12.2", {"typing_extensions.py": plain_module()})
    return wanted


class HealthyTest(HomeTest):
    @classmethod
    def make_wheels(cls, home):
        for version in ("1.0", "2.0"):
            home.wheel("plain", version, {
                "plain/__init__.py": plain_module(f"v = {version}\n"), f"plain/only_{version[0]}.py": plain_module(),
                "plain/sub/__init__.py": "",
                f"plain-{version}.dist-info/entry_points.txt": "[console_scripts]\nplain = plain:main\n",
                f"plain-{version}.data/data/share/plain/data.txt": f"data {version}\n" * 10,
                f"plain-{version}.data/data/etc/jupyter/plain.json": "{}\n",
                f"plain-{version}.data/headers/plain.h": f"#define V {version}\n" * 10,
                f"plain-{version}.data/scripts/plain-script": "#!python\nprint()\n"})
        home.wheel("nsone", "1.0", {"shared_ns/one/__init__.py": plain_module()})
        home.wheel("nstwo", "1.0", {"shared_ns/two/__init__.py": plain_module()})
        declared = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
        home.wheel("oldone", "1.0", {"old_ns/__init__.py": declared, "old_ns/one.py": plain_module()})
        home.wheel("oldtwo", "1.0", {"old_ns/__init__.py": declared, "old_ns/two.py": plain_module()})

    def healthy(self, prefix, *words):
        report = self.home.check(prefix, *words)
        self.assertEqual(report["findings"], [], json.dumps(report["findings"], indent=1))
        return report

    def plain(self, *more):
        """A venv with a few packages by pip."""
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "plain", "six", "markupsafe", *more)
        return prefix
