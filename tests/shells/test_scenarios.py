#!/usr/bin/env python3
"""Plays every scenario of scenarios.toml in one real shell, with the hook and without.

usage: test_scenarios.py --shell SHELL --cudaenv FILE --cudaenvd FILE [--only TEXT]
Status 77: the shell is not here.
"""

import sys
import time
import tomllib
from pathlib import Path

import driver
import modules
import play
import scene


def variants(scenario):
    """The scenario itself; of one with `modules` one for each module system, which is started before
    the hook. What cannot be had here stands in place of its rc text."""
    if not scenario.get("modules"):
        yield scenario["name"], scenario.get("before"), scenario.get("extra")
        return
    for system in modules.SYSTEMS:
        try:
            before = modules.start(system)
        except modules.Unavailable as reason:
            before = reason
        yield (f"{scenario['name']} ({system})", before,
               {**modules.ENVIRONMENT, **scenario.get("extra", {})})


def main():
    parser = scene.arguments(__doc__)
    parser.add_argument("--only", help="scenarios with this text in their name")
    options = parser.parse_args()
    if why := driver.missing(options.shell):
        scene.skip(why)
    with open(Path(__file__).with_name("scenarios.toml"), "rb") as file:
        scenarios = tomllib.load(file)["scenario"]
    played = failed = late = 0
    skipped = {}
    begun = time.monotonic()
    with scene.prepared(options) as world:
        asked = [(scenario, *variant) for scenario in scenarios
                 if options.shell in scenario.get("shells", driver.SHELLS)
                 for variant in variants(scenario)
                 if not options.only or options.only in variant[0]]
        for scenario, name, before, extra in asked:
            if isinstance(before, Exception):
                skipped.setdefault(str(before), []).append(name)
                continue
            after = scenario.get("after")
            again = scenario.get("hook_again", False)
            try:
                failure, passed_deadline = play.play_pair(
                    world, options.shell, scenario["steps"], extra, before,
                    None if again else after, after if again else None)
            except play.Skip as reason:
                skipped.setdefault(str(reason), []).append(name)
                continue
            played += 1
            late += passed_deadline
            if failure:
                failed += 1
                print(f"FAILED: {options.shell}: {name}\n    {failure}")
    for reason, names in skipped.items():
        print(f"skipped: {reason}: {', '.join(names)}")
    print(f"{options.shell}: {played} scenarios, {failed} failed, {late} prompts past their deadline, "
          f"{time.monotonic() - begun:.1f} s")
    return 1 if failed or not played else 0


if __name__ == "__main__":
    sys.exit(main())
