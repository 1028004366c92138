"""The types of what callers hand in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._engine import Record

Variable = Union[int, str]
Scope = Union[Variable, Sequence[Variable]]
Terms = Union[Mapping[Any, npt.ArrayLike], Iterable[tuple[Scope, npt.ArrayLike]]]
Array = npt.NDArray[np.float64]
PenaltyName = Literal[
    "linear", "hinge", "smoothed_hinge", "squared", "absolute", "huber", "poisson", "at_most", "equal"
]


class Options(TypedDict, total=False):
    """The keywords of `solve`; `help(pybethe.solve)` says what they do."""

    solver: Literal[
        "auto", "rda", "mirror-descent", "accelerated-rda", "adaptive", "dual", "newton", "global"
    ]
    tolerance: float | None
    max_iterations: int | None
    time_limit: float | None
    returned: Literal["best", "last", "average"]
    oracle: Literal["auto", "exact", "trw", "loopy"]
    marginals: Literal["all", "nodes", "none"]
    beta: float | None
    step_size: float | None
    step_schedule: Literal["inverse"] | None
    smoothness: float | None
    covariance: Literal["measurements"] | None
    map_budget: int | None
    memory_limit: int | None
    trace: bool | None
    callback: Callable[[Record], object] | None
    n_jobs: int | None


def jobs(n_jobs: Any) -> int | None:
    """How many threads; `None` for all cores."""
    if n_jobs is None or n_jobs == -1:
        return None
    if not isinstance(n_jobs, int) or n_jobs < 1:
        raise ValueError(f"n_jobs: found {n_jobs!r}, expected at least 1, or -1 for all cores")
    return n_jobs
