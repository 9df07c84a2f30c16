#!/usr/bin/env python3
"""Writes the codes of docs/findings.md from data/findings.json, between its markers.

usage: findings_page.py            writes the page
       findings_page.py --check    status 1 where the page is not what the data says, or a case has no code
"""
import json
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/findings.md"
MARKED = re.compile(r"(<!-- codes: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def wrapped(text):
    return "\n".join(textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False))


def section(rows):
    return "".join(f"\n#### {row['code']} ({row['severity']})\n\n{wrapped(row['says'])}\n\n"
                   f"{wrapped('Fix: ' + row['remedy'])}\n" for row in rows) + "\n"


def page(text, data):
    return MARKED.sub(lambda found: found[1] + section(
        [row for row in data["findings"] if row["group"] == found[2]]) + found[3], text)


def problems(text, data):
    codes = [row["code"] for row in data["findings"]]
    if len(set(codes)) != len(codes):
        yield "data/findings.json explains a code twice"
    groups = {found[2] for found in MARKED.finditer(text)}
    for row in data["findings"]:
        if row["group"] not in groups:
            yield f"{row['code']}: docs/findings.md has no place for the group {row['group']}"
    for case in data["cases"]:
        if case["code"] not in codes:
            yield f"{case['code']} has cases and no row in `findings`"
    if page(text, data) != text:
        yield "docs/findings.md is not what data/findings.json says: run docs/findings_page.py"


def main():
    data = json.loads((ROOT / "data/findings.json").read_text())
    text = PAGE.read_text()
    if sys.argv[1:] == ["--check"]:
        found = list(problems(text, data))
        print("\n".join(found))
        return 1 if found else 0
    PAGE.write_text(page(text, data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
