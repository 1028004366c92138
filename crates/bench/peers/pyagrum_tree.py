"""Marginals of all tables of a model by pyAgrum's junction tree; prints one JSON object. Run by the `graphs`
benchmark.

usage: pyagrum_tree.py FOLDER    (model.json, potentials.f64; writes marginals.f64)

One thread. The time has the tree, the messages and the marginals of all tables; the least of some runs counts.
"""

import json
import sys
import time

import numpy as np
import pyagrum

from model import read, write

RUNS = 5


def inferred(network, tables):
    inference = pyagrum.ShaferShenoyMRFInference(network)
    inference.setNumberOfThreads(1)
    for own, _, _ in tables:
        inference.addJointTarget(set(own))
    inference.makeInference()
    return [inference.jointPosterior(set(own)) for own, _, _ in tables]


def main(folder):
    sizes, tables = read(folder)
    network = pyagrum.MarkovRandomField()
    for name, size in sizes.items():
        network.add(pyagrum.RangeVariable(name, "", 0, size - 1))
    for own, _, values in tables:
        factor = network.addFactor(own)
        # Arrays of pyAgrum have the variables of a factor the other way round.
        order = list(reversed(factor.names))
        values = np.transpose(values, [own.index(name) for name in order])
        factor[:] = np.ascontiguousarray(values)
    times = []
    for _ in range(RUNS):
        begun = time.process_time()
        found = inferred(network, tables)
        times.append(time.process_time() - begun)
    marginals = []
    for (own, _, _), table in zip(tables, found):
        order = list(reversed(table.names))
        marginals.append(np.transpose(table.toarray(), [order.index(name) for name in own]))
    write(folder, marginals)
    print(json.dumps({"seconds": min(times)}))


main(sys.argv[1])
