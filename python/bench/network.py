"""A small network on references, trained by cross-entropy, as a CRF, and under rules.

    python python/bench/network.py --data DATA [--results docs/results]

Needs jax and optax. DATA holds `citation/umass/{train,test}.conll`. Adds a section to `python.md`.
"""

from __future__ import annotations

import argparse
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import pybethe.jax
from measure import once, shown, table, write_section
from pybethe import layers

LONGEST, BUCKETS, WIDTH, CHANNELS = 64, 20_000, 48, 96
BATCH, EPOCHS, RATE = 16, 15, 2e-3
RARE = 0.02
WAYS = ("cross-entropy", "CRF", "Fenchel–Young under rules")

Reference = tuple[list[str], list[str]]


def read(path: Path) -> list[Reference]:
    """Tokens and labels of references."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    rows = [[line.split("\t")[:2] for line in block.split("\n")] for block in blocks]
    return [([row[0] for row in own], [row[1] for row in own]) for own in rows]


def features(token: str) -> list[int]:
    """Six hashed views of a token: word, prefix, suffixes, shape, kinds of characters."""
    shape = "".join("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in token)
    kinds = f"{token.isdigit()}{token.istitle()}{token.isupper()}{len(token) > 4}"
    views = [token.lower(), token[:3], token[-3:], token[-2:], shape[:8], kinds]
    return [zlib.crc32(f"{n}:{view}".encode()) % BUCKETS for n, view in enumerate(views)]


def arrays(data: list[Reference], labels: dict[str, int], length: int) -> tuple[Any, Any, Any]:
    """Features `[references, length, views]`, labels and mask `[references, length]`."""
    x = np.zeros((len(data), length, 6), int)
    y, mask = np.zeros((len(data), length), int), np.zeros((len(data), length), bool)
    for row, (tokens, own) in enumerate(data):
        for t, (token, label) in enumerate(zip(tokens[:length], own)):
            x[row, t], y[row, t], mask[row, t] = features(token), labels.get(label, 0), True
    return x, y, mask


def network(parameters: Any, x: Any) -> Any:
    """Scores: summed embeddings, two convolutions over five tokens each, a linear layer."""
    hidden = parameters["embedding"][x].sum(axis=2)
    for kernel in parameters["kernels"]:
        shape = ("NWC", "WIO", "NWC")
        convolved = jax.lax.conv_general_dilated(hidden, kernel, (1,), "SAME", dimension_numbers=shape)
        hidden = jax.nn.relu(convolved)
    return hidden @ parameters["last"]


def started(seed: int, labels: int, rules: int) -> Any:
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> Any:
        return jnp.array(random.normal(scale=shape[-2] ** -0.5, size=shape), jnp.float32)

    return {
        "embedding": jnp.array(random.normal(scale=0.3, size=(BUCKETS, WIDTH)), jnp.float32),
        "kernels": [normal(5, WIDTH, CHANNELS), normal(5, CHANNELS, CHANNELS)],
        "last": normal(CHANNELS, labels),
        "transitions": jnp.zeros((labels, labels)),
        "weights": jnp.full(rules, 1.0),
    }


def candidates(train: list[Reference], labels: dict[str, int]) -> list[layers.CountRule]:
    """At most one segment of each kind that hardly a training reference has twice."""
    begun = [Counter(own for own in y if own.startswith("B-")) for _, y in train]
    kinds = sorted({own for counts in begun for own in counts})
    twice = {own: sum(counts[own] > 1 for counts in begun) for own in kinds}
    single = [own for own in kinds if twice[own] <= RARE * len(train)]
    often = [own for own in single if sum(counts[own] for counts in begun) >= 10]
    return [layers.at_most(1, [labels[own]], labels=len(labels), weight=1.0) for own in often]


def loss(way: str, rules: Any) -> Any:
    def of_batch(parameters: Any, x: Any, y: Any, mask: Any) -> Any:
        scores = network(parameters, x)
        if way == "cross-entropy":
            each = optax.softmax_cross_entropy_with_integer_labels(scores, y)
            return (each * mask).sum() / len(x)
        own = {"rules": rules, "weights": jnp.maximum(parameters["weights"], 0.0)} if rules else {}
        transitions = parameters["transitions"]
        return pybethe.jax.fenchel_young_loss(scores, y, transitions, mask=mask, tolerance=1e-5, **own).mean()

    return jax.jit(jax.value_and_grad(of_batch))


def trained(way: str, rules: Any, data: tuple[Any, Any, Any], labels: int, seed: int) -> Any:
    x, y, mask = data
    parameters = started(seed, labels, len(rules))
    optimiser = optax.adam(RATE)
    state, gradient, random = optimiser.init(parameters), loss(way, rules), np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = random.permutation(len(x))
        for at in range(0, len(x) - BATCH + 1, BATCH):
            own = order[at : at + BATCH]
            _, gradients = gradient(parameters, x[own], y[own], mask[own])
            updates, state = optimiser.update(gradients, state)
            parameters = optax.apply_updates(parameters, updates)
    return parameters


def tagged(way: str, rules: Any, parameters: Any, x: Any, mask: Any) -> Any:
    """The likeliest label of every token under the marginals that were trained."""
    scores = np.asarray(jax.jit(network)(parameters, x), float)
    if way == "cross-entropy":
        return scores.argmax(axis=2)
    weights = np.maximum(parameters["weights"], 0.0).tolist()
    own = [replace(rule, weight=weight) for rule, weight in zip(rules, weights)]
    return layers.project(scores, parameters["transitions"], own, mask, tolerance=1e-5).argmax(axis=2)


def segments(labels: list[str]) -> set[tuple[int, int, str]]:
    """Runs of one kind: B- begins one, I- of another kind does so too."""
    found, start = set(), 0
    for t in range(1, len(labels) + 1):
        inside = t < len(labels) and labels[t].startswith("I-") and labels[t][2:] == labels[t - 1][2:]
        if not inside:
            if labels[start] != "O":
                found.add((start, t, labels[start][2:]))
            start = t
    return found


def counted(data: list[Reference], names: list[str], predicted: Any) -> Any:
    """Right, found and true segments, and whether all labels are right, by reference: `[references, 4]`."""
    rows = []
    for (_, y), own in zip(data, predicted):
        labels = [names[label] for label in own[: len(y)]]
        truth, found = segments(y), segments(labels)
        rows.append([len(truth & found), len(found), len(truth), labels == y])
    return np.array(rows, float)


def f1(counts: Any) -> float:
    right, found, true = counts[..., :3].reshape(-1, 3).sum(axis=0)
    return 200 * right / (found + true)


def compared(first: Any, second: Any, random: np.random.Generator) -> str:
    """The difference of F1 with an interval: references are drawn again, the same for both."""
    picks = random.integers(first.shape[1], size=(1000, first.shape[1]))
    drawn = [f1(second[:, own]) - f1(first[:, own]) for own in picks]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{f1(second) - f1(first):+.2f} ({low:+.2f} to {high:+.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--references", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    train, test = (read(given.data / "citation/umass" / f"{part}.conll") for part in ("train", "test"))
    train = [own for own in train if len(own[0]) <= LONGEST]
    order = np.random.default_rng(0).permutation(len(train))[: given.references]
    train = [train[at] for at in order]
    names = ["O", *sorted({label for _, y in train for label in y} - {"O"})]
    labels = {name: number for number, name in enumerate(names)}
    rules = candidates(train, labels)
    longest = max(len(own[0]) for own in test)
    data, (x, _, mask) = arrays(train, labels, LONGEST), arrays(test, labels, longest)
    random, counts, times = np.random.default_rng(1), {}, {}
    for way in WAYS:
        own = rules if way == WAYS[2] else []
        runs = [once(lambda seed=seed: trained(way, own, data, len(names), seed)) for seed in range(given.seeds)]
        times[way] = float(np.median([took for took, _ in runs]))
        found = [counted(test, names, tagged(way, own, parameters, x, mask)) for _, parameters in runs]
        counts[way] = np.array(found)
        print(way, [f"{f1(own):.2f}" for own in found], shown(times[way]), flush=True)
    rows = []
    for way in WAYS:
        each = [f1(own) for own in counts[way]]
        rows.append(
            [
                way,
                f"{np.mean(each):.2f} ± {np.std(each, ddof=1):.2f}",
                "" if way == WAYS[0] else compared(counts[WAYS[0]], counts[way], random),
                compared(counts[WAYS[1]], counts[way], random) if way == WAYS[2] else "",
                f"{100 * counts[way][..., 3].mean():.1f} %",
                shown(times[way]),
            ]
        )
    header = ["trained by", "F1", "against cross-entropy", "against the CRF", "whole references", "training"]
    text = (
        "## A network under rules\n\n"
        f"A convolutional network on {len(train)} references of UMass's training part, judged by leaf segments of its {len(test)} test references. {given.seeds} seeds, ± is their deviation; intervals (95 %) draw the\n"
        f"references again, the same for both. {len(rules)} rules say that a field occurs at most once that at most 2 % of the\n"
        "training references have twice; "
        "their weights are learned with the network. Nothing was chosen on the test part.\n\n" + table(header, rows)
    )
    print(text)
    if given.results is not None:
        write_section(given.results / "python.md", "network", text)


if __name__ == "__main__":
    main()
