"""`pybethe.layers` for JAX: works under `jit`, `vmap` and `grad`. Needs the package jax."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import layers
from .layers import CountRule

__all__ = ["fenchel_young_loss", "project"]

_Rules = tuple[CountRule, ...]


def _fixed(rules: Sequence[CountRule]) -> _Rules:
    """Rules that JAX can compare, and so compile for."""
    return tuple(
        CountRule(tuple(map(float, r.coefficients)), r.penalty, r.weight, r.offset, r.delta)
        for r in rules
    )


def _filled(scores: Any, transitions: Any, mask: Any) -> tuple[Any, Any]:
    labels = scores.shape[-1]
    if transitions is None:
        transitions = jnp.zeros((labels, labels), scores.dtype)
    if mask is None:
        mask = jnp.ones(scores.shape[:-1], bool)
    return transitions, mask


def _like(*arrays: Any) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays)


def _as(dtypes: Sequence[Any], arrays: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(np.asarray(array, dtype) for array, dtype in zip(arrays, dtypes))


def project(
    scores: Any,
    transitions: Any = None,
    rules: Sequence[CountRule] = (),
    mask: Any = None,
    *,
    weights: Any = None,
    offsets: Any = None,
    tolerance: float = 1e-10,
) -> Any:
    """Marginals of chains under rules, `[sequences, positions, labels]`. `weights` and `offsets`
    replace those of the rules, and have gradients."""
    fixed = _fixed(rules)
    transitions, mask = _filled(scores, transitions, mask)
    if weights is None:
        weights = jnp.array([layers._weight(rule) for rule in fixed], scores.dtype)
    if offsets is None:
        offsets = jnp.array([rule.offset for rule in fixed], scores.dtype)
    return _project(fixed, tolerance, scores, transitions, mask, weights, offsets)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _project(
    rules: _Rules, tolerance: float, scores: Any, transitions: Any, mask: Any, weights: Any, offsets: Any
) -> Any:
    def run(scores: Any, transitions: Any, mask: Any, weights: Any, offsets: Any) -> Any:
        own = layers._with(rules, weights, offsets)
        found = layers.project(scores, transitions, own, mask, tolerance=tolerance)
        return np.asarray(found, scores.dtype)

    shape = jax.ShapeDtypeStruct(scores.shape, scores.dtype)
    given = (scores, transitions, mask, weights, offsets)
    return jax.pure_callback(run, shape, *given, vmap_method="sequential")


def _forward(rules: _Rules, tolerance: float, *given: Any) -> tuple[Any, tuple[Any, ...]]:
    return _project(rules, tolerance, *given), given


def _backward(rules: _Rules, tolerance: float, given: tuple[Any, ...], v: Any) -> tuple[Any, ...]:
    scores, transitions, mask, weights, offsets = given

    def run(
        scores: Any, transitions: Any, mask: Any, weights: Any, offsets: Any, v: Any
    ) -> tuple[Any, ...]:
        own = layers._with(rules, weights, offsets)
        _, vjp = layers.project_with_vjp(scores, transitions, own, mask, tolerance=tolerance)
        found = vjp(v)
        dtypes = [a.dtype for a in (scores, transitions, weights, offsets)]
        parts: tuple[Any, ...] = (found.transitions, found.weights, found.offsets)
        sums = [own.sum(axis=0) for own in parts]
        return _as(dtypes, [found.scores, *sums])

    shapes = _like(scores, transitions, weights, offsets)
    pulled = jax.pure_callback(run, shapes, *given, v, vmap_method="sequential")
    of_mask = np.zeros(mask.shape, jax.dtypes.float0)
    return pulled[0], pulled[1], of_mask, pulled[2], pulled[3]


_project.defvjp(_forward, _backward)


def fenchel_young_loss(
    scores: Any,
    labels: Any,
    transitions: Any = None,
    rules: Sequence[CountRule] = (),
    mask: Any = None,
    *,
    weights: Any = None,
    tolerance: float = 1e-8,
) -> Any:
    """The loss of each sequence. `weights` replace those of the rules, and have gradients."""
    fixed = _fixed(rules)
    transitions, mask = _filled(scores, transitions, mask)
    if weights is None:
        weights = jnp.array([layers._weight(rule) for rule in fixed], scores.dtype)
    return _loss(fixed, tolerance, scores, labels, transitions, mask, weights)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _loss(rules: _Rules, tolerance: float, *given: Any) -> Any:
    return _loss_forward(rules, tolerance, *given)[0]


def _loss_forward(rules: _Rules, tolerance: float, *given: Any) -> tuple[Any, tuple[Any, ...]]:
    scores, labels, transitions, mask, weights = given
    sequences = scores.shape[0]

    def run(scores: Any, labels: Any, transitions: Any, mask: Any, weights: Any) -> tuple[Any, ...]:
        own = layers._with(rules, weights, [rule.offset for rule in rules])
        losses, found = layers.fenchel_young_loss(
            scores, labels, transitions, own, mask, tolerance=tolerance
        )
        return _as([scores.dtype] * 4, [losses, found.scores, found.transitions, found.weights])

    dtype = scores.dtype
    shapes = (
        jax.ShapeDtypeStruct((sequences,), dtype),
        jax.ShapeDtypeStruct(scores.shape, dtype),
        jax.ShapeDtypeStruct((sequences, *transitions.shape), dtype),
        jax.ShapeDtypeStruct((sequences, *weights.shape), dtype),
    )
    losses, *parts = jax.pure_callback(run, shapes, *given, vmap_method="sequential")
    return losses, (*parts, labels, mask)


def _loss_backward(
    rules: _Rules, tolerance: float, kept: tuple[Any, ...], v: Any
) -> tuple[Any, ...]:
    scores, transitions, weights, labels, mask = kept
    nothing = [np.zeros(own.shape, jax.dtypes.float0) for own in (labels, mask)]
    return (
        scores * v[:, None, None],
        nothing[0],
        jnp.einsum("s,sij->ij", v, transitions),
        nothing[1],
        jnp.einsum("s,sr->r", v, weights),
    )


_loss.defvjp(_loss_forward, _loss_backward)
