"""Inference and learning in discrete graphical models under global terms.

    import pybethe as pb
    p = pb.Problem([2, 2, 2])
    p.factor([0, 1], [[1.0, 0.0], [0.0, 1.0]])
    p.measure({0: [0, 1], 1: [0, 1], 2: [0, 1]}, weight=20.0, offset=-1.0)
    p.solve().marginals[0]
"""

from ._engine import (
    Answer,
    Map,
    Picture,
    Problem,
    Record,
    Tables,
    TrainedTagger,
    __version__,
    solve,
    solve_many,
)
from . import rules
from ._cite import cite
from ._estimate import Estimate, estimate
from ._flows import Flows
from ._tables import Table
from .tagger import Tagger

__all__ = [
    "Answer",
    "Estimate",
    "Flows",
    "Map",
    "Picture",
    "Problem",
    "Record",
    "Table",
    "Tables",
    "Tagger",
    "TrainedTagger",
    "__version__",
    "cite",
    "estimate",
    "rules",
    "solve",
    "solve_many",
]
