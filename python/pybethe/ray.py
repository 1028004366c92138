"""References, tags, answers and flows on many machines, with Ray.

    import pybethe.ray
    pybethe.ray.tag(tagger, X)                      # what tagger.predict(X) returns
    pybethe.ray.tag(tagger, dataset, "tokens")      # the dataset with a column of labels

A row is a problem. Rows go to actors in batches, as Arrow tables, and come back in their order, so that
the outcome does not depend on how many actors there are. Every actor loads its model once and has one
thread. If an actor or its machine is lost, another one repeats its batch; in a dataset, the whole block
is repeated.

workers: how many actors there may be; by default one per processor
num_cpus: what Ray sets aside for each. Reading needs some too: actors that take all wait forever
batch: how many rows an actor takes at once
"""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, Dataset
from ray.exceptions import RayTaskError

from ._cite import joined, lines_of
from ._engine import Bibliography, Problem, TrainedTagger, solve_many
from ._flows import Flows
from ._tables import Table
from .tagger import Tagger

__all__ = ["cite", "flows", "solve", "tag"]

_PICKLED = "pickled"


class Inferred(TypedDict):
    """What is known of one table of counts: see the properties of `pybethe.Flows`."""

    summary: dict[str, Any]
    flows: Table
    counts: Table


def cite(
    lines: str | Iterable[str] | Dataset,
    format: str = "bibtex",
    column: str = "text",
    *,
    model: str | PathLike[str] | None = None,
    workers: int | None = None,
    num_cpus: float = 0.5,
    batch: int = 500,
) -> Any:
    """Entries of references: what `pybethe.cite` returns, or for a dataset, one with the columns text and
    entry. Rows of a dataset are one bibliography. Its keys depend on all rows, so it is read at once."""
    bibliography = Bibliography(format, model)
    content = None if model is None else ray.put(Path(model).read_bytes())
    _check(batch)
    given = (
        lines
        if isinstance(lines, Dataset)
        else _dataset({column: pa.array(lines_of(lines), pa.string())}, batch)
    )
    read = _mapped(given, _Reader, (content, column), workers, num_cpus, batch)
    written = _entries(bibliography, read)
    if isinstance(lines, Dataset):
        return ray.data.from_arrow_refs([ray.put(table) for table in written])
    return joined([entry for table in written for entry in table["entry"].to_pylist()], format)


def tag(
    tagger: Tagger,
    X: Iterable[Any] | Dataset,
    column: str = "tokens",
    *,
    rules: bool = True,
    workers: int | None = None,
    num_cpus: float = 0.5,
    batch: int = 500,
) -> Any:
    """What `tagger.predict(X)` returns; or for a dataset, that dataset with a column of labels. A row of
    a dataset has a list of tokens: texts, lists of columns, structs or maps of attributes, or scores."""
    _check(batch)
    model = ray.put(tagger._trained.to_bytes())
    given = X if isinstance(X, Dataset) else _dataset({_PICKLED: _pickled(X)}, batch)
    tagged = _mapped(given, _Tags, (model, column, rules), workers, num_cpus, batch)
    return tagged if isinstance(X, Dataset) else _column(tagged, "labels")


def solve(
    problems: Iterable[Problem] | Dataset,
    column: str = "problem",
    *,
    workers: int | None = None,
    num_cpus: float = 0.5,
    batch: int = 100,
    **options: Any,
) -> Any:
    """Answers as dicts, or for a dataset of problem files as JSON, that dataset with a column of answers
    as JSON. Answers have the fields of `bethe solve` but `seconds`. Options are those of `pybethe.solve`."""
    for name in ("n_jobs", "callback"):
        if name in options:
            raise TypeError(f"found {name}, expected options that every worker can have")
    _check(batch)
    given = (
        problems
        if isinstance(problems, Dataset)
        else _dataset({column: pa.array([own.to_json() for own in problems], pa.string())}, batch)
    )
    solved = _mapped(given, _Answers, (column, options), workers, num_cpus, batch)
    if isinstance(problems, Dataset):
        return solved
    return [json.loads(answer) for answer in _column(solved, "answer")]


def flows(
    settings: Flows,
    counts: Iterable[Any] | Dataset,
    column: str = "counts",
    *,
    workers: int | None = None,
    num_cpus: float = 0.5,
    batch: int = 1,
) -> Any:
    """Fits every table of counts with the same settings: a list of dicts with summary, flows and counts;
    or for a dataset, that dataset with the columns summary, flows and fitted. A row of a dataset has a
    list of structs of time, cell and count. Summaries have no `seconds`."""
    _check(batch)
    given = counts if isinstance(counts, Dataset) else _dataset({_PICKLED: _pickled(counts)}, batch)
    own = {**settings.get_params(), "n_jobs": 1}
    fitted = _mapped(given, _Fits, (ray.put(own), column), workers, num_cpus, batch)
    if isinstance(counts, Dataset):
        return fitted
    found: list[Inferred] = []
    for row in _rows(fitted):
        summary = json.loads(row["summary"].as_py())
        for warning in summary["warnings"]:
            warnings.warn(warning, stacklevel=2)
        found.append({"summary": summary, "flows": _table(row["flows"]), "counts": _table(row["fitted"])})
    return found


def _check(batch: int) -> None:
    if batch < 1:
        raise ValueError(f"batch: found {batch}, expected at least 1")


def _dataset(columns: dict[str, pa.Array], batch: int) -> Dataset:
    """Rows in blocks of one batch, numbered."""
    rows = len(next(iter(columns.values())))
    table = pa.table({**columns, "number": pa.array(range(rows), pa.int64())})
    starts = range(0, max(rows, 1), batch)
    return ray.data.from_arrow([table.slice(at, batch) for at in starts])


def _pickled(rows: Iterable[Any]) -> pa.Array:
    """Rows of any kind; Arrow's own types would change some."""
    return pa.array([pickle.dumps(row) for row in rows], pa.binary())


def _mapped(
    rows: Dataset,
    worker: Callable[..., Any],
    arguments: Sequence[Any],
    workers: int | None,
    num_cpus: float,
    batch: int,
) -> Dataset:
    """Rows through actors, in their order."""
    most = workers or max(1, int(ray.cluster_resources()["CPU"]))
    mapped = rows.map_batches(
        worker,
        batch_size=batch,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(min_size=1, max_size=most, initial_size=most),
        num_cpus=num_cpus,
        fn_constructor_args=arguments,
    )
    mapped.context.execution_options.preserve_order = True
    mapped.context.raise_original_map_exception = True
    return mapped


def _tables(dataset: Dataset) -> Iterator[pa.Table]:
    """Blocks as they come. What a worker raised is raised here."""
    try:
        yield from dataset.iter_batches(batch_size=None, batch_format="pyarrow")
    except RayTaskError as error:
        raise error.cause from None


def _rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for table in _tables(dataset):
        for at in range(table.num_rows):
            yield {name: table[name][at] for name in table.column_names}


def _column(dataset: Dataset, name: str) -> list[Any]:
    return [value for table in _tables(dataset) for value in table[name].to_pylist()]


def _given(table: pa.Table, column: str) -> list[Any]:
    """The problems of a batch."""
    if _PICKLED in table.column_names:
        return [pickle.loads(row) for row in table[_PICKLED].to_pylist()]
    if column not in table.column_names:
        raise ValueError(f"found columns {table.column_names}, expected {column!r} among them")
    values = table[column].to_pylist(maps_as_pydicts="strict")
    kind = table.schema.field(column).type
    if _is_list(kind) and _is_list(kind.value_type) and pa.types.is_floating(kind.value_type.value_type):
        return [np.array(value) for value in values]
    return values


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _entries(bibliography: Bibliography, read: Dataset) -> Iterator[pa.Table]:
    """Entries in the order of the lines."""
    for table in _tables(read):
        rows = list(zip(*(table[name].to_pylist() for name in _READ.names)))
        entries = pa.array(bibliography.add(rows), pa.string())
        yield pa.table({"text": table["text"], "entry": entries})


def _table(nested: pa.ListScalar) -> Table:
    """A table that was one value of a column."""
    names = [field.name for field in nested.values.type]
    columns = {name: nested.values.field(name) for name in names}
    known = {name: own for name, own in columns.items() if name != "standard_error" or own.null_count == 0}
    return Table({name: np.array(own.to_pylist()) for name, own in known.items()})


_TEXT, _NUMBER = pa.string(), pa.float64()
_READ = pa.schema({"text": _TEXT, "labels": _TEXT, "confidence": _NUMBER, "refused": _TEXT})
_FLOWS = pa.schema({"time": _TEXT, "from": _TEXT, "to": _TEXT, "count": _NUMBER, "standard_error": _NUMBER})
_COUNTS = pa.schema(
    {
        "time": _TEXT,
        "cell": _TEXT,
        "count": _NUMBER,
        "standard_error": _NUMBER,
        "observed": _NUMBER,
        "expected": _NUMBER,
    }
)


class _Reader:
    def __init__(self, model: Any, column: str) -> None:
        self.bibliography = Bibliography("json", None if model is None else ray.get(model))
        self.column = column

    def __call__(self, table: pa.Table) -> pa.Table:
        lines = [line for line in _given(table, self.column) if line and line.strip()]
        read = self.bibliography.read(lines, n_jobs=1)
        return pa.table([list(own) for own in zip(*read)] or [[]] * len(_READ), schema=_READ)


class _Tags:
    def __init__(self, model: Any, column: str, rules: bool) -> None:
        self.trained = TrainedTagger.from_bytes(ray.get(model))
        self.column, self.rules = column, rules

    def __call__(self, table: pa.Table) -> pa.Table:
        X = [_known(sequence) for sequence in _given(table, self.column)]
        labels = self.trained.predict(X, rules=self.rules, n_jobs=1)
        return table.append_column("labels", pa.array(labels, pa.list_(_TEXT)))


def _known(sequence: Any) -> Any:
    """A sequence without attributes that Arrow filled up with nothing."""
    if isinstance(sequence, list) and sequence and isinstance(sequence[0], dict):
        return [{name: own for name, own in token.items() if own is not None} for token in sequence]
    return sequence


class _Answers:
    def __init__(self, column: str, options: dict[str, Any]) -> None:
        self.column, self.options = column, options

    def __call__(self, table: pa.Table) -> pa.Table:
        problems: list[Problem] = []
        try:
            problems += map(Problem.from_json, _given(table, self.column))
            found = solve_many(problems, n_jobs=1, **self.options)
        except (ValueError, TimeoutError, MemoryError) as error:
            # What cannot be read comes behind all that could be.
            at = getattr(error, "index", len(problems))
            number = table["number"][at] if "number" in table.column_names else at
            raise type(error)(f"problem {number}: {error}") from None
        return table.append_column("answer", pa.array([_answer(own.to_json()) for own in found], _TEXT))


def _answer(text: str) -> str:
    """An answer without what differs from run to run."""
    found = json.loads(text)
    del found["seconds"]
    return json.dumps(found, ensure_ascii=False)


class _Fits:
    def __init__(self, parameters: Any, column: str) -> None:
        self.parameters: dict[str, Any] = ray.get(parameters)
        self.column = column

    def __call__(self, table: pa.Table) -> pa.Table:
        summaries, moved, fitted = [], [], []
        for counts in _given(table, self.column):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they are in the summary
                own = Flows(**self.parameters).fit(_columns(counts))
            summaries.append(_summary(own.summary))
            moved.append(own.flows)
            fitted.append(own.counts)
        table = table.append_column("summary", pa.array(summaries, _TEXT))
        table = table.append_column("flows", _nested(moved, _FLOWS))
        return table.append_column("fitted", _nested(fitted, _COUNTS))


def _columns(counts: Any) -> Any:
    """Structs of time, cell and count as columns."""
    if isinstance(counts, list):
        return {name: [row[name] for row in counts] for name in ("time", "cell", "count")}
    return counts


def _summary(found: dict[str, Any]) -> str:
    known = {name: value for name, value in found.items() if name != "seconds"}
    if known.get("learning"):
        known["learning"] = {name: own for name, own in known["learning"].items() if name != "seconds"}
    return json.dumps(known, ensure_ascii=False)


def _nested(tables: list[Table], schema: pa.Schema) -> pa.Array:
    """Tables as the values of one column."""
    parts = []
    for own in tables:
        columns = [pa.array(own[name], schema.field(name).type) if name in own else None for name in schema.names]
        empty = pa.nulls(own.rows, _NUMBER)
        parts.append(pa.StructArray.from_arrays([empty if c is None else c for c in columns], fields=list(schema)))
    offsets = np.cumsum([0, *(own.rows for own in tables)])
    flat = pa.concat_arrays(parts) if parts else pa.array([], pa.struct(list(schema)))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)
