"""What is compared with whom: each gives a table, measured by the benchmark that owns the claim."""

import json
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from environments import ROOT, Missing, NoData, run, target

sys.path.insert(0, str(ROOT / "python" / "bench"))
from measure import shown, table  # noqa: E402

HERE = Path(__file__).resolve().parent
# Runs of ours beside a peer that takes a minute; the median counts.
RUNS = 3


@dataclass
class Context:
    """What comparisons are given."""

    data: Path | None
    everything: bool
    # The interpreter of the comparison's environment, if it has one.
    python: str | None = None

    def file(self, path):
        """A file of the data sets."""
        if self.data is None or not (self.data / path).exists():
            raise NoData(f"--data DIR names the folder that holds {path}")
        return str(self.data / path)


@dataclass
class Comparison:
    """A section of the page."""

    title: str
    # What is compared, on what, and how far the answers agree.
    sentence: str
    # The environment, and which of its packages are named; or crates.
    environment: str | None
    packages: list[str]
    measure: Callable[[Context], str]


def table_after(text, mark):
    """The first table below a line with the mark."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if mark in line), len(lines))
    rows = []
    for line in lines[start + 1 :]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            break
    if not rows:
        skipped = [line.strip() for line in lines if "skipped" in line]
        raise Missing(f"not measured: {skipped[0] if skipped else 'the benchmark printed no ' + mark}")
    return "\n".join(rows)


def bench(name, arguments, context, features=()):
    """What a benchmark prints."""
    own = ["cargo", "bench", "--quiet", "-p", "bethe-bench", "--bench", name, *features, "--", *arguments]
    return run(own, **({"PYTHON": context.python} if context.python else {}))


def program(name):
    """One of our commands, built."""
    run(["cargo", "build", "--release", "--quiet", "-p", "bethe", "-p", "bethe-experiments"])
    return str(target() / "release" / name)


def crfsuite(context):
    context.file("conll2000/train.txt.gz")
    printed = bench("tagging", ["--data", str(context.data.resolve()), "--only", "crfsuite"], context)
    return table_after(printed, "tagging-crfsuite")


def crfsuite_references(context):
    context.file("citation/grobid/train.conll.gz")
    return table_after(bench("references", ["--data", str(context.data.resolve())], context), "crfsuite")


def mbi_oracle(context):
    return table_after(bench("graphs", ["oracle", "memory"], context), "graphs-oracle")


def mbi_estimation(context):
    models = [] if context.everything else ["--model", "14"]
    return table_after(bench("graphs", ["estimate", *models], context), "graphs-estimation")


def junction_tree(library):
    return lambda context: table_after(bench("graphs", [library], context), f"graphs-{library}")


def faer(context):
    return table_after(bench("chain", [], context, ["--features", "peers"]), "chain-dense")


def clarabel(context):
    """Both on the simulator's own movement, of all that the experiment prints."""
    sides, trials = ("5,10,15", "10") if context.everything else ("5,10", "1")
    with tempfile.TemporaryDirectory() as folder:
        run([program("bethe-reproduce"), "cgm", "--sides", sides, "--trials", trials, "--quiet", "--out", folder])
        rows = json.loads((Path(folder) / "table.json").read_text(encoding="utf-8"))
    trials = [row for row in rows if row["instance"].startswith("base-")]
    shared = []
    for moves in sorted({row["size"] for row in trials}):
        sides = [("dual", "certified_seconds_to_1e-6"), ("interior-point", "seconds_to_1e-6")]
        seconds, errors = [], []
        for solver, column in sides:
            own = [row for row in trials if (row["size"], row["solver"]) == (moves, solver)]
            arrived = [row[column] for row in own if row[column] is not None]
            seconds.append(statistics.mean(arrived) if arrived else None)
            errors.append(f"{max(row['true_error'] for row in own):.0e}")
        ratio = f"{seconds[1] / seconds[0]:,.0f}" if None not in seconds else ""
        times = ["did not arrive" if own is None else shown(own) for own in seconds]
        shared.append([f"{moves:,} moves per step, 20 days", *times, ratio, *errors])
    header = ["size", "bethe, certified 1e-6", "clarabel, 1e-6", "clarabel over bethe", "error of bethe", "of clarabel"]
    return table(header, shared)


def pybethe(section):
    def measure(context):
        data = context.data or ROOT
        if section == "tutorial":
            context.file("conll2000/train.txt.gz")
        own = [context.python, str(ROOT / "python" / "bench" / "run.py"), "--data", str(data.resolve()), "--only", section]
        return table_after(run(own), "## ")

    return measure


def birdflow(context):
    weeks, cells = (
        context.file(f"flows/birds/rewbla_{name}") for name in ("weekly_distribution.csv.gz", "cells.csv")
    )
    own = [program("bethe"), "flows", weeks, "--cells", cells, "--loss", "birdflow", "--format", "json"]
    times, processors = [], []
    for _ in range(RUNS):
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = json.loads(run([*own, "--tolerance", "1e-4"]))
        times.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    theirs = json.loads(run([context.python, str(HERE / "birdflow.py"), weeks, cells]))
    gap = answer["gap"] / max(1.0, abs(answer["objective"]))
    ours = [statistics.median(times), statistics.median(processors)]
    both = [theirs["seconds"], theirs["processor"]]
    ratios = [f"{of_theirs / of_ours:.0f}" for of_ours, of_theirs in zip(ours, both)]
    sides = [("bethe", ours, answer["birdflow"]["total"]), (f"BirdFlowPy's way, {theirs['steps']} steps", both, theirs["loss"])]
    rows = [[side, *map(shown, taken), f"{loss:.4f}"] for side, taken, loss in sides]
    rows[0].append(f"certified gap {gap:.0e}, {answer['oracle_calls']} oracle calls")
    rows[1].append(f"compiled in {shown(theirs['compile'])}, which is apart")
    rows.append(["over bethe", *ratios, "", ""])
    return table(["337 cells, 52 weeks", "time", "processor time", "loss", ""], rows)


OF_A_TREE = (
    "Marginals of all tables of the smallest model of [graphs](graphs.md#one-oracle-call), one thread. Its time has the junction\n"
    "tree, ours does not."
)
COMPARISONS = {
    "crfsuite": Comparison(
        "Taggers: CRFsuite",
        "CoNLL-2000's chunks, the same attributes and objective, until the loss is the same ([tagging](tagging.md)).",
        "crfsuite",
        ["python-crfsuite"],
        crfsuite,
    ),
    "crfsuite-references": Comparison(
        "References: CRFsuite",
        "What CRFsuite with plain features reads of the blocks that the built-in model is measured on ([both](references.md#beside-crfsuite)).",
        "crfsuite",
        ["python-crfsuite"],
        crfsuite_references,
    ),
    "sklearn-crfsuite": Comparison(
        "Taggers in Python: sklearn-crfsuite",
        "Its tutorial on CoNLL-2000's chunks ([Python](python.md#beside-sklearn-crfsuite)).",
        "pybethe",
        ["sklearn-crfsuite", "python-crfsuite", "pybethe"],
        pybethe("tutorial"),
    ),
    "mbi-oracle": Comparison(
        "Graphs: mbi",
        "One oracle call beside the fastest of mbi's five, one thread, without compilation. The marginals agree to 1e-9, or there is no table\n"
        "([graphs](graphs.md)).",
        "mbi",
        ["mbi", "jax"],
        mbi_oracle,
    ),
    "mbi-estimation": Comparison(
        "Noisy tables: mbi",
        "Time until the loss is within 1 % of the best known, beside the fastest of mbi's five estimators, without its compilation\n"
        "([graphs](graphs.md#estimation)). `--all` adds the larger models.",
        "mbi",
        ["mbi", "jax"],
        mbi_estimation,
    ),
    "mbi-quick-start": Comparison(
        "Noisy tables in Python: mbi",
        "Its quick start ([Python](python.md#beside-mbi)). Its first run compiles.",
        "pybethe",
        ["mbi", "jax", "pybethe"],
        pybethe("quick-start"),
    ),
    "pgmpy": Comparison(
        "Graphs: pgmpy",
        OF_A_TREE,
        "pgmpy",
        ["pgmpy"],
        junction_tree("pgmpy"),
    ),
    "pyagrum": Comparison(
        "Graphs: pyAgrum",
        OF_A_TREE,
        "pyagrum",
        ["pyagrum"],
        junction_tree("pyagrum"),
    ),
    "faer": Comparison(
        "Chains: faer",
        "A forward–backward pass on 50 positions over its bare products, and these over `faer`'s ([chain](chain.md)).",
        None,
        ["faer"],
        faer,
    ),
    "clarabel": Comparison(
        "Flows: interior point",
        "The paper's simulated birds ([flows](flows.md#solvers)): mean times of the dual and of `clarabel`, greatest errors relative to the optimum.\n"
        "`--all` adds the largest map and nine more trials.",
        None,
        ["clarabel"],
        clarabel,
    ),
    "birdflow": Comparison(
        "Flows: BirdFlow's loss",
        "Red-winged Blackbird at the default weights (`obs=1,distance=0.01,entropy=0.0001,power=0.4`). BirdFlowPy is not on PyPI: its model, loss\n"
        "and optimiser are written again in JAX by their published formula. The time of `bethe` is that of the whole command.",
        "birdflow",
        ["jax", "optax"],
        birdflow,
    ),
}
