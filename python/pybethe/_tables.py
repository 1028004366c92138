"""Tables in and out: columns of numpy arrays, pandas, polars, mappings, files."""

from __future__ import annotations

import csv
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Table", "as_file", "columns_of", "is_path", "named", "scratch", "text", "without_folder", "write"]

Columns = dict[str, list[Any]]


class Table(dict[str, "np.ndarray[Any, Any]"]):
    """Columns by name, all of one length. `pandas.DataFrame(table)` and `polars.DataFrame(table)` take it
    as it is; `to_pandas()` is short for the first."""

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas, which must be installed."""
        import pandas

        return pandas.DataFrame(dict(self))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.values()))) if self else 0

    def __repr__(self) -> str:
        return f"Table({self.rows} rows: {', '.join(self)})"


def is_path(given: Any) -> bool:
    """Whether it names a file."""
    return isinstance(given, (str, PathLike))


def text(value: Any) -> str:
    """A value as a CSV file or a flag has it; nothing for what is missing."""
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else repr(float(value))
    shown = "" if str(value) == "NaT" else str(value)
    return shown.removesuffix(" 00:00:00").removesuffix("T00:00:00.000000000")


def columns_of(given: Any, what: str) -> Columns:
    """The columns of a data frame or of a mapping. An index with a name, or one that does not just
    count rows, is the first column."""
    if isinstance(given, Mapping):
        columns = {str(name): list(own) for name, own in given.items()}
    elif hasattr(given, "iloc") and hasattr(given, "index"):  # pandas
        columns = {}
        index = given.index
        if index.name is not None or not np.array_equal(np.asarray(index), np.arange(len(given))):
            columns[str(index.name or "time")] = list(index)
        columns.update({str(name): given[name].tolist() for name in given.columns})
    elif hasattr(given, "get_columns"):  # polars
        columns = {own.name: own.to_list() for own in given.get_columns()}
    else:
        raise TypeError(
            f"{what}: found {type(given).__name__}, expected a data frame, a mapping of columns, or a path"
        )
    lengths = {name: len(own) for name, own in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{what}: found columns of different lengths {lengths}, expected one")
    return columns


def write(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Writes columns as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows([text(value) for value in row] for row in zip(*columns.values()))


def as_file(given: Any, folder: Path, name: str) -> str:
    """The path of a table: its own, or that of a CSV file that is written to the folder."""
    if is_path(given):
        path = fspath(given)
        if path != "-":
            open(path, "rb").close()  # raises what Python raises for missing files
        return str(path)
    path = folder / name
    write(path, columns_of(given, name))
    return str(path)


def without_folder(folder: str, message: str) -> str:
    """A message about files of ours, by their names alone."""
    return message.replace(folder + os.sep, "")


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for files of ours. Errors about them name the file without its folder."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield Path(folder)
        except (ValueError, TimeoutError) as error:
            raise type(error)(without_folder(folder, str(error))) from None


def named(values: Iterable[Any]) -> list[str]:
    """Names as they are in CSV files."""
    return [text(value) for value in values]
