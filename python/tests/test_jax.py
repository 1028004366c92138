"""Layers in JAX have JAX's own finite differences, under jit and vmap too."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402

import pybethe.jax as pbj  # noqa: E402
from pybethe import layers  # noqa: E402
from pybethe.layers import CountRule, at_most  # noqa: E402

jax.config.update("jax_enable_x64", True)
RULES = [at_most(0.5, [0], labels=3, weight=9.0), CountRule([0, 1, 1], "squared", 2.0, -1.2)]
MASK = np.arange(4) < np.array([4, 2])[:, None]


def given(seed=0):
    random = np.random.default_rng(seed)
    return jnp.array(random.normal(size=(2, 4, 3))), jnp.array(random.normal(size=(3, 3)))


def test_marginals_are_those_of_numpy_and_have_gradients():
    from jax.test_util import check_grads

    scores, transitions = given()
    found = jax.jit(lambda s, t: pbj.project(s, t, RULES, MASK))(scores, transitions)
    np.testing.assert_allclose(found, layers.project(scores, transitions, RULES, MASK), atol=1e-9)

    def value(scores, transitions, weights, offsets):
        own = pbj.project(
            scores, transitions, RULES, MASK, weights=weights, offsets=offsets, tolerance=1e-13
        )
        return (own**2).sum()

    arguments = (scores, transitions, jnp.array([9.0, 2.0]), jnp.array([1.5, -1.2]))
    check_grads(value, arguments, order=1, modes=["rev"], atol=1e-5, rtol=1e-5)


def test_losses_have_gradients_per_sequence():
    from jax.test_util import check_grads

    scores, transitions = given(1)
    labels = jnp.array([[0, 1, 2, 2], [1, 1, 0, 0]])

    def value(scores, transitions, weights):
        losses = pbj.fenchel_young_loss(
            scores, labels, transitions, RULES, MASK, weights=weights, tolerance=1e-13
        )
        return losses @ jnp.array([1.0, -0.5])

    arguments = (scores, transitions, jnp.array([9.0, 2.0]))
    check_grads(value, arguments, order=1, modes=["rev"], atol=1e-5, rtol=1e-5)


def test_vmap_is_a_loop():
    scores, transitions = given(2)
    several = jnp.stack([scores, scores + 1.0, -scores])
    found = jax.vmap(lambda s: pbj.project(s, transitions, RULES))(several)
    for own, expected in zip(several, found):
        np.testing.assert_allclose(pbj.project(own, transitions, RULES), expected)
