"""The notebooks run, and are in step with the scripts that they are made of."""

import importlib.util
import json
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
NOTEBOOKS = HERE / "notebooks"
EXPECTED = {
    "tag_with_rules": "with them",
    "flows": "converged gap",
    "rules_in_a_network": "with the rule: ",
}


def writer():
    spec = importlib.util.spec_from_file_location("notebooks", HERE / "examples" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", writer().EXAMPLES)
def test_a_notebook_is_in_step_with_its_script(name):
    written = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    assert written == writer().text(name), "run: python python/examples/notebooks.py python/notebooks"


@pytest.mark.parametrize("name", writer().EXAMPLES)
def test_a_notebook_runs(name):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    ran = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [own for cell in ran.cells if cell.cell_type == "code" for own in cell.outputs]
    assert EXPECTED[name] in json.dumps(outputs)
