"""Marginals of a model, or estimation from noisy tables, with PyPI `mbi`; prints one JSON object. Run by
the `graphs` benchmark.

usage: private_pgm.py oracle FOLDER          (model.json, potentials.f64; writes marginals.f64)
       private_pgm.py estimate FOLDER LIMIT ENOUGH  (model.json, tables.f64; LIMIT seconds for each estimator,
                                                     which ends early at a loss of ENOUGH)

One processor, one thread, 64-bit numbers. Times are of the processor, compilation apart.
"""

import json
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
from mbi import CliqueVector, Domain, Factor, LinearMeasurement, estimation, marginal_loss
from mbi import junction_tree, marginal_oracles

ORACLES = {
    "hugin": marginal_oracles.message_passing_hugin,
    "shafer-shenoy": marginal_oracles.message_passing_shafer_shenoy,
    "implicit": marginal_oracles.message_passing_implicit,
    "implicit, fused": lambda p: marginal_oracles.message_passing_implicit(
        p, contraction=marginal_oracles.einsum_fused
    ),
    "implicit, semistable": lambda p: marginal_oracles.message_passing_implicit(
        p, contraction=marginal_oracles.einsum_semistable
    ),
}
# Seconds for which the calls of an oracle are repeated; the least time counts.
REPEAT = 4.0


def read(folder):
    with open(os.path.join(folder, "model.json"), encoding="utf-8") as file:
        model = json.load(file)
    names = [f"v{i:03}" for i in range(len(model["sizes"]))]
    domain = Domain(names, model["sizes"])
    return model, domain, [tuple(names[v] for v in scope) for scope in model["scopes"]]


def tables(folder, name, domain, scopes):
    values = np.fromfile(os.path.join(folder, name), dtype="<f8")
    start = 0
    for scope in scopes:
        part = domain.project(scope)
        yield Factor(part, jnp.asarray(values[start : start + part.size()].reshape(part.shape)))
        start += part.size()
    assert start == len(values)


def progress(text):
    print(f"progress: {text}", file=sys.stderr, flush=True)


def oracle(folder):
    _, domain, scopes = read(folder)
    factors = dict(zip(scopes, tables(folder, "potentials.f64", domain, scopes)))
    potentials = CliqueVector(domain, scopes, factors)
    tree = junction_tree.make_junction_tree(domain, scopes)[0]
    cliques = junction_tree.maximal_cliques(tree)
    found, best, marginals = {}, None, None
    for name, call in ORACLES.items():
        progress(f"mbi, {name}: compiling, then {REPEAT:.0f} s of calls")
        try:
            start = time.process_time()
            answer = jax.block_until_ready(call(potentials))
            compile_seconds = time.process_time() - start
            least, begun = float("inf"), time.perf_counter()
            while time.perf_counter() - begun < REPEAT:
                start = time.process_time()
                answer = jax.block_until_ready(call(potentials))
                least = min(least, time.process_time() - start)
        except Exception as error:  # an oracle that cannot do it is not the best one
            found[name] = {"error": str(error)[:200]}
            continue
        found[name] = {"compile": compile_seconds, "seconds": least}
        if best is None or least < found[best]["seconds"]:
            best, marginals = name, answer
    flat = np.concatenate([np.asarray(marginals[scope].values).ravel() for scope in scopes])
    flat.astype("<f8").tofile(os.path.join(folder, "marginals.f64"))
    cells = sum(domain.project(clique).size() for clique in cliques)
    return {"oracles": found, "best": best, "cells": cells}


ESTIMATORS = {
    "mirror descent": estimation.MirrorDescent,
    "dual averaging": estimation.DualAveraging,
    "interior gradient": estimation.InteriorGradient,
    "L-BFGS": estimation.LBFGS,
    "universal accelerated": estimation.UniversalAcceleratedMethod,
}


def estimate(folder, name, limit, enough):
    model, domain, scopes = read(folder)
    measured = tables(folder, "tables.f64", domain, scopes)
    measurements = [
        LinearMeasurement(factor.values.ravel(), scope, stddev=deviation)
        for scope, factor, deviation in zip(scopes, measured, model["deviations"])
    ]
    total = model["total"]
    loss_fn = marginal_loss.from_linear_measurements(measurements, domain)
    estimator = ESTIMATORS[name]()
    progress(f"mbi, {name}: compiling, then at most {limit:.0f} s of steps")
    curve = []

    class Enough(Exception):
        pass

    start = None

    def see(marginals):
        jax.block_until_ready(marginals)
        now = time.process_time()
        spent = now - start
        loss = float(loss_fn(marginals))
        # What it takes to see the loss is not the estimator's.
        curve.append([spent - see.aside, loss])
        see.aside += time.process_time() - now
        if see.limited and (curve[-1][0] > limit or loss <= enough):
            raise Enough

    # The first block compiles.
    start, see.aside, see.limited = time.process_time(), 0.0, False
    estimator.estimate(domain, loss_fn, known_total=total, iters=50, callback_fn=see)
    compile_seconds, curve = time.process_time() - start, []
    start, see.aside, see.limited = time.process_time(), 0.0, True
    try:
        estimator.estimate(domain, loss_fn, known_total=total, iters=100_000, callback_fn=see)
    except Enough:
        pass
    progress(f"mbi, {name}: a loss of {curve[-1][1]:.3f} after {curve[-1][0]:.1f} s")
    return {"compile": compile_seconds, "curve": curve}


if __name__ == "__main__":
    if sys.argv[1] == "oracle":
        result = oracle(sys.argv[2])
    else:
        folder, name, limit, enough = sys.argv[2:]
        result = estimate(folder, name, float(limit), float(enough))
    print(json.dumps(result))
