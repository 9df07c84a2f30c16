#!/usr/bin/env python3
"""cudaenv beside py-rattler: solvable or not, and name, version and build of every package asked for.

usage: compare.py --cudaenv BIN [--shared DIR] [--work DIR] [--cases FILE] [--only NAME ...] [--table FILE]
       compare.py --record [--shared DIR] [--work DIR]

The cases are in peer_cases.json. With py-rattler 0.28.0 installed it is run on each, and every answer of cudaenv is
proved by py-rattler's own MatchSpec; without it the answers of peer_answers.json stand in (--record updates them).
Differences that known_differences.json gives a reason for are accepted while cudaenv's answer is the one written there.
Exit status: 0 no other difference, 1 there is one, 2 usage, 77 skipped (the channel slices are not there).
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import peer

SKIPPED = 77


def unpacked_slices(shared, work):
    """SHARED/repodata/slice, decompressed once into the work directory."""
    source = os.path.join(shared, "repodata", "slice")
    if not os.path.isdir(source):
        print(f"skipped: no {source}; give --shared or CUDAENV_SHARED, the directory that has repodata/slice")
        leave(SKIPPED)
    if shutil.which("zstd") is None:
        print("skipped: no zstd to unpack the slices with; install the package zstd")
        leave(SKIPPED)
    target = os.path.join(work, "slices")
    for folder, _, files in os.walk(source):
        for name in files:
            if not name.endswith(".zst"):
                continue
            packed = os.path.join(folder, name)
            plain = os.path.join(target, os.path.relpath(packed, source))[:-len(".zst")]
            if not os.path.exists(plain):
                os.makedirs(os.path.dirname(plain), exist_ok=True)
                subprocess.run(["zstd", "-dqf", packed, "-o", plain + ".part"], check=True)
                os.rename(plain + ".part", plain)
    return target


def facts_of(case):
    """A facts file that holds only what conda's virtual packages know."""
    driver = {"version": None, "cuda": case["cuda"], "kind": None, "derived": False, "source": "the case"}
    facts = {"schema": "cudaenv.host/1", "glibc": peer.GLIBC, "machine": "x86_64", "kernel": peer.KERNEL,
             "driver": driver if case["cuda"] else None}
    if not case["cuda"]:
        facts["driver_absent"] = "the case has no driver"
    return facts


class Cudaenv:
    def __init__(self, binary, slices, work):
        self.binary, self.slices = os.path.abspath(binary), slices
        self.home = tempfile.mkdtemp(prefix="peer-", dir=work)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home, "LC_ALL": "C.UTF-8",
                            "CUDAENV_CACHE_DIR": os.path.join(work, "cache"), "CUDAENV_NO_DAEMON": "1"}

    def solve(self, case):
        project = os.path.join(self.home, case["name"])
        os.makedirs(project, exist_ok=True)
        facts = os.path.join(project, "host.json")
        with open(facts, "w") as file:
            json.dump(facts_of(case), file)
        if case.get("pins"):
            with open(os.path.join(project, "cudaenv.toml"), "w") as file:
                file.write("[pins]\n" + "".join(f'{name} = "{version}"\n' for name, version in case["pins"].items()))
        command = [self.binary, "resolve", "--json", "--manager", "conda", "--host", facts]
        for channel in case["channels"]:
            command += ["-c", os.path.join(self.slices, channel)]
        begin = time.monotonic()
        done = subprocess.run(command + case["specs"], cwd=project, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        took = time.monotonic() - begin
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = {"schema": "none", "message": f"no JSON: {done.stdout[:200]!r} {done.stderr[:200]!r}"}
        return done.returncode, answer, took


def our_answer(case, status, answer):
    """In the form of peer_answers.json; and what is wrong with the form of the answer itself."""
    if answer.get("schema") == "cudaenv.resolve/1" and answer.get("status") == "solved" and status == 0:
        asked = {conda_name(spec) for spec in case["specs"]}
        chosen = {p["name"]: [p["version"], p["build"]] for p in answer["packages"] if p["name"] in asked}
        return {"solved": True, "asked": chosen}, None
    if answer.get("schema") == "cudaenv.resolve/1" and answer.get("status") == "conflict" and status == 1:
        reasons = answer["conflict"]["reasons"]
        return {"solved": False, "reason": reasons[0]["text"] if reasons else "none given"}, None
    if answer.get("schema") == "cudaenv.error/1" and answer.get("code") == "no-such-package" and status == 2:
        return {"solved": False, "reason": answer["message"]}, None
    return {"solved": False, "reason": answer.get("message", "")}, f"exit status {status}: {json.dumps(answer)[:300]}"


def conda_name(spec):
    """The name at the front of a MatchSpec of peer_cases.json (none has a channel in front)."""
    end = next((i for i, c in enumerate(spec) if c in " =<>!~["), len(spec))
    return spec[:end]


def same(a, b):
    return a["solved"] == b["solved"] and (not a["solved"] or a["asked"] == b["asked"])


def shown(answer):
    if not answer["solved"]:
        return "no: " + " ".join(answer.get("reason", "").split())[:90]
    return " ".join(f"{name}={version}={build}" for name, (version, build) in sorted(answer["asked"].items()))


def have_peer():
    try:
        import rattler  # noqa: F401
        return True
    except ImportError:
        return False


def read(name, key):
    with open(os.path.join(peer.HERE, name)) as file:
        return json.load(file)[key]


def record(slices):
    solver = peer.Peer(slices)
    rows = []
    for case in peer.load_cases():
        answer = solver.answer(case)
        answer.pop("packages", None)
        rows.append(json.dumps(case["name"]) + ": " + json.dumps(answer, ensure_ascii=False))
    about = ("What py-rattler 0.28.0 answers to peer_cases.json, strict channel priority. "
             "Made by `compare.py --record`.")
    with open(os.path.join(peer.HERE, "peer_answers.json"), "w") as file:
        file.write('{\n"about": ' + json.dumps(about) + ',\n"answers": {\n' + ",\n".join(rows) + "\n}\n}\n")
    print(f"{len(rows)} answers written")


def compare(binary, slices, work, only, table, cases):
    known = read("known_differences.json", "differences")
    recorded = read("peer_answers.json", "answers")
    solver = peer.Peer(slices) if have_peer() else None
    ours_side = Cudaenv(binary, slices, work)
    agreed, accepted, bad, whole, proved = 0, 0, [], 0, 0
    lines = []
    for case in cases:
        name = case["name"]
        if only and name not in only:
            continue
        status, answer, took = ours_side.solve(case)
        ours, malformed = our_answer(case, status, answer)
        theirs = solver.answer(case) if solver else recorded[name]
        faults = [malformed] if malformed else []
        if solver and ours["solved"]:
            faults += solver.proof_faults(case, answer["packages"], answer["driver_assumed"])
            proved += not faults
            mine = sorted(f"{p['name']}-{p['version']}-{p['build']}" for p in answer["packages"])
            whole += mine == theirs.get("packages")
        if same(ours, theirs):
            agreed += 1
            if name in known:
                faults.append("known_differences.json has it, but there is no difference")
        elif name in known and same(ours, known[name]["cudaenv"]):
            accepted += 1
            lines.append(("known", name, ours, theirs, [known[name]["reason"]]))
        else:
            faults.append("differs")
        if faults:
            bad.append(name)
            lines.append(("BAD", name, ours, theirs, faults))
    for verdict, name, ours, theirs, remarks in lines:
        print(f"{verdict:5} {name}\n      cudaenv {shown(ours)}\n      peer    {shown(theirs)}")
        for remark in remarks:
            print(f"      {remark}")
    if table:
        with open(table, "w") as file:
            json.dump([{"verdict": v, "case": n, "cudaenv": o, "peer": t, "remarks": r} for v, n, o, t, r in lines],
                      file, indent=1)
    print(f"{agreed} agree, {accepted} known differences, {len(bad)} bad"
          + (f"; {whole} of the agreeing answers are the same to the last package, {proved} proved by py-rattler"
             if solver else "; against recorded answers (py-rattler is not installed)"))
    return 1 if bad else 0


def leave(status):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # py-rattler's threads may crash an orderly exit


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", help="the program to compare")
    parser.add_argument("--record", action="store_true", help="write py-rattler's answers and do nothing else")
    parser.add_argument("--shared", default=os.environ.get("CUDAENV_SHARED",
                                                           os.path.join(peer.HERE, "..", "..", "..", "..", "shared")))
    parser.add_argument("--work", help="directory that keeps the unpacked slices (default: a temporary one)")
    parser.add_argument("--cases", help="other cases than peer_cases.json, as random_cases.py makes them; needs py-rattler")
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--table", help="write the differences as JSON too")
    told_to = parser.parse_args()
    if not told_to.record and not told_to.cudaenv:
        parser.error("--cudaenv or --record is needed")
    with tempfile.TemporaryDirectory(prefix="cudaenv-peer-") as temporary:
        work = os.path.abspath(told_to.work or temporary)
        slices = unpacked_slices(told_to.shared, work)
        if told_to.record:
            record(slices)
            status = 0
        else:
            status = compare(told_to.cudaenv, slices, work, told_to.only, told_to.table,
                             peer.load_cases(told_to.cases))
    leave(status)


if __name__ == "__main__":
    main()
