"""Writes the examples as notebooks, without outputs.

    python python/examples/notebooks.py FOLDER

A cell begins with `# %%`; one that begins with `# %% [markdown]` is text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLES = ("tag_with_rules", "flows", "rules_in_a_network")


def notebook(script: str) -> dict[str, Any]:
    """A script in cells as a notebook."""
    cells = []
    for number, own in enumerate(script.split("# %%")[1:]):
        kind, _, text = own.partition("\n")
        lines = text.strip("\n").split("\n")
        cell: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}}
        if kind.strip() == "[markdown]":
            lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
            cell |= {"cell_type": "markdown"}
        else:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        cells.append({**cell, "source": "\n".join(lines).splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def text(name: str) -> str:
    """The notebook of an example, as its file has it."""
    script = (HERE / f"{name}.py").read_text(encoding="utf-8")
    return json.dumps(notebook(script), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected a folder to write the notebooks to")
    for name in EXAMPLES:
        (Path(sys.argv[1]) / f"{name}.ipynb").write_text(text(name), encoding="utf-8")
