"""References in plain text to bibliography entries, with the built-in model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, overload

from ._engine import Bibliography
from ._types import jobs

__all__ = ["cite", "joined", "lines_of"]


@overload
def cite(
    lines: str | Iterable[str],
    format: Literal["bibtex", "ris"] = "bibtex",
    *,
    model: str | PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> str: ...


@overload
def cite(
    lines: str | Iterable[str],
    format: Literal["csl-json", "json"],
    *,
    model: str | PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> list[dict[str, Any]]: ...


def cite(
    lines: str | Iterable[str],
    format: str = "bibtex",
    *,
    model: str | PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> str | list[dict[str, Any]]:
    """Entries of references, one reference per line: a string for `bibtex` and `ris`, a list of dicts
    for `csl-json` and `json`. A line that cannot be read becomes a note, with a warning.

    >>> cite("Knuth, D. E. (1997). The art of computer programming. Addison-Wesley.", "json")[0]["key"]
    'knuth1997art'
    """
    references = lines_of(lines)
    written = Bibliography(format, model).cite(references, n_jobs=jobs(n_jobs))
    return joined(written, format)


def lines_of(lines: str | Iterable[str]) -> list[str]:
    """The lines that are not blank."""
    if isinstance(lines, str):
        return [line for line in lines.splitlines() if line.strip()]
    if not isinstance(lines, Iterable) or hasattr(lines, "columns"):
        raise TypeError(f"lines: found {type(lines).__name__}, expected a text or a list of texts")
    given = list(lines)
    for index, line in enumerate(given):
        if not isinstance(line, str):
            raise TypeError(f"lines[{index}]: found {line!r}, expected a text")
    return [line for line in given if line.strip()]


def joined(written: list[str], format: str) -> str | list[dict[str, Any]]:
    """Entries as a file has them, or as dicts."""
    if format in ("bibtex", "ris"):
        return ("\n" if format == "bibtex" else "").join(written)
    return [json.loads(entry) for entry in written]
