"""References in plain text to bibliography entries, with the built-in model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, overload

from ._engine import entries
from ._types import jobs

__all__ = ["cite"]


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
    """Entries of references, one reference a line: a text in `bibtex` and `ris`, a list of dicts in
    `csl-json` and `json`. A line that cannot be read becomes a note, with a warning.

    >>> cite("Knuth, D. E. (1997). The art of computer programming. Addison-Wesley.", "json")[0]["key"]
    'knuth1997art'
    """
    given = lines.splitlines() if isinstance(lines, str) else list(lines)
    references = [line for line in given if line.strip()]
    written = entries(references, format, model=model, n_jobs=jobs(n_jobs))
    if format in ("bibtex", "ris"):
        return written
    found: list[dict[str, Any]] = json.loads(written)
    return found
