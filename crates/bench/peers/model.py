"""A model that the `graphs` benchmark left in a folder, and the marginals that go back to it."""

import json
import os

import numpy as np


def read(folder):
    """Names and sizes of the variables; names, sizes and potentials (not their logarithms) of each table."""
    with open(os.path.join(folder, "model.json"), encoding="utf-8") as file:
        model = json.load(file)
    values = np.exp(np.fromfile(os.path.join(folder, "potentials.f64"), dtype="<f8"))
    names = [f"v{i:03}" for i in range(len(model["sizes"]))]
    tables, start = [], 0
    for scope in model["scopes"]:
        sizes = [model["sizes"][v] for v in scope]
        cells = int(np.prod(sizes))
        tables.append(([names[v] for v in scope], sizes, values[start : start + cells].reshape(sizes)))
        start += cells
    return dict(zip(names, model["sizes"])), tables


def write(folder, marginals):
    """Marginals of all tables, in their order."""
    flat = np.concatenate([np.asarray(own).ravel() for own in marginals])
    flat.astype("<f8").tofile(os.path.join(folder, "marginals.f64"))
