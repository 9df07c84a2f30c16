"""Small wheels of the index, downloaded once: what the tests of `cudaenv check` install for real."""

import sys

from environments import Unavailable  # noqa: F401
from downloads import kept, said

REQUIREMENTS = [
    "six==1.16.0", "six==1.17.0", "markupsafe==3.0.2", "nvidia-nvtx-cu11==11.8.86", "nvidia-nvtx-cu12==12.1.105",
    "nvidia-cuda-runtime-cu11==11.8.89", "nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cuda-cupti-cu12==12.8.90",
    "virtualenv==20.29.3", "distlib==0.3.9", "filelock==3.16.1", "platformdirs==4.3.6", "setuptools==70.3.0",
    "wheel==0.45.1", "zope.interface==7.2", "zope.event==5.0", "pip==24.3.1", "pip==25.3"]


def real_wheels():
    """The directory of them."""
    def fill(made):
        made.mkdir()
        for later in (0, 1):  # of two versions of one name, one a call
            names = {}
            for requirement in REQUIREMENTS:
                names.setdefault(requirement.partition("==")[0], []).append(requirement)
            wanted = [versions[later] for versions in names.values() if len(versions) > later]
            said([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps",
                  "--only-binary", ":all:", "--dest", str(made), *wanted])

    return kept("check-wheels-2", fill)
