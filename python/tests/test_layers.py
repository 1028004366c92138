"""Gradients of layers are finite differences, and the loss is that of enumeration."""

import itertools

import numpy as np
import pytest

from pybethe import layers
from pybethe.layers import CountRule, at_least, at_most, equal

SEQUENCES, POSITIONS, LABELS = 3, 4, 3
MASK = np.arange(POSITIONS) < np.array([4, 2, 0])[:, None]

RULES = {
    "none": [],
    "squared": [CountRule([1, 0.5, 0], "squared", 3.0, -1.0)],
    "hinge": [at_most(0.4, [0], labels=LABELS, weight=2.0)],
    "hinge at its kink": [at_most(0.4, [0], labels=LABELS, weight=50.0)],
    "smoothed hinge": [CountRule([-1, 0, 0], "smoothed_hinge", 4.0, 1.6)],
    "huber": [CountRule([1, 0, -1], "huber", 4.0, 0.1, 0.3)],
    "absolute": [equal(0.7, [1], labels=LABELS, weight=30.0)],
    "hard": [at_most(0.5, [0], labels=LABELS, hard=True), at_least(0.6, [2], labels=LABELS, hard=True)],
    "mixture": [at_most(0.5, [0], labels=LABELS, weight=9.0), CountRule([0, 1, 1], "squared", 2.0, -1.2)],
}


def given(seed=0):
    random = np.random.default_rng(seed)
    scores = random.normal(size=(SEQUENCES, POSITIONS, LABELS))
    return scores, random.normal(size=(LABELS, LABELS)), random.normal(size=scores.shape)


def difference(function, x, place, step=1e-5):
    up, down = x.copy(), x.copy()
    up[place] += step
    down[place] -= step
    return (function(up) - function(down)) / (2 * step)


@pytest.mark.parametrize("name", RULES)
def test_pullbacks_are_finite_differences(name):
    rules = RULES[name]
    scores, transitions, v = given()
    marginals, vjp = layers.project_with_vjp(scores, transitions, rules, MASK, tolerance=1e-13)
    np.testing.assert_allclose(marginals[MASK].sum(axis=-1), 1, atol=1e-12)
    assert (marginals[~MASK] == 0).all()
    found = vjp(v)

    def value(scores=scores, transitions=transitions, rules=rules):
        return (v * layers.project(scores, transitions, rules, MASK, tolerance=1e-13)).sum()

    for place in np.ndindex(scores.shape):
        expected = difference(lambda x: value(scores=x), scores, place)
        assert found.scores[place] == pytest.approx(expected, abs=2e-6)
    for place in np.ndindex(transitions.shape):
        expected = difference(lambda x: value(transitions=x), transitions, place)
        assert found.transitions.sum(axis=0)[place] == pytest.approx(expected, abs=2e-6)
    offsets = np.array([rule.offset for rule in rules])
    weights = np.array([layers._weight(rule) for rule in rules])
    for rule in range(len(rules)):
        expected = difference(
            lambda x: value(rules=layers._with(rules, weights, x)), offsets, (rule,)
        )
        assert found.offsets.sum(axis=0)[rule] == pytest.approx(expected, abs=2e-6)
        if not layers._is_hard(rules[rule]):
            expected = difference(
                lambda x: value(rules=layers._with(rules, x, offsets)), weights, (rule,)
            )
            assert found.weights.sum(axis=0)[rule] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("name", [name for name in RULES if name != "hard"])
def test_gradients_of_the_loss_are_finite_differences(name):
    rules = RULES[name]
    scores, transitions, _ = given(1)
    labels = np.array([[0, 1, 2, 2], [1, 1, -100, -100], [0, 0, 0, 0]])
    tight = {"tolerance": 1e-13}
    losses, found = layers.fenchel_young_loss(scores, labels, transitions, rules, MASK, **tight)
    assert (losses >= 0).all() and losses[2] == 0

    def value(scores=scores, transitions=transitions, rules=rules):
        own = layers.fenchel_young_loss(scores, labels, transitions, rules, MASK, **tight)
        return own[0].sum()

    for place in np.ndindex(scores.shape):
        expected = difference(lambda x: value(scores=x), scores, place)
        assert found.scores[place] == pytest.approx(expected, abs=2e-6)
    for place in np.ndindex(transitions.shape):
        expected = difference(lambda x: value(transitions=x), transitions, place)
        assert found.transitions.sum(axis=0)[place] == pytest.approx(expected, abs=2e-6)
    offsets = np.array([rule.offset for rule in rules])
    weights = np.array([layers._weight(rule) for rule in rules])
    for rule in range(len(rules)):
        expected = difference(lambda x: value(rules=layers._with(rules, x, offsets)), weights, (rule,))
        assert found.weights.sum(axis=0)[rule] == pytest.approx(expected, abs=2e-6)
        expected = difference(lambda x: value(rules=layers._with(rules, weights, x)), offsets, (rule,))
        assert found.offsets.sum(axis=0)[rule] == pytest.approx(expected, abs=2e-6)


def test_without_rules_the_loss_is_the_negative_log_likelihood():
    scores, transitions, _ = given(2)
    labels = np.array([[0, 1, 2, 2], [1, 1, 0, 0], [0, 0, 0, 0]])
    losses, _ = layers.fenchel_young_loss(scores, labels, transitions, mask=MASK)

    def score(own, path):
        nodes = sum(own[t, label] for t, label in enumerate(path))
        return nodes + sum(transitions[a, b] for a, b in zip(path, path[1:]))

    for sequence, length in enumerate(MASK.sum(axis=1)):
        paths = itertools.product(range(LABELS), repeat=int(length))
        own = scores[sequence]
        log_partition = np.log(sum(np.exp(score(own, path)) for path in paths))
        expected = log_partition - score(own, labels[sequence, :length])
        assert losses[sequence] == pytest.approx(expected, abs=1e-9)


def test_a_weight_of_nothing_has_a_slope():
    scores, transitions, _ = given(4)
    labels = np.array([[0, 0, 0, 2], [1, 1, 0, 0], [0, 0, 0, 0]])

    def value(weight):
        rules = [CountRule([1, 0, 0], "squared", weight, -1.0)]
        return layers.fenchel_young_loss(scores, labels, transitions, rules, tolerance=1e-13)

    expected = (value(1e-5)[0].sum() - value(0.0)[0].sum()) / 1e-5
    assert value(0.0)[1].weights.sum() == pytest.approx(expected, abs=1e-3)
    assert abs(expected) > 0.01


def test_hard_rules_hold_in_expectation():
    scores, transitions, _ = given(3)
    marginals = layers.project(scores, transitions, RULES["hard"])
    assert (marginals[:, :, 0].sum(axis=1) <= 0.5 + 1e-6).all()
    assert (marginals[:, :, 2].sum(axis=1) >= 0.6 - 1e-6).all()


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda s, t: layers.project(s[0], t), "axes"),
        (lambda s, t: layers.project(s, t[:2]), "transitions"),
        (lambda s, t: layers.project(s, t, [CountRule([1, 0])]), "coefficients"),
        (lambda s, t: layers.project(s, t, mask=MASK[:, ::-1]), "gaps"),
        (lambda s, t: layers.project(s, t, mask=MASK[:2]), "mask"),
        (lambda s, t: layers.fenchel_young_loss(s, np.full((3, 4), 9), t), "labels from 0 to 2"),
        (lambda s, t: at_most(1, [7], labels=3), "label 7"),
        (lambda s, t: layers.project(s, t, [at_most(1, [0], labels=3, weight=-1.0)]), "at least 0"),
        (lambda s, t: layers.project(s, t, [at_most(1, [0], labels=3, weight=1.0, hard=True)]), "no weight"),
        (lambda s, t: layers.project(s, t, n_jobs=0), "n_jobs"),
        (
            lambda s, t: layers.fenchel_young_loss(
                s, np.zeros((3, 4), int), t, [at_most(1, [0], labels=3, hard=True)]
            ),
            "hard rule 0",
        ),
    ],
)
def test_mistakes_are_told(mistake, text):
    scores, transitions, _ = given()
    with pytest.raises(ValueError) as caught:
        mistake(scores, transitions)
    assert text in str(caught.value)


def test_ties_and_rules_that_hold_the_same_are_marked():
    scores, transitions, v = given(2)
    limit = at_most(0.5, [0], labels=LABELS, hard=True)
    rules = [limit, CountRule([0, 1, 0], "squared", 2.0, -1.0), limit]
    marginals, vjp = layers.project_with_vjp(scores, transitions, rules, MASK, tolerance=1e-12)
    found = vjp(v)
    assert found.ties.shape == found.repeated.shape == (SEQUENCES, len(rules))
    binds = marginals[:, :, 0].sum(axis=1) > 0.5 - 1e-6
    assert binds.any()
    for sequence in range(SEQUENCES):
        assert found.repeated[sequence].tolist() == [binds[sequence], False, binds[sequence]]
    assert not found.ties.any()
    # A limit that just holds, without the rule.
    free = layers.project(scores, transitions, [], MASK, tolerance=1e-13)
    just = at_most(float(free[0, :, 0].sum()), [0], labels=LABELS, hard=True)
    _, vjp = layers.project_with_vjp(scores[:1], transitions, [just], MASK[:1], tolerance=1e-12)
    assert vjp(v[:1]).ties.tolist() == [[True]]
