# Builds the extension with the environment's own torch, and runs it where torch sees a GPU. The last
# line that it prints says how it went: "ok WHAT", "built WHY-NOT-RUN", "skipped WHY",
# "wrong WHAT", "no-import WHY"; none where it is not built, as standard error says.
import os
import sys


def in_words(error):
    """Without the traceback, whose lines of source look like messages."""
    return "%s: %s" % (type(error).__name__, error)


try:
    import torch
    from torch.utils.cpp_extension import load
except Exception as error:
    print("no-import " + " ".join(in_words(error).split()))
    sys.exit(1)

directory = os.path.dirname(os.path.abspath(__file__))
if torch.version.cuda is None:
    print("skipped torch %s is a build without CUDA" % torch.__version__)
    sys.exit(0)
build = os.path.join(directory, "extension")
os.mkdir(build)
try:
    module = load(
        name="cudaenv_trial",
        sources=[os.path.join(directory, name) for name in ("extension.cpp", "extension.cu")],
        build_directory=build,
    )
except Exception as error:
    sys.exit(in_words(error))
what = "torch %s, CUDA %s" % (torch.__version__, torch.version.cuda)
if not torch.cuda.is_available():
    print("built torch.cuda.is_available() is False")
    sys.exit(0)
values = torch.zeros(1000, device="cuda")
module.add_one(values)
if float(values.sum()) != 1000.0:
    print("wrong the sum is %g, not 1000" % float(values.sum()))
    sys.exit(1)
print("ok " + what)
