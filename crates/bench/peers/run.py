"""Speed and accuracy beside other libraries: sets them up, measures, and writes `peers.md`.

    python3 crates/bench/peers/run.py --data DATA --results docs/results

Environments are made in `target/peers` or where `--environments` says, and stay there. Without `--all` some
comparisons are of small models alone; with it they take an hour and more. A peer that cannot be installed is
reported in its place. DATA holds `conll2000`, `citation` and `flows`; what needs neither runs without.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from comparisons import COMPARISONS, Context
from environments import Environments, Missing, NoData, crate_version, say, target
from measure import table, write_section

PAGE = """# Peers

Speed and accuracy beside other libraries, a section for each comparison that was run.

    python3 crates/bench/peers/run.py --data DATA --results docs/results

[What it sets up and measures](../reference/experiments.md#peers).
"""


def versions(comparison, environments):
    if comparison.environment is None:
        return [crate_version(name) for name in comparison.packages]
    return environments.versions(comparison.environment, comparison.packages)


def section(comparison, environments, context):
    """A section of the page."""
    try:
        name = comparison.environment
        python = environments.interpreter(name) if name else None
        known = [*versions(comparison, environments), f"{os.cpu_count()} cores"]
        measured = f"{comparison.measure(replace(context, python=python))}\n\n({', '.join(known)})"
    except Missing as why:
        measured = table(["peer", "state"], [[", ".join(comparison.packages), str(why)]])
    return f"## {comparison.title}\n\n{comparison.sentence}\n\n{measured}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with the data sets")
    parser.add_argument("--results", type=Path, help="the folder of peers.md, such as docs/results")
    parser.add_argument("--environments", type=Path, default=target() / "peers", metavar="DIR")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(COMPARISONS), help=", ".join(COMPARISONS))
    parser.add_argument("--all", action="store_true", help="also what takes an hour")
    given = parser.parse_args()
    for folder in (own for own in (given.data, given.results) if own is not None):
        if not folder.is_dir():
            parser.error(f"{folder}: found no such folder")
    environments = Environments(given.environments.resolve())
    context = Context(given.data and given.data.resolve(), given.all)
    for name in given.only or COMPARISONS:
        say(f"== {name}")
        try:
            text = section(COMPARISONS[name], environments, context)
        except NoData as what:
            say(f"skipped: {what}")
            continue
        print(f"\n{text}", flush=True)
        if given.results is not None:
            write_section(given.results / "peers.md", name, text, PAGE)


if __name__ == "__main__":
    main()
