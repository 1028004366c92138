"""Most memory of a problem while its table goes in and its marginals come out, in sizes of the table.

    python python/bench/memory.py MODEL

Each model has 2²⁴ numbers in one table, 128 MiB. Run one model a process: it is the process's peak that is read.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")

MODELS: dict[str, tuple[list[int], dict[str, Any]]] = {
    "two variables": ([4096, 4096], {}),
    "three variables": ([256, 256, 256], {}),
    "three variables, tree-reweighted": ([256, 256, 256], {"oracle": "trw"}),
}


def peak() -> int:
    """The most bytes that this process has had so far."""
    return int(STATUS.read_text().split("VmHWM:")[1].split()[0]) * 1024


def peaks(model: str) -> list[float]:
    """After `factor`, after `solve`, after the marginals became an array: all beyond the array that was given."""
    import numpy as np

    import pybethe as pb

    shape, options = MODELS[model]
    scope = tuple(range(len(shape)))
    table = np.random.default_rng(0).normal(size=shape)
    before = peak()
    problem = pb.Problem(shape)
    problem.factor(scope, table)
    stated = peak()
    answer = problem.solve(**options)
    solved = peak()
    array = answer.marginals[scope]
    assert np.shares_memory(array, answer.marginals[scope])
    return [(own - before) / table.nbytes for own in (stated, solved, peak())]


def measured(model: str) -> list[float]:
    """`peaks` in a process of its own."""
    ran = subprocess.run([sys.executable, __file__, model], check=True, capture_output=True, text=True)
    return list(json.loads(ran.stdout))


if __name__ == "__main__":
    print(json.dumps(peaks(sys.argv[1])))
