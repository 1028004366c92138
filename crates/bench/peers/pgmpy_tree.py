"""Marginals of all tables of a model by pgmpy's belief propagation; prints one JSON object. Run by the
`graphs` benchmark.

usage: pgmpy_tree.py FOLDER    (model.json, potentials.f64; writes marginals.f64)
"""

import itertools
import json
import logging
import os
import sys
import time

import numpy as np
from pgmpy.factors.discrete import DiscreteFactor
from pgmpy.inference import BeliefPropagation
from pgmpy.models import DiscreteMarkovNetwork

logging.disable(logging.WARNING)


def main(folder):
    with open(os.path.join(folder, "model.json"), encoding="utf-8") as file:
        model = json.load(file)
    values = np.exp(np.fromfile(os.path.join(folder, "potentials.f64"), dtype="<f8"))
    names = [f"v{i:03}" for i in range(len(model["sizes"]))]
    network = DiscreteMarkovNetwork()
    network.add_nodes_from(names)
    factors, start = [], 0
    for scope in model["scopes"]:
        sizes = [model["sizes"][v] for v in scope]
        cells = int(np.prod(sizes))
        own = [names[v] for v in scope]
        network.add_edges_from(itertools.combinations(own, 2))
        factors.append(DiscreteFactor(own, sizes, values[start : start + cells]))
        start += cells
    network.add_factors(*factors)
    begun = time.process_time()
    propagation = BeliefPropagation(network)
    propagation.calibrate()
    beliefs = propagation.get_clique_beliefs()
    marginals = []
    for scope in model["scopes"]:
        own = [names[v] for v in scope]
        clique, belief = min(
            ((c, b) for c, b in beliefs.items() if set(own) <= set(c)), key=lambda p: p[1].values.size
        )
        table = belief.marginalize([v for v in clique if v not in own], inplace=False)
        axes = [table.variables.index(v) for v in own]
        table = np.transpose(table.values, axes)
        marginals.append((table / table.sum()).ravel())
    seconds = time.process_time() - begun
    np.concatenate(marginals).astype("<f8").tofile(os.path.join(folder, "marginals.f64"))
    print(json.dumps({"seconds": seconds}))


main(sys.argv[1])
