"""Speed and memory of pybethe, beside its peers where they are installed.

    python python/bench/run.py --data DATA [--results docs/results] [--only SECTION …]

Writes `python.md`. DATA holds `conll2000/{train,test}.txt.gz`.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import memory
import pybethe as pb
from measure import once, peer, seconds, shown, table, write_section
from pybethe import layers


def chain(random: np.random.Generator, length: int, states: int) -> pb.Problem:
    """A chain with a soft count on its first state."""
    problem = pb.Problem([states] * length)
    for t in range(length):
        problem.factor([t], random.normal(size=states))
    for t in range(1, length):
        problem.factor([t - 1, t], random.normal(size=(states, states)))
    first = np.eye(states)[0]
    problem.measure({t: first for t in range(length)}, weight=1.0, offset=-0.1 * length)
    return problem


def overhead() -> str:
    """What a call costs whatever it solves, beside a solve of about a millisecond."""
    random = np.random.default_rng(0)
    nothing, problem = pb.Problem([2]), chain(random, 200, 12)
    call = seconds(lambda: nothing.solve(), 5000, of=min)
    whole = seconds(lambda: problem.solve(), 1000, of=min)
    rows = [
        ["a problem of one variable", shown(call), f"{100 * call / 1e-3:.1f} % of 1 ms"],
        ["a chain of 200 variables of 12 states", shown(whole), f"{100 * call / whole:.1f} % of it is the call"],
    ]
    return table(["`problem.solve()` of", "shortest time", "share"], rows)


def batches(chains: int) -> str:
    """Many small chains: a list in Python, and a file of the command line."""
    random = np.random.default_rng(1)
    building, problems = once(lambda: [chain(random, 20, 5) for _ in range(chains)])
    solving, _ = once(lambda: pb.solve(problems, marginals="nodes"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chains.jsonl"
        file.write_text("\n".join(problem.to_json() for problem in problems), encoding="utf-8")
        command = [sys.executable, "-m", "pybethe", "solve", str(file), "--marginals", "nodes"]
        out = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        of_command, _ = once(lambda: subprocess.run(command, check=True, **out))
    rows = [
        ["`pb.solve(problems)`", shown(solving), f"{chains / solving:,.0f}"],
        ["stating them with numpy tables before", shown(building), f"{chains / building:,.0f}"],
        ["`python -m pybethe solve chains.jsonl`", shown(of_command), f"{chains / of_command:,.0f}"],
    ]
    return table([f"{chains:,} chains of 20 variables of 5 states", "time", "chains per second"], rows)


def gradients() -> str:
    """Backward against forward passes, by the number of rules that pull."""
    random = np.random.default_rng(2)
    sequences, positions, labels = 16, 200, 12
    scores = random.normal(size=(sequences, positions, labels))
    transitions = random.normal(size=(labels, labels))
    rows = []
    for active in (1, 5, 10, 100):
        rules = [
            layers.CountRule(random.normal(size=labels) * (0.1 + random.random()), "squared", 0.05, 1.0)
            for _ in range(active)
        ]
        forward = seconds(lambda: layers.project(scores, transitions, rules), 5)
        _, vjp = layers.project_with_vjp(scores, transitions, rules)
        v = random.normal(size=scores.shape)
        backward = seconds(lambda: vjp(v), 5)
        rows.append([str(active), shown(forward), shown(backward), f"{backward / forward:.2f}"])
    header = ["rules that pull", "forward", "backward", "backward / forward"]
    return table(header, rows)


def tables() -> str:
    """Peaks while a table goes in and its marginals come out."""
    if not memory.STATUS.exists():
        return f"Not measured: this system has no {memory.STATUS}."
    rows = [[model, *(f"{own:.2f}" for own in memory.measured(model))] for model in memory.MODELS]
    return table(["one table over", "after `factor(scope, array)`", "`solve()`", "`answer.marginals[scope]`"], rows)


def sentences(path: Path) -> list[list[list[str]]]:
    """Sentences of a column file: token, part of speech, chunk."""
    text = gzip.decompress(path.read_bytes()).decode()
    return [[row.split() for row in own.split("\n")] for own in text.strip().split("\n\n")]


def attributes(sentence: list[list[str]], i: int) -> dict[str, Any]:
    """What sklearn-crfsuite's tutorial takes from a token and its neighbours."""
    word, tag = sentence[i][0], sentence[i][1]
    own: dict[str, Any] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    for step, mark, end in ((-1, "-1", "BOS"), (1, "+1", "EOS")):
        if not 0 <= i + step < len(sentence):
            own[end] = True
            continue
        word, tag = sentence[i + step][0], sentence[i + step][1]
        own |= {
            f"{mark}:word.lower()": word.lower(),
            f"{mark}:word.istitle()": word.istitle(),
            f"{mark}:word.isupper()": word.isupper(),
            f"{mark}:postag": tag,
            f"{mark}:postag[:2]": tag[:2],
        }
    return own


def tutorial(data: Path) -> str:
    """sklearn-crfsuite's tutorial, on chunks of CoNLL-2000."""
    train, test = (sentences(data / "conll2000" / f"{part}.txt.gz") for part in ("train", "test"))
    prepared = [
        ([[attributes(s, i) for i in range(len(s))] for s in part], [[row[2] for row in s] for s in part])
        for part in (train, test)
    ]
    (X, y), (X_test, y_test) = prepared
    rows = []
    for jobs in (1, -1):
        tagger = pb.Tagger(constraints="none", l1=0.1, l2=0.1, max_iterations=100, n_jobs=jobs)
        fitting, _ = once(lambda: tagger.fit(X, y))
        tagging, predicted = once(lambda: tagger.predict(X_test))
        threads = "one thread" if jobs == 1 else f"{os.cpu_count()} threads"
        f1 = 100 * tagger._trained.evaluate(y_test, predicted)["f1"]
        rows.append([f"pybethe, {threads}", shown(fitting), shown(tagging), f"{f1:.2f}"])
    crfsuite = peer("sklearn_crfsuite")
    if crfsuite is None:
        rows.append(["sklearn-crfsuite", "not installed", "", ""])
    else:
        own = crfsuite.CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
        fitting, _ = once(lambda: own.fit(X, y))
        tagging, predicted = once(lambda: own.predict(X_test))
        f1 = 100 * tagger._trained.evaluate(y_test, [list(labels) for labels in predicted])["f1"]
        rows.append(["sklearn-crfsuite, one thread", shown(fitting), shown(tagging), f"{f1:.2f}"])
    return table(["", "fit", "predict", "F1 of chunks"], rows)


def quick_start() -> str:
    """mbi's quick start, on made data."""
    random = np.random.default_rng(3)
    names, shape = ["age", "sex", "income"], [10, 2, 5]
    joint = 1000 * random.dirichlet(np.ones(100)).reshape(shape)
    scopes = {("age", "sex"): (2,), ("sex", "income"): (0,)}
    noisy = {own: joint.sum(axis=axes) + random.normal(size=joint.sum(axis=axes).shape) for own, axes in scopes.items()}

    def ours() -> Any:
        found = pb.estimate(dict(zip(names, shape)), noisy)
        return found.sample(1000), found.project(("age", "sex"))

    first, _ = once(ours)
    again = seconds(ours, 20)
    rows = [["pybethe", shown(first), shown(again)]]
    mbi = peer("mbi")
    if mbi is None:
        return table(["", "first run", "later runs"], [*rows, ["mbi", "not installed", ""]])
    from mbi import Domain, estimation, marginal_loss

    def theirs() -> Any:
        domain = Domain(names, shape)
        measurements = [marginal_loss.LinearMeasurement(own.ravel(), scope) for scope, own in noisy.items()]
        model = estimation.MirrorDescent().estimate(domain, measurements, iters=1000)
        return model.synthetic_data(rows=1000), model.project(("age", "sex")).datavector()

    first, _ = once(theirs)
    rows.append(["mbi, mirror descent, 1,000 iterations", shown(first), shown(seconds(theirs, 3))])
    return table(["", "first run", "later runs"], rows)


PAGE = """# Python

Speed and memory of `pybethe`, and what rules bring to a network.

    python python/bench/run.py --data DATA --results docs/results
    python python/bench/network.py --data DATA --results docs/results

Seeds are fixed in the scripts. Times are medians of some runs unless a table says otherwise; fits, batches and first runs are timed once.
"""


def sections(data: Path) -> dict[str, Any]:
    """What is measured, with a heading and a sentence, by name."""
    return {
        "calls": ("What a call costs", "", overhead),
        "batches": ("Many problems", "", lambda: batches(10_000)),
        "gradients": (
            "Gradients of layers",
            "16 sequences of 200 positions and 12 labels; every rule is a squared penalty, so all pull.",
            gradients,
        ),
        "memory": (
            "Memory of tables",
            "Most memory beyond the array itself, in its sizes: it has 2²⁴ numbers. Python may change an array at any time, so the engine copies it,\n"
            "once; marginals become arrays without a copy.",
            tables,
        ),
        "tutorial": (
            "Beside sklearn-crfsuite",
            "Its tutorial's attributes and settings, on chunks of CoNLL-2000: trained on the training part, judged on the test part.\n"
            "Nothing was chosen on either.",
            lambda: tutorial(data),
        ),
        "quick-start": (
            "Beside mbi",
            "Its quick start: two noisy tables of 1,000 records, a model, 1,000 records drawn, one table projected. Its first run compiles.",
            quick_start,
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--only", nargs="+", metavar="SECTION", help="measure these sections alone")
    given = parser.parse_args()
    all_sections = sections(given.data)
    unknown = set(given.only or ()) - set(all_sections)
    if unknown:
        parser.error(f"found section {unknown.pop()}, expected one of {', '.join(all_sections)}")
    versions = f"pybethe {pb.__version__}, Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores"
    for name in given.only or all_sections:
        heading, sentence, measured = all_sections[name]
        parts = [f"## {heading}", sentence, measured(), f"({versions})"]
        text = "\n\n".join(part for part in parts if part)
        print(text, flush=True)
        if given.results is not None:
            write_section(given.results / "python.md", name, text, PAGE)


if __name__ == "__main__":
    main()
