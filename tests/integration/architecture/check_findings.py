#!/usr/bin/env python3
"""Checks that docs/findings.md and the code know the same findings: every code that the code gives is
explained, every code that is explained is given, and both call it a warning or both a note.

usage: check_findings.py ROOT         every difference in a line, status 1 if there is one
       check_findings.py --self-test  the checker against texts with one known difference each
"""

import pathlib
import re
import sys

CODE = re.compile(r'"(CE\d{3})",\s*Severity::(\w+)')
ANY_CODE = re.compile(r'"(CE\d{3})"')
ROW = re.compile(r"^#### (CE\d{3}) \((\w+)", re.MULTILINE)


def differences(documented, source):
    rows = dict(ROW.findall(documented))
    given = {code: severity.lower() for code, severity in CODE.findall(source)}
    for code in ANY_CODE.findall(source):
        given.setdefault(code, None)  # its severity stands elsewhere
    for code in sorted(set(rows) | set(given)):
        if code not in rows:
            yield f"{code} is given by the code and has no row in docs/findings.md"
        elif code not in given:
            yield f"{code} has a row in docs/findings.md and is given nowhere"
        elif given[code] not in (None, rows[code]):
            yield f"{code} is a {given[code]} in the code and a {rows[code]} in docs/findings.md"


def check(root):
    root = pathlib.Path(root)
    sources = [file.read_text() for folder in ("solver", "shellhooks", "check", "host", "kernels", "daemon", "cli")
               for file in sorted((root / folder).rglob("*.[ch]pp"))]
    return list(differences((root / "docs/findings.md").read_text(), "\n".join(sources)))


def self_test():
    row = "#### CE201 (warning, strict)\n"
    code = 'warn(outcome, "CE201", Severity::Warning,\n'
    cases = [(row, code, 0), (row, "", 1), ("", code, 1), (row, code.replace("Warning", "Note"), 1),
             (row, '{"CE201",\n Severity::Warning', 0), (row, 'give("CE201", severity)', 0)]
    wrong = [case for case in cases if len(list(differences(case[0], case[1]))) != case[2]]
    for case in wrong:
        print(f"expected {case[2]} differences: {case[:2]}")
    return len(wrong)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = check(sys.argv[1])
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
