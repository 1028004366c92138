"""Movement from counts."""

from __future__ import annotations

import html
import inspect
import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ._engine import InferredFlows
from ._tables import Table, as_file, columns_of, is_path, named, scratch, text, without_folder, write
from ._types import Array, jobs

__all__ = ["Flows"]

_SWITCHES = ("close_year", "shares", "geojson", "transitions", "quote_formulas")
_YES_OR_NO = ("normalise", "errors")
_PAIRS = ("features", "weights")


class Flows:
    """Infers how a population moved from counts per place and time.

        f = Flows(cells, population=1000).fit(counts)
        f.flows, f.counts, f.learned

    `cells` is a table with the columns cell, x and y, or cell, lon and lat: a data frame of pandas or
    polars, a mapping of columns, the path of a CSV file, or an array `[cells, 2]` of x and y. All
    other parameters are the flags of `bethe flows`, with the same defaults:

    population: how many individuals there are
    noise: poisson, gaussian or squared; rate, variance, weight, shares: of the noise. `rate` is a number,
        a mapping from cells to numbers, or a table
    reach: forbids longer moves
    fit: counts or none: whether movement is learned from the counts
    features: what moves depend on, `{"stay": None, "distance": -1.0}`; `None` learns the weight
    covariates: a table for features, or a list of tables
    start: free, the name of a cell, or a mapping from cells to weights
    normalise: whether the moves from a cell are probabilities
    loss, weights: birdflow, and its weights
    extent: all, counted, or a table laid out like the counts
    first, last, close_year: the season
    unlisted: unobserved or zero; coordinates: xy or lonlat
    pairs: a table of marked individuals that were seen twice; tune: pairs or counts
    errors: whether standard errors are found; by default if that takes little time
    bootstrap: finds them from this many simulated populations; seed: of the bootstrap
    threshold: leaves out smaller flows
    forecast: steps after the last time, for `forecast`
    solver, tolerance, max_iterations, beta, step_size, step_schedule, smoothness: of the solver
    time_limit: in seconds; memory_limit: in bytes
    geojson, crs, transitions, quote_formulas: of `save`
    n_jobs: threads; -1 for all cores
    """

    def __init__(
        self,
        cells: Any,
        *,
        population: float | None = None,
        noise: str | None = None,
        rate: Any = None,
        variance: float | None = None,
        weight: float | None = None,
        shares: bool = False,
        reach: float | None = None,
        fit: str | None = None,
        features: str | Mapping[str, float | None] | None = None,
        covariates: Any = None,
        start: Any = None,
        normalise: bool | None = None,
        loss: str | None = None,
        weights: str | Mapping[str, float] | None = None,
        extent: Any = None,
        first: Any = None,
        last: Any = None,
        close_year: bool = False,
        unlisted: str | None = None,
        coordinates: str | None = None,
        pairs: Any = None,
        tune: str | None = None,
        errors: bool | None = None,
        bootstrap: int | None = None,
        seed: int | None = None,
        threshold: float | None = None,
        forecast: int | None = None,
        solver: str | None = None,
        tolerance: float | None = None,
        max_iterations: int | None = None,
        beta: float | None = None,
        step_size: float | None = None,
        step_schedule: str | None = None,
        smoothness: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        geojson: bool = False,
        crs: str | None = None,
        transitions: bool = False,
        quote_formulas: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        given = locals()
        self._given = {name: given[name] for name in self._names()}
        self._inferred: InferredFlows | None = None

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return dict(self._given)

    def fit(self, counts: Any, times: Iterable[Any] | None = None) -> Flows:
        """Infers the movement.

        `counts` has one row per time and one column per cell, after a first column of times; or one
        row per count with the columns time, cell and count. It is a table like `cells`, or an array `[times, cells]`
        with `times` naming its rows. What is missing or `nan` was not observed.
        """
        with scratch() as folder:
            arguments = self._arguments(counts, times, folder)
            self._inferred = InferredFlows.infer(arguments, n_jobs=jobs(self._given["n_jobs"]))
            self._summary: dict[str, Any] = json.loads(self._inferred.summary)
            found = self._summary["warnings"]
            self._summary["warnings"] = [without_folder(str(folder), own) for own in found]
        for warning in self._summary["warnings"]:
            warnings.warn(warning, stacklevel=2)
        return self

    def _arguments(self, counts: Any, times: Iterable[Any] | None, folder: Path) -> list[str]:
        """The flags of the command, with tables as files in a folder."""
        given = {
            name: value
            for name, value in self._given.items()
            if value is not None and value is not False or name in _YES_OR_NO and value is False
        }
        cells = _cells(given.pop("cells"), folder)
        # The command writes to a folder; here nothing is written before `save`.
        arguments = [
            _counts(counts, times, self._given["cells"], folder),
            f"--cells={cells}",
            f"--out={folder / 'out'}",
            "--quiet",
        ]
        given.pop("n_jobs", None)
        own = given.pop("covariates", ())
        several = own if isinstance(own, Sequence) and not is_path(own) else [own]
        for number, table in enumerate(several):
            arguments.append(f"--covariates={as_file(table, folder, f'covariates{number}.csv')}")
        for name, value in given.items():
            flag = "--" + name.replace("_", "-")
            if name in _SWITCHES:
                if value is not True:
                    raise TypeError(f"{name}: found {value!r}, expected True or False")
                arguments.append(flag)
            else:
                arguments.append(f"{flag}={_value(name, value, folder)}")
        return arguments

    @property
    def _found(self) -> InferredFlows:
        if self._inferred is None:
            raise ValueError("nothing is inferred yet: call fit")
        return self._inferred

    @property
    def times(self) -> list[str]:
        """The times, in order."""
        return self._found.times

    @property
    def cells(self) -> list[str]:
        """The names of the cells, in order."""
        return self._found.cells

    @property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` of the command has: status, gap, fit and more."""
        self._found
        return self._summary

    @property
    def learned(self) -> dict[str, Any] | None:
        """What was learned of movement: weights with their standard errors, pulls of places; `None` if
        nothing was."""
        found: dict[str, Any] | None = self.summary.get("learning")
        return found

    @property
    def flows(self) -> Table:
        """Who went where: time, from, to, count, and standard_error where that is known. Flows of at
        most `threshold` individuals are left out."""
        steps, before, after, counts, errors = self._found.flows()
        columns = {**self._moves(steps, before, after), "count": counts}
        return Table(columns if errors is None else {**columns, "standard_error": errors})

    @property
    def counts(self) -> Table:
        """Individuals by time and cell: time, cell, count, standard_error where that is known; and
        observed and expected, in the unit of the counts that were given."""
        counts, errors = self._found.counts()
        observed, expected = self._found.fitted()
        columns = {**self._places(self.times), "count": counts.ravel()}
        if errors is not None:
            columns["standard_error"] = errors.ravel()
        return Table({**columns, "observed": observed.ravel(), "expected": expected.ravel()})

    @property
    def expected_counts(self) -> Array:
        """What each count was expected to be, `[times, cells]`."""
        return self._found.fitted()[1]

    @property
    def net(self) -> Table:
        """What changed from a time to the next: time, cell, arrivals, departures, net."""
        came, left = self._found.net()
        columns = {**self._places(self.times[:-1]), "arrivals": came.ravel()}
        return Table({**columns, "departures": left.ravel(), "net": (came - left).ravel()})

    @property
    def transitions(self) -> Table:
        """Where individuals in a cell go next: time, from, to, probability."""
        steps, before, after, probabilities = self._found.transitions()
        return Table({**self._moves(steps, before, after), "probability": probabilities})

    @property
    def forecast(self) -> Table:
        """Individuals after the last time: time, cell, count. Needs `forecast=` steps."""
        if self._given["forecast"] is None:
            raise ValueError("there is no forecast: Flows(…, forecast=STEPS) asks for one")
        times, counts = self._found.forecast()
        return Table({**self._places(times), "count": counts.ravel()})

    def given(self, cell: Any, at: Any) -> Table:
        """Where individuals in a cell at a time came from and went: time, cell, count."""
        found = self._found.given(_place("at", at, self.times), _place("cell", cell, self.cells))
        if found is None:
            raise ValueError(f"nobody can be in {cell!r} at {at!r}")
        return Table({**self._places(self.times), "count": found.ravel()})

    def routes(self, number: int, *, seed: int = 0) -> np.ndarray[Any, Any]:
        """Routes of this many individuals, drawn at random: names of cells, `[routes, times]`."""
        return np.array(self.cells)[self._found.routes(number, seed)]

    def page(self) -> str:
        """The map as a self-contained HTML page."""
        return self._found.page()

    def save(self, folder: str | PathLike[str]) -> list[str]:
        """Writes the files of `bethe flows --out`: tables, summary, the map as `index.html`, and one
        picture per time. Returns their names."""
        return self._found.save(folder)

    def _repr_html_(self) -> str:
        if self._inferred is None:
            return html.escape(repr(self))
        page = html.escape(self.page())
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = {
            name: value
            for name, value in self._given.items()
            if name != "cells" and value is not defaults[name].default
        }
        shown = "".join(f", {name}={value!r}" for name, value in changed.items())
        return f"Flows(cells{shown})"

    def _moves(self, steps: Any, before: Any, after: Any) -> dict[str, Any]:
        cells, times = np.array(self.cells), np.array(self.times)
        return {"time": times[steps], "from": cells[before], "to": cells[after]}

    def _places(self, times: Sequence[str]) -> dict[str, Any]:
        cells = self.cells
        return {"time": np.repeat(np.array(times), len(cells)), "cell": np.tile(cells, len(times))}


def _cells(given: Any, folder: Path) -> str:
    """The file of the cells; those of an array are named by their numbers."""
    if isinstance(given, np.ndarray):
        if given.ndim != 2 or given.shape[1] != 2:
            raise ValueError(f"cells: found an array of shape {given.shape}, expected [cells, 2]")
        x, y = given.T.tolist()
        given = {"cell": list(range(len(given))), "x": x, "y": y}
    return as_file(given, folder, "cells.csv")


def _counts(given: Any, times: Iterable[Any] | None, cells: Any, folder: Path) -> str:
    """The file of the counts. The columns of an array are the cells, in their order."""
    if not isinstance(given, np.ndarray):
        if times is not None:
            raise TypeError("times name the rows of an array; tables have a column of times")
        return as_file(given, folder, "counts.csv")
    if isinstance(cells, np.ndarray):
        names = named(range(len(cells)))
    elif is_path(cells):
        raise TypeError("counts: found an array, expected a table beside cells that are a file")
    else:
        columns = columns_of(cells, "cells.csv")
        cell = next((name for name in columns if name.lower() == "cell"), next(iter(columns)))
        names = named(columns[cell])
    if given.ndim != 2 or given.shape[1] != len(names):
        raise ValueError(
            f"counts: found an array of shape {given.shape}, expected [times, {len(names)}]"
        )
    rows = list(range(len(given))) if times is None else list(times)
    if len(rows) != len(given):
        raise ValueError(f"times: found {len(rows)}, expected {len(given)}, one per row of counts")
    path = folder / "counts.csv"
    write(path, {"time": rows, **dict(zip(names, given.T.tolist()))})
    return str(path)


def _value(name: str, value: Any, folder: Path) -> str:
    """A parameter as a flag has it."""
    if name in _YES_OR_NO:
        if not isinstance(value, bool):
            raise TypeError(f"{name}: found {value!r}, expected True or False")
        return "yes" if value else "no"
    if name in _PAIRS and isinstance(value, Mapping):
        return ",".join(own if w is None else f"{own}={text(w)}" for own, w in value.items())
    if name == "time_limit":
        return f"{float(value):.9f}s"
    if name == "memory_limit":
        return f"{int(value)}B"
    if name == "pairs":
        return as_file(value, folder, "pairs.csv")
    if name in ("rate", "start", "extent") and not isinstance(value, (str, PathLike, int, float)):
        if isinstance(value, Mapping) and all(np.ndim(own) == 0 for own in value.values()):
            value = {"cell": list(value), "rate" if name == "rate" else "weight": list(value.values())}
        return as_file(value, folder, f"{name}.csv")
    if isinstance(value, float):
        return repr(float(value))  # the command refuses nan and inf
    return os.fspath(value) if isinstance(value, PathLike) else text(value)


def _place(what: str, given: Any, names: list[str]) -> int:
    try:
        return names.index(text(given))
    except ValueError:
        expected = f"one of {names[0]!r} to {names[-1]!r}"
        raise ValueError(f"{what}: found {given!r}, expected {expected}") from None
