"""What the tests of `cudaenv probe` share: a machine with a stand-in driver and an environment, and
an answer that is held to what every answer keeps."""

import json
import subprocess

from support import H200, PROGRAMS, WAIT, ProbeTest


class VerdictTest(ProbeTest):
    def setUp(self):
        super().setUp()
        self.environment.update({"CUDAENV_NO_DAEMON": "1", "SHELL": "/bin/bash",
                                 "CUDAENV_DAEMON": PROGRAMS["cudaenvd"],
                                 "CONDA_PREFIX": str(self.root / "apex")})

    def install_environment(self, cuda="13.0"):
        """A conda environment with that CUDA's runtime, which is the stand-in's."""
        prefix = self.root / "apex"
        (prefix / "conda-meta").mkdir(parents=True, exist_ok=True)
        (prefix / "conda-meta/history").touch()
        major = cuda.split(".")[0]
        soname = "libcudart.so.11.0" if major == "11" else f"libcudart.so.{major}"
        for name, files in (("cuda-version", []), ("cuda-cudart", [f"lib/{soname}"])):
            for old in (prefix / "conda-meta").glob(f"{name}-*.json"):
                old.unlink()
            (prefix / f"conda-meta/{name}-{cuda}-0.json").write_text(json.dumps(
                {"name": name, "version": cuda, "build": "0", "build_number": 0, "depends": [],
                 "channel": "conda-forge", "subdir": "linux-64", "files": files}))
        return self.install_runtime(soname.removeprefix("libcudart.so."), at="apex/lib")

    def install_torch(self, version, cuda):
        """A wheel's torch in that environment, as far as its facts are read."""
        torch = self.root / "apex/lib/python3.12/site-packages/torch"
        torch.mkdir(parents=True, exist_ok=True)
        (torch / "version.py").write_text(
            f"__version__ = '{version}'\ndebug = False\ncuda: Optional[str] = '{cuda}'\n")

    def machine(self, text="", devices=H200, driver="13.0", cuda="13.0"):
        """A driver that gives CUDA `driver`, and an environment of CUDA `cuda`."""
        def number(version):
            major, minor = version.split(".")
            return int(major) * 1000 + int(minor) * 10
        self.scenario(f"version {number(driver)}\nruntime {number(cuda)}\n{text}", devices)
        self.install_environment(cuda)
        self.search(self.install_driver())

    def command(self, *words):
        return [PROGRAMS["cudaenv"], "probe", "--json", *words]

    def probe(self, *words, timeout=WAIT, **more):
        ran = subprocess.run(self.command(*words), capture_output=True, env=self.environment,
                             cwd=self.root, stdin=subprocess.DEVNULL, timeout=timeout,
                             preexec_fn=self.before_it_starts(), **more)
        self.assertNotIn(b"stand-in CUDA:", ran.stderr)
        try:
            answer = json.loads(ran.stdout)
        except ValueError:
            self.fail(f"no JSON: {ran.stdout!r} {ran.stderr!r}")
        self.nothing_is_left()
        self.assertEqual(ran.returncode, 0 if answer["verdict"] in ("ok", "warns") else 1)
        for step in answer["steps"]:
            # Whatever is wrong says why and what to do, in lines that a terminal can show.
            if step["status"] in ("fails", "warns"):
                self.assertTrue(step["code"] and step["cause"] and step["fix"]["text"], step)
            self.assertNotIn("\n", step["detail"] + (step["cause"] or ""))
        return answer

    def step(self, answer, name, gpu=None):
        found = [step for step in answer["steps"]
                 if step["name"] == name and (gpu is None or step["gpu"] == gpu)]
        self.assertEqual(len(found), 1, f"steps {name}: {json.dumps(answer, indent=1)}")
        return found[0]

    def check(self, answer, verdict, name, status="fails", code=None, words="", gpu=None):
        step = self.step(answer, name, gpu)
        self.assertEqual((step["status"], step["code"], answer["verdict"]),
                         (status, code, verdict), json.dumps(answer, indent=1))
        shown = " ".join([step["detail"], step["cause"] or "", (step["fix"] or {}).get("text", ""),
                         (step["fix"] or {}).get("command") or ""])
        for word in words.split(","):
            self.assertIn(word, shown)
        if status == "fails":
            # The rungs above it that are of the same GPU, or of all, were not found right.
            order = ["library", "driver", "gpu", "runtime", "memory", "kernel"]
            for above in answer["steps"]:
                if above["name"] in order and order.index(above["name"]) > order.index(name) \
                        and gpu is None:
                    self.assertEqual(above["status"], "skipped", above)
        return step
