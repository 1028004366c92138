"""Every snippet of the guide runs, in its order."""

import re
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
OPTIONAL = {
    "torch": "import torch",
    "jax": "import jax",
    "pandas": "pandas",
    "mbi": "from mbi",
    "pyspark": "import pyspark",
}


def snippets(page):
    text = (GUIDES / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(page):
    """Runs the snippets of a page, but those whose packages are not installed."""
    names = {"__name__": "guide"}
    for number, snippet in enumerate(snippets(page)):
        missing = [name for name, sign in OPTIONAL.items() if sign in snippet and not installed(name)]
        if not missing:
            exec(compile(snippet, f"{page}[{number}]", "exec"), names)


@pytest.mark.skipif(not GUIDES.exists(), reason="there is no guide beside the tests")
def test_every_snippet_of_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(snippets("python.md")) > 8
    run("python.md")


def installed(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True
