"""Layers for neural networks: marginals of chains under rules, with their gradients.

    rules = [at_most(1, [2], labels=5)]
    marginals = project(scores, transitions, rules, mask)          # [sequences, positions, labels]
    marginals, vjp = project_with_vjp(scores, transitions, rules, mask)
    gradients = vjp(v)                                             # .scores, .transitions, .weights, …

A rule is a penalty on an expected count, `z = Σ_t coefficients·μ_t + offset`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._engine import Projection, fenchel_young
from ._types import Array, jobs

__all__ = [
    "CountRule",
    "Gradients",
    "at_least",
    "at_most",
    "equal",
    "fenchel_young_loss",
    "project",
    "project_with_vjp",
]


@dataclass(frozen=True)
class CountRule:
    """`weight · penalty(Σ_t coefficients·μ_t + offset)`. Soft penalties have weight 1 unless given;
    hard ones, `at_most` and `equal`, have no weight."""

    coefficients: Sequence[float]
    penalty: str = "hinge"
    weight: float | None = None
    offset: float = 0.0
    delta: float | None = None

    def _given(self) -> tuple[list[float], str, float | None, float, float | None]:
        coefficients = [float(own) for own in self.coefficients]
        return coefficients, self.penalty, self.weight, self.offset, self.delta


def _indicator(of: Sequence[int], labels: int, sign: float) -> list[float]:
    wrong = [label for label in of if not 0 <= label < labels]
    if wrong:
        raise ValueError(f"found label {wrong[0]}, expected 0 to {labels - 1}")
    return [sign if label in of else 0.0 for label in range(labels)]


def at_most(
    count: float, of: Sequence[int], *, labels: int, weight: float | None = None, hard: bool = False
) -> CountRule:
    """At most `count` of some labels: free up to `count`, then `weight` for each more."""
    if hard:
        return CountRule(_indicator(of, labels, 1.0), "at_most", weight, -count)
    return CountRule(_indicator(of, labels, -1.0), "hinge", weight, 1.0 + count)


def at_least(
    count: float, of: Sequence[int], *, labels: int, weight: float | None = None, hard: bool = False
) -> CountRule:
    """At least `count` of some labels."""
    if hard:
        return CountRule(_indicator(of, labels, -1.0), "at_most", weight, count)
    return CountRule(_indicator(of, labels, 1.0), "hinge", weight, 1.0 - count)


def equal(
    count: float, of: Sequence[int], *, labels: int, weight: float | None = None, hard: bool = False
) -> CountRule:
    """Exactly `count` of some labels."""
    penalty = "equal" if hard else "absolute"
    return CountRule(_indicator(of, labels, 1.0), penalty, weight, -count)


class Gradients(NamedTuple):
    """Gradients in everything that goes in, for each sequence: the first axis is that of the
    sequences. `transitions` is `None` without them.

    `ties` and `repeated` are true for some rules of some sequences: `[sequences, rules]`. A rule that
    ties is at the border of what it can do, such as a limit that just holds: the gradients of a
    sequence with such a rule are one-sided. Rules that are repeated hold together what one of them
    would hold alone: gradients in their offsets and coefficients apply where all of them move
    together. Both are `None` in the gradients of a loss, which looks for neither."""

    scores: Array
    transitions: Array | None
    weights: Array
    offsets: Array
    coefficients: Array
    ties: npt.NDArray[np.bool_] | None = None
    repeated: npt.NDArray[np.bool_] | None = None


def _lengths(scores: Array, mask: npt.ArrayLike | None) -> list[int]:
    sequences, positions, _ = scores.shape
    if mask is None:
        return [positions] * sequences
    given = np.asarray(mask, dtype=bool)
    if given.shape != (sequences, positions):
        raise ValueError(f"found a mask of shape {given.shape}, expected {(sequences, positions)}")
    lengths = given.sum(axis=1)
    if not np.array_equal(given, np.arange(positions) < lengths[:, None]):
        raise ValueError("the mask has gaps, expected true up to each sequence's end")
    return [int(length) for length in lengths]


def _scores(given: npt.ArrayLike) -> Array:
    scores = np.asarray(given, dtype=np.float64)
    if scores.ndim != 3:
        raise ValueError(
            f"found scores of {scores.ndim} axes, expected [sequences, positions, labels]"
        )
    return scores


def project_with_vjp(
    scores: npt.ArrayLike,
    transitions: npt.ArrayLike | None = None,
    rules: Sequence[CountRule] = (),
    mask: npt.ArrayLike | None = None,
    *,
    tolerance: float = 1e-10,
    n_jobs: int | None = None,
) -> tuple[Array, Callable[[npt.ArrayLike], Gradients]]:
    """Marginals, and a function from `v` to the gradients of `⟨v, marginals⟩`, each sequence's own."""
    own = _scores(scores)
    given = [rule._given() for rule in rules]
    found = Projection(
        own, _lengths(own, mask), transitions, given, tolerance=tolerance, n_jobs=jobs(n_jobs)
    )

    def vjp(v: npt.ArrayLike) -> Gradients:
        return Gradients(*found.pullback(np.asarray(v, dtype=np.float64)))

    return found.marginals, vjp


def project(
    scores: npt.ArrayLike,
    transitions: npt.ArrayLike | None = None,
    rules: Sequence[CountRule] = (),
    mask: npt.ArrayLike | None = None,
    *,
    tolerance: float = 1e-8,
    n_jobs: int | None = None,
) -> Array:
    """Marginals of chains under rules: `[sequences, positions, labels]`, zero at padding."""
    return project_with_vjp(
        scores, transitions, rules, mask, tolerance=tolerance, n_jobs=n_jobs
    )[0]


def fenchel_young_loss(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    transitions: npt.ArrayLike | None = None,
    rules: Sequence[CountRule] = (),
    mask: npt.ArrayLike | None = None,
    *,
    tolerance: float = 1e-8,
    n_jobs: int | None = None,
) -> tuple[Array, Gradients]:
    """The loss of each sequence, and its gradients. Without rules it is the negative log-likelihood
    of a conditional random field."""
    own = _scores(scores)
    truth = np.asarray(labels)
    if truth.shape != own.shape[:2]:
        raise ValueError(f"found labels of shape {truth.shape}, expected {own.shape[:2]}")
    if truth.dtype.kind not in "iub":
        raise TypeError(f"found labels of type {truth.dtype}, expected whole numbers")
    lengths = _lengths(own, mask)
    # Padding may hold anything, such as -100.
    listed = [row[:length].tolist() for row, length in zip(truth, lengths)]
    negative = next((index for index, row in enumerate(listed) if min(row, default=0) < 0), None)
    if negative is not None:
        raise ValueError(
            f"sequence {negative}: found label {min(listed[negative])}, expected 0 to {own.shape[2] - 1}; "
            "the mask says what is padding"
        )
    given = [rule._given() for rule in rules]
    losses, gradients = fenchel_young(
        own, lengths, listed, transitions, given, tolerance=tolerance, n_jobs=jobs(n_jobs)
    )
    return losses, Gradients(*gradients)


def _is_hard(rule: CountRule) -> bool:
    return rule.penalty in ("at_most", "equal")


def _weight(rule: CountRule) -> float:
    """The weight as a number: 0 for hard rules, whose weight is not used."""
    if _is_hard(rule):
        return 0.0
    return 1.0 if rule.weight is None else float(rule.weight)


def _with(rules: Sequence[CountRule], weights: Any, offsets: Any) -> list[CountRule]:
    """The rules with other weights and offsets; hard ones have no weight."""
    pairs = zip(rules, np.asarray(weights).tolist(), np.asarray(offsets).tolist())
    return [
        replace(rule, weight=None if _is_hard(rule) else weight, offset=offset)
        for rule, weight, offset in pairs
    ]
