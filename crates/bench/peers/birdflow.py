"""Weekly distributions fitted as BirdFlowPy does it; prints one JSON object. Run by `run.py`.

usage: birdflow.py WEEKS CELLS    (as `bethe flows --loss birdflow` reads them)

BirdFlowPy is not on PyPI. This is its model and its loss by their published formula (Fuentes et al. 2023) in
JAX: a Markov chain whose first distribution and weekly transitions are softmaxes of free 32-bit numbers, drawn
from N(0, 1), and 600 steps of Adam at a rate of 0.1, with the default weights. Every cell takes part in every
week, as it does for `bethe`. Compilation is apart; the loss at the end is added up in 64 bits.
"""

import csv
import gzip
import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

OBSERVATION, DISTANCE, ENTROPY, POWER = 1.0, 0.01, 0.0001, 0.4
# What a distance of 1 is, in metres.
UNIT = 100_000.0
STEPS, RATE, SEED = 600, 0.1, 17


def rows(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        header, *own = csv.reader(file)
    return header, own


def read(weeks, cells):
    """Shares of each week, and lengths between cells in units, both in the order of the cells."""
    header, places = rows(cells)
    names = [place[header.index("cell")] for place in places]
    points = np.array([[float(place[header.index(axis)]) for axis in "xy"] for place in places])
    columns, counts = rows(weeks)
    # The columns are the cells, perhaps with a letter before their names.
    at = {column.lstrip("c"): number for number, column in enumerate(columns) if number > 0}
    shares = np.array([[float(week[at[name]] or 0) for name in names] for week in counts])
    lengths = np.linalg.norm(points[:, None] - points[None], axis=2) / UNIT
    return shares / shares.sum(axis=1, keepdims=True), lengths


def chain(parameters):
    """Distributions of all weeks, and flows between them."""

    def move(now, free):
        flow = jax.nn.softmax(free, axis=1) * now[:, None]
        return flow.sum(axis=0), (flow, flow.sum(axis=0))

    first = jax.nn.softmax(parameters["first"])
    _, (flows, others) = jax.lax.scan(move, first, parameters["weeks"])
    return jnp.concatenate([first[None], others]), flows


def loss(distributions, flows, shares, costs, numbers):
    def entropy(own):
        return -(own * numbers.log(numbers.maximum(own, numbers.finfo(own.dtype).tiny))).sum()

    errors = ((distributions - shares) ** 2).sum()
    return OBSERVATION * errors + DISTANCE * (flows * costs).sum() - ENTROPY * (entropy(flows) - entropy(distributions))


def main(weeks, cells):
    shares, lengths = read(weeks, cells)
    number, count = shares.shape
    costs = lengths**POWER
    first, others = jax.random.split(jax.random.PRNGKey(SEED))
    parameters = {
        "first": jax.random.normal(first, (count,)),
        "weeks": jax.random.normal(others, (number - 1, count, count)),
    }
    optimiser = optax.adam(RATE)
    known = jnp.asarray(shares, jnp.float32), jnp.asarray(costs, jnp.float32)

    @jax.jit
    def step(parameters, memory):
        value, slopes = jax.value_and_grad(lambda own: loss(*chain(own), *known, jnp))(parameters)
        moves, memory = optimiser.update(slopes, memory)
        return optax.apply_updates(parameters, moves), memory, value

    memory, begun = optimiser.init(parameters), time.perf_counter()
    compiled = step.lower(parameters, memory).compile()
    compiling, begun, processor = time.perf_counter() - begun, time.perf_counter(), time.process_time()
    for _ in range(STEPS):
        parameters, memory, value = compiled(parameters, memory)
    float(value)
    seconds, processor = time.perf_counter() - begun, time.process_time() - processor
    distributions, flows = (np.asarray(own, np.float64) for own in chain(parameters))
    total = float(loss(distributions, flows, shares, costs, np))
    times = {"compile": compiling, "seconds": seconds, "processor": processor}
    print(json.dumps({**times, "loss": total, "steps": STEPS}))


main(*sys.argv[1:])
