"""Marginals of all tables of a model by pgmpy's belief propagation; prints one JSON object. Run by the
`graphs` benchmark.

usage: pgmpy_tree.py FOLDER    (model.json, potentials.f64; writes marginals.f64)

The least time of some runs counts.
"""

import itertools
import json
import logging
import sys
import time

import numpy as np
from pgmpy.factors.discrete import DiscreteFactor
from pgmpy.inference import BeliefPropagation
from pgmpy.models import DiscreteMarkovNetwork

from model import read, write

logging.disable(logging.WARNING)
RUNS = 5


def inferred(network, tables):
    propagation = BeliefPropagation(network)
    propagation.calibrate()
    beliefs = propagation.get_clique_beliefs()
    marginals = []
    for own, _, _ in tables:
        clique, belief = min(
            ((c, b) for c, b in beliefs.items() if set(own) <= set(c)), key=lambda p: p[1].values.size
        )
        table = belief.marginalize([v for v in clique if v not in own], inplace=False)
        table = np.transpose(table.values, [table.variables.index(v) for v in own])
        marginals.append(table / table.sum())
    return marginals


def main(folder):
    sizes, tables = read(folder)
    network = DiscreteMarkovNetwork()
    network.add_nodes_from(sizes)
    for own, _, _ in tables:
        network.add_edges_from(itertools.combinations(own, 2))
    network.add_factors(*(DiscreteFactor(own, shape, values.ravel()) for own, shape, values in tables))
    times = []
    for _ in range(RUNS):
        begun = time.process_time()
        marginals = inferred(network, tables)
        times.append(time.process_time() - begun)
    write(folder, marginals)
    print(json.dumps({"seconds": min(times)}))


main(sys.argv[1])
