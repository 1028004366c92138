"""Tables are not copied more often than the results page says."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
import memory

#: Of two variables: the table, its logarithms and exponentials in the kernel's order, marginals. Of three: the table, the
#: clique's product, marginals.
MOST = {"two variables": 4, "three variables": 3}


@pytest.mark.skipif(not memory.STATUS.exists(), reason="this system does not say how much memory a process had")
@pytest.mark.parametrize("model", MOST)
def test_a_large_table_is_copied_once_and_worked_on_in_few(model):
    stated, solved, shown = memory.measured(model)
    assert stated < 1.1
    assert solved < MOST[model] + 0.2
    assert shown < solved + 0.1
