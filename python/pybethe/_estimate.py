"""Distributions and records from noisy tables of counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from ._engine import Answer, Problem
from ._tables import Table
from ._types import Array, Options, Scope

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Estimate", "estimate"]

Tables = Union[Mapping[Any, npt.ArrayLike], Iterable[Any]]


class Estimate:
    """The distribution of greatest entropy that fits noisy tables.

    `answer` is that of the problem, with its gap; `total` the number of records.
    """

    def __init__(self, variables: Mapping[str, list[str]], total: float, answer: Answer) -> None:
        self.variables, self.total, self.answer = dict(variables), total, answer
        potentials = answer.potentials
        if potentials is None:
            raise ValueError("an average of iterates has no potentials: choose another solver or returned=")
        self._potentials = [(scope, potentials[scope]) for scope in potentials.scopes]
        self._model = self._with(())

    def _with(self, scope: Sequence[str]) -> Problem:
        """The fitted model, with a table over a scope."""
        model = Problem(self.variables)
        for own, table in self._potentials:
            model.factor(own, table)
        if scope:
            model.factor(scope, np.zeros([len(self.variables[name]) for name in scope]))
        return model

    def project(self, scope: Scope) -> Array:
        """The expected table of counts over one variable or several, with one axis each."""
        names = [scope] if isinstance(scope, (str, int)) else list(scope)
        known = list(self.variables)
        own = [known[name] if isinstance(name, int) else name for name in names]
        unknown = [name for name in own if name not in self.variables]
        if unknown:
            raise KeyError(f"found {unknown[0]!r}, expected one of {known}")
        key: Any = own[0] if len(own) == 1 else tuple(own)
        try:
            shares = self.answer.marginals[key]
        except KeyError:
            shares = self._with(own).solve(oracle="exact").marginals[key]
        return self.total * shares

    def sample(self, records: int | None = None, *, seed: int = 0) -> Table:
        """Records drawn from the distribution, by default as many as were counted. One column per
        variable, with the names of states, or their numbers where they have none."""
        number = round(self.total) if records is None else records
        states = self._model.sample(number, seed=seed, oracle="exact")
        columns = {}
        for index, (name, own) in enumerate(self.variables.items()):
            numbered = own == [str(state) for state in range(len(own))]
            columns[name] = states[:, index] if numbered else np.array(own)[states[:, index]]
        return Table(columns)

    def __repr__(self) -> str:
        return f"Estimate({', '.join(self.variables)}; total {self.total:.6g}, {self.answer!r})"


def estimate(
    variables: Mapping[str, int | Iterable[Any]] | Any,
    tables: Tables,
    *,
    stddev: float | Mapping[Any, float] = 1.0,
    total: float | None = None,
    **options: Unpack[Options],
) -> Estimate:
    """Fits the distribution of greatest entropy to noisy tables of counts.

        e = estimate({"age": 10, "sex": ["f", "m"]}, {("age", "sex"): noisy}, stddev=10.0)
        e.project("age"), e.sample(1000)

    variables: numbers of states, or their names, by variable; or a `Domain` of mbi
    tables: counts by variable or tuple of variables, one axis each; or a list of mbi's
        `LinearMeasurement`, which bring their own `stddev`
    stddev: the standard deviation of the noise on every cell, or one for each table
    total: the number of records; by default estimated from the tables
    options: keywords of `solve`
    """
    states = _states(variables)
    shape = {name: len(own) for name, own in states.items()}
    measured = [_measured(own, shape) for own in _listed(tables, stddev)]
    if not measured:
        raise ValueError("found no tables, expected at least one")
    if total is None:
        total = _total(measured)
    elif not (math.isfinite(total) and total > 0):
        raise ValueError(f"total: found {total}, expected a positive number")
    problem = Problem(states)
    for scope, table, deviation in measured:
        problem.measure_table(list(scope), table, weight=deviation**-2, total=total)
    return Estimate(states, total, problem.solve(**options))


def _states(variables: Any) -> dict[str, list[str]]:
    """The names of states by variable."""
    if hasattr(variables, "attributes") and hasattr(variables, "shape"):  # a Domain of mbi
        variables = dict(zip(variables.attributes, variables.shape))
    if not isinstance(variables, Mapping):
        found = type(variables).__name__
        raise TypeError(f"variables: found {found}, expected a mapping from names to states")
    return {
        str(name): [str(own) for own in (range(states) if isinstance(states, int) else states)]
        for name, states in variables.items()
    }


def _listed(tables: Tables, stddev: Any) -> list[tuple[Any, Any, Any]]:
    """Scope, table and standard deviation of each table."""
    if not isinstance(tables, Mapping):
        if stddev != 1.0:
            raise ValueError("stddev: measurements of mbi have their own, expected none")
        return [_of_mbi(own) for own in tables]
    if not isinstance(stddev, Mapping):
        return [(scope, table, stddev) for scope, table in tables.items()]
    odd = set(stddev) ^ set(tables)
    if odd:
        raise ValueError(f"stddev: found {odd.pop()!r} in one mapping only, expected one for each table")
    return [(scope, table, stddev[scope]) for scope, table in tables.items()]


def _of_mbi(own: Any) -> tuple[Any, Any, Any]:
    try:
        scope, table, deviation = own.clique, own.noisy_measurement, own.stddev
    except AttributeError:
        found = type(own).__name__
        raise TypeError(
            f"tables: found {found} in a list, expected LinearMeasurement of mbi, or a mapping from "
            "scopes to tables"
        ) from None
    names = (type(own.query).__name__, getattr(own.query, "__name__", ""))
    if not {"DatavectorQuery", "datavector"} & set(names):
        raise ValueError(f"tables: found a query of {scope}, expected measurements of whole tables")
    return scope, table, deviation


def _measured(
    own: tuple[Any, Any, Any], shape: Mapping[str, int]
) -> tuple[tuple[str, ...], Array, float]:
    given, table, deviation = own
    scope = (given,) if isinstance(given, str) else tuple(given)
    unknown = [name for name in scope if name not in shape]
    if unknown:
        raise KeyError(f"found {unknown[0]!r} in a table's scope, expected one of {list(shape)}")
    counts = np.asarray(table, dtype=np.float64)
    expected = tuple(shape[name] for name in scope)
    if counts.shape != expected and counts.shape != (math.prod(expected),):
        raise ValueError(f"table {scope}: found shape {counts.shape}, expected {expected}")
    if not np.isfinite(counts).all():
        raise ValueError(f"table {scope}: found a count that is nan or infinite")
    if not isinstance(deviation, (int, float, np.number)):
        found = type(deviation).__name__
        raise TypeError(f"stddev: found {found}, expected a number, or a mapping with one for each table")
    if not (math.isfinite(deviation) and deviation > 0):
        raise ValueError(f"stddev of {scope}: found {deviation}, expected a positive number")
    return scope, counts.reshape(expected), float(deviation)


def _total(measured: Iterable[tuple[Any, Array, float]]) -> float:
    """The sums of all tables, each as sure as its noise allows."""
    sums = [(table.sum(), 1.0 / (table.size * deviation**2)) for _, table, deviation in measured]
    estimated = sum(own * precision for own, precision in sums) / sum(p for _, p in sums)
    return max(1.0, float(estimated))
