"""On a cluster, everything is as in one process, whatever is lost meanwhile."""

import json
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from ray.cluster_utils import Cluster  # noqa: E402
from test_guide import run  # noqa: E402

import pybethe as pb  # noqa: E402
import pybethe.ray  # noqa: E402

LINES = [
    "Knuth, D. E. (1997). The art of computer programming. Addison-Wesley.",
    "———. (1984). The TeXbook. Addison-Wesley.",
    "",
    "Turing, A. M. 1950. Computing machinery and intelligence. Mind 59(236): 433–460.",
] * 10
PLACES = {"cell": ["a", "b", "c"], "x": [0, 1, 2], "y": [0, 0, 0]}


@pytest.fixture(scope="module")
def cluster():
    # Workers unpickle what is defined here.
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, [before])])
    own = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    own.add_node(num_cpus=1)
    ray.init(address=own.address, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield own
    ray.shutdown()
    own.shutdown()
    os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def tagger():
    X = [[name, "of", street] for name in ("ann", "bob", "eve") for street in ("elm", "oak", "ash")]
    return pb.Tagger().fit(X, [["B-name", "O", "B-street"]] * len(X))


def sequences(number):
    draw = np.random.default_rng(0)
    words = ["ann", "bob", "eve", "of", "elm", "oak", "ash"]
    return [draw.choice(words, size=draw.integers(1, 9)).tolist() for _ in range(number)]


def chains(number):
    draw, found = np.random.default_rng(1), []
    for _ in range(number):
        own = pb.Problem([3] * 5)
        for t in range(1, 5):
            own.factor([t - 1, t], draw.normal(size=(3, 3)))
        own.measure({t: [0, 1, 2] for t in range(5)}, weight=2.0, offset=-3.0)
        found.append(own)
    return found


def without_seconds(answer):
    found = json.loads(answer.to_json())
    del found["seconds"]
    return found


@pytest.mark.parametrize("workers", [1, 3])
def test_a_list_is_answered_as_in_one_process(cluster, tagger, workers):
    own = {"workers": workers, "num_cpus": 0.25}
    for format in ("bibtex", "json"):
        assert pybethe.ray.cite(LINES, format, batch=7, **own) == pb.cite(LINES, format)
    X = sequences(40)
    assert pybethe.ray.tag(tagger, X, batch=6, **own) == tagger.predict(X)
    problems = chains(11)
    expected = [without_seconds(answer) for answer in pb.solve(problems)]
    assert pybethe.ray.solve(problems, batch=3, **own) == expected


def test_flows_are_as_in_one_process(cluster):
    several = [{"week": [1, 2], "a": [90 - n, 40], "b": [8, 48 + n], "c": [2, 12]} for n in range(3)]
    settings = pb.Flows(PLACES, population=100)
    for found, counts in zip(pybethe.ray.flows(settings, several), several, strict=True):
        alone = pb.Flows(PLACES, population=100).fit(counts)
        assert found["summary"]["objective"] == alone.summary["objective"]
        for name, expected in (("flows", alone.flows), ("counts", alone.counts)):
            assert list(found[name]) == list(expected)
            for column, values in expected.items():
                np.testing.assert_array_equal(found[name][column], values)


def test_a_dataset_gets_columns(cluster, tagger):
    X = sequences(50)
    tagged = pybethe.ray.tag(tagger, ray.data.from_items([{"tokens": own} for own in X]), batch=8)
    rows = tagged.take_all()
    assert [list(row["tokens"]) for row in rows] == X
    assert [list(row["labels"]) for row in rows] == tagger.predict(X)

    problems = chains(9)
    given = ray.data.from_items([{"problem": own.to_json(), "name": str(n)} for n, own in enumerate(problems)])
    rows = pybethe.ray.solve(given, batch=2, tolerance=1e-9).take_all()
    assert [row["name"] for row in rows] == [str(n) for n in range(9)]
    expected = [without_seconds(answer) for answer in pb.solve(problems, tolerance=1e-9)]
    assert [json.loads(row["answer"]) for row in rows] == expected

    rows = pybethe.ray.cite(ray.data.from_items([{"text": line} for line in LINES]), batch=7).take_all()
    assert "\n".join(row["entry"] for row in rows) == pb.cite(LINES)


def test_a_dataset_of_counts_gets_flows(cluster):
    rows = [(week, cell, 10 * week + at) for week in (1, 2, 3) for at, cell in enumerate("abc")]
    counts = [{"time": week, "cell": cell, "count": count} for week, cell, count in rows]
    given = ray.data.from_items([{"counts": counts, "species": "owl"}])
    (row,) = pybethe.ray.flows(pb.Flows(PLACES, population=100), given).take_all()
    columns = {name: [own[name] for own in counts] for name in ("time", "cell", "count")}
    alone = pb.Flows(PLACES, population=100).fit(columns)
    assert row["species"] == "owl"
    assert [own["count"] for own in row["flows"]] == alone.flows["count"].tolist()
    assert [own["expected"] for own in row["fitted"]] == alone.counts["expected"].tolist()


class Logged:
    """Tokens that write down where they arrive, and may end their worker the first time."""

    def __init__(self, number, tokens, log, deadly=False):
        self.given = number, tokens, str(log), deadly

    def __reduce__(self):
        return arrived, self.given


def arrived(number, tokens, log, deadly):
    time.sleep(0.005)
    with open(log, "a") as file:
        file.write(f"{number} {ray.get_runtime_context().get_node_id()}\n")
    if deadly and logged(log)[number] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return tokens


def logged(log):
    """How often each row arrived."""
    with open(log) as file:
        return Counter(int(line.split()[0]) for line in file)


def test_a_killed_worker_repeats_only_its_batch(cluster, tagger, tmp_path):
    X, log = sequences(60), tmp_path / "log"
    given = [Logged(number, own, log, deadly=number == 33) for number, own in enumerate(X)]
    assert pybethe.ray.tag(tagger, given, batch=10, workers=2, num_cpus=0.25) == tagger.predict(X)
    # The batch of row 33 begins with row 30; it ended at 33 the first time.
    assert logged(log) == Counter(range(60)) + Counter(range(30, 34))


def test_a_lost_machine_loses_nothing(cluster, tagger, tmp_path):
    node = cluster.add_node(num_cpus=2)
    X, log, found = sequences(3000), tmp_path / "log", []
    given = [Logged(number, own, log) for number, own in enumerate(X)]
    log.touch()

    def work():
        found.append(pybethe.ray.tag(tagger, given, batch=20, workers=6, num_cpus=0.25))

    working = threading.Thread(target=work, daemon=True)
    working.start()
    while node.node_id not in log.read_text() and working.is_alive():
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)
    assert working.is_alive()
    working.join(timeout=240)
    assert found == [tagger.predict(X)]
    assert set(logged(log)) == set(range(3000))


def test_mistakes_are_named(cluster, tagger):
    problems = chains(5)
    problems[3] = pb.Problem([3] * 12)
    for a in range(12):
        for b in range(a):
            problems[3].factor([a, b], np.ones((3, 3)))
    with pytest.raises(MemoryError, match="problem 3: "):
        pybethe.ray.solve(problems, batch=2, oracle="exact", memory_limit=1_000_000)
    with pytest.raises(ValueError, match="problem 1: "):
        pybethe.ray.solve(ray.data.from_items([{"problem": own} for own in (problems[0].to_json(), "{}")])).take_all()
    with pytest.raises(TypeError, match="n_jobs"):
        pybethe.ray.solve(problems, n_jobs=2)
    with pytest.raises(ValueError, match="expected 'tokens' among them"):
        pybethe.ray.tag(tagger, ray.data.from_items([{"words": ["ann"]}])).take_all()
    with pytest.raises(ValueError, match="batch: found 0"):
        pybethe.ray.tag(tagger, [["ann"]], batch=0)


def test_every_snippet_of_the_guide_runs(cluster):
    run("many-machines.md")
