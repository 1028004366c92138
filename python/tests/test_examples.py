"""The examples run."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tag_with_rules", "with them"),
        ("flows", "converged gap"),
        ("rules_in_a_network", "with the rule: "),
    ],
)
def test_an_example_runs(name, expected, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert expected in capsys.readouterr().out
