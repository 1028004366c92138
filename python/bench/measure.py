"""What the benchmarks share: repeated times, peers that may be missing, pages of results."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def seconds(
    work: Callable[[], Any],
    repeats: int,
    of: Callable[[list[float]], float] = statistics.median,
) -> float:
    """The median time of some runs, after one that warms up; or another number of their times."""
    work()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return of(times)


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    """The time of a single run, and what it returned."""
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def peer(name: str) -> Any | None:
    """A package to compare with, or nothing where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def shown(seconds: float) -> str:
    """A time with three digits."""
    if seconds >= 1.0:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def write_section(page: Path, name: str, text: str, blank: str = "") -> None:
    """Replaces a section of a page that lies between its marks, or adds it; to `blank` where there is no page."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    own = f"{begin}\n{text.strip()}\n{end}"
    old = page.read_text(encoding="utf-8") if page.exists() else blank
    if begin in old:
        before, rest = old.split(begin, 1)
        new = before + own + rest.split(end, 1)[1]
    else:
        new = old.rstrip() + "\n\n" + own + "\n"
    page.write_text(new.lstrip(), encoding="utf-8")
