"""`cudaenv attach --kernelspec` and `detach`: the specification's text, and a kernel that is started."""

import json
import os
import shutil
import subprocess

import support
from support import CommandTest, env_object, run_tests

KERNEL = '{\n    "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],\n' \
         '  "display_name": "apex é", "language": "python", "metadata": {"debugger": true}}'


class Kernelspec(CommandTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.root / "the env"
        (self.prefix / "bin").mkdir(parents=True)
        (self.prefix / "pyvenv.cfg").touch()  # a venv: where attach alone cannot help
        self.kernel = self.prefix / "share/jupyter/kernels/apex/kernel.json"
        self.kernel.parent.mkdir(parents=True)
        self.kernel.write_text(KERNEL)
        python = self.prefix / "bin/python"
        python.write_text('#!/bin/sh\necho "$$ $CUDA_HOME $*"\n')
        python.chmod(0o755)

    def attach(self, command="attach", status=0):
        return self.check(self.run_cudaenv(command, "--kernelspec", "-p", str(self.prefix)), status)

    def argv(self):
        return json.loads(self.kernel.read_text())["argv"]

    def start(self):
        argv = [word.replace("{connection_file}", "/c") for word in self.argv()]
        with subprocess.Popen(argv, env=self.environment, stdout=subprocess.PIPE) as child:
            out = child.stdout.read().decode()
        return str(child.pid), out

    def test_the_kernel_starts_with_its_cuda_as_the_process_that_jupyter_started(self):
        self.attach()
        self.fake_daemon(
            activate=env_object(changes=[{"name": "CUDA_HOME", "value": "/t"}]),
            status={"environment": {"prefix": str(self.prefix), "name": "e", "kind": "venv"}})
        pid, out = self.start()
        self.assertEqual(out, f"{pid} /t -m ipykernel_launcher -f /c\n")

    def test_everything_else_of_the_specification_stays(self):
        self.attach()
        before, after = json.loads(KERNEL), json.loads(self.kernel.read_text())
        self.assertEqual(after["argv"][-len(before["argv"]):], before["argv"])
        self.assertEqual(list(after), list(before))
        del before["argv"], after["argv"]
        self.assertEqual(after, before)

    def test_where_cudaenv_is_gone_the_kernel_starts_as_it_did(self):
        program = self.root / "gone"
        shutil.copy(support.PROGRAMS["cudaenv"], program)
        self.check(self.run_program([program, "attach", "--kernelspec", "-p", self.prefix]))
        program.unlink()
        self.environment["PATH"] = f"{self.prefix}/bin:/usr/bin:/bin"
        pid, out = self.start()
        self.assertEqual(out, f"{pid}  -m ipykernel_launcher -f /c\n")

    def test_detach_gives_it_back_byte_for_byte(self):
        self.attach()
        self.assertIn("unchanged", self.attach().stdout.decode())
        self.attach("detach")
        self.assertEqual(self.kernel.read_text(), KERNEL)
        self.assertEqual(os.listdir(self.kernel.parent), ["kernel.json"])

    def test_what_was_edited_meanwhile_is_kept(self):
        self.attach()
        kernel = json.loads(self.kernel.read_text())
        kernel["display_name"] = "mine"
        kernel["argv"].append("--more")
        self.kernel.write_text(json.dumps(kernel))
        self.attach("detach")
        after = json.loads(self.kernel.read_text())
        self.assertEqual(after["display_name"], "mine")
        self.assertEqual(after["argv"], json.loads(KERNEL)["argv"] + ["--more"])

    def test_kernels_in_the_users_own_directory_that_start_the_environment_are_attached_too(self):
        users = self.home / ".local/share/jupyter/kernels"
        texts = {"ours": f'{{"argv": ["{self.prefix}/bin/python", "-m", "x"]}}',
                 "other": '{"argv": ["/usr/bin/python3", "-m", "x"]}', "broken": "{"}
        for name, text in texts.items():
            (users / name).mkdir(parents=True)
            (users / name / "kernel.json").write_text(text)
        self.attach()
        read = lambda name: (users / name / "kernel.json").read_text()
        self.assertIn("run -p", read("ours"))
        self.assertEqual((read("other"), read("broken")), (texts["other"], texts["broken"]))
        self.attach("detach")
        self.assertEqual({name: read(name) for name in texts}, texts)

    def test_without_a_kernel_it_says_how_to_make_one(self):
        shutil.rmtree(self.prefix / "share")
        ran = self.attach(status=3)
        self.assertIn("-m ipykernel install --user --name", ran.stderr.decode())


if __name__ == "__main__":
    run_tests()
