"""`pybethe.layers` for PyTorch: losses and marginals under rules as modules. Needs the package torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from . import layers
from .layers import CountRule

__all__ = ["FenchelYoungLoss", "ProjectedMarginals"]


def _array(tensor: Any) -> Any:
    if tensor is None:
        return None
    own = tensor.detach().cpu()
    return (own.double() if own.is_floating_point() else own).numpy()


def _tensor(array: Any, like: Any) -> Any:
    return torch.as_tensor(np.ascontiguousarray(array), dtype=like.dtype, device=like.device)


class _Rules(torch.nn.Module):
    """Rules whose weights and offsets are parameters, and transitions likewise."""

    def __init__(
        self,
        rules: Sequence[CountRule],
        transitions: Any,
        learn_weights: bool,
        learn_offsets: bool,
        tolerance: float,
    ) -> None:
        super().__init__()
        self.rules, self.tolerance = tuple(rules), tolerance
        weights = torch.tensor([layers._weight(rule) for rule in rules], dtype=torch.float64)
        offsets = torch.tensor([float(rule.offset) for rule in rules], dtype=torch.float64)
        self.weights = torch.nn.Parameter(weights, requires_grad=learn_weights)
        self.offsets = torch.nn.Parameter(offsets, requires_grad=learn_offsets)
        if transitions is None or isinstance(transitions, torch.nn.Parameter):
            self.transitions = transitions
        else:
            self.transitions = torch.nn.Parameter(torch.as_tensor(transitions))

    def extra_repr(self) -> str:
        learned = [name for name, own in self.named_parameters() if own.requires_grad]
        return f"rules={len(self.rules)}, learned=[{', '.join(learned)}]"

    def _stated(self, weights: Any, offsets: Any) -> list[CountRule]:
        # A rule never pays for being broken: weights below 0 count as 0.
        return layers._with(self.rules, np.maximum(_array(weights), 0.0), _array(offsets))


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, module: FenchelYoungLoss, scores: Any, labels: Any, mask: Any, *own: Any
    ) -> Any:
        transitions, weights, offsets = own
        losses, found = layers.fenchel_young_loss(
            _array(scores),
            _array(labels),
            _array(transitions),
            module._stated(weights, offsets),
            _array(mask),
            tolerance=module.tolerance,
        )
        ctx.found, ctx.own = found, (scores, *own)
        return _tensor(losses, scores)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *v: Any) -> Any:
        scores, transitions, weights, offsets = ctx.own
        each = _array(v[0])

        def pulled(gradient: Any, like: Any) -> Any:
            return None if like is None else _tensor(np.tensordot(each, gradient, 1), like)

        found = ctx.found
        return (
            None,
            _tensor(found.scores * each[:, None, None], scores),
            None,
            None,
            pulled(found.transitions, transitions),
            pulled(found.weights, weights),
            pulled(found.offsets, offsets),
        )


class FenchelYoungLoss(_Rules):
    """The loss of labels under rules; without rules the negative log-likelihood of a CRF.

    `loss(logits, labels, mask)` takes `[sequences, positions, labels]` and `[sequences, positions]`.
    `transitions`, `[labels, labels]`, are learned if they are given. So are the weights of rules with
    `learn_weights=True`. `reduction` is mean, sum or none, over sequences.
    """

    def __init__(
        self,
        rules: Sequence[CountRule] = (),
        *,
        transitions: Any = None,
        learn_weights: bool = False,
        reduction: str = "mean",
        tolerance: float = 1e-8,
    ) -> None:
        super().__init__(rules, transitions, learn_weights, False, tolerance)
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"found reduction {reduction!r}, expected mean, sum or none")
        self.reduction = reduction

    def forward(self, logits: Any, labels: Any, mask: Any = None) -> Any:
        own = (self.transitions, self.weights, self.offsets)
        losses = _Loss.apply(self, logits, labels, mask, *own)
        if self.reduction == "none":
            return losses
        return losses.mean() if self.reduction == "mean" else losses.sum()


class _Projection(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, module: ProjectedMarginals, scores: Any, mask: Any, *own: Any) -> Any:
        transitions, weights, offsets = own
        marginals, ctx.vjp = layers.project_with_vjp(
            _array(scores),
            _array(transitions),
            module._stated(weights, offsets),
            _array(mask),
            tolerance=module.tolerance,
        )
        ctx.own = (scores, *own)
        return _tensor(marginals, scores)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *v: Any) -> Any:
        scores, transitions, weights, offsets = ctx.own
        found = ctx.vjp(_array(v[0]))

        def pulled(gradient: Any, like: Any) -> Any:
            return None if like is None else _tensor(gradient.sum(axis=0), like)

        return (
            None,
            _tensor(found.scores, scores),
            None,
            pulled(found.transitions, transitions),
            pulled(found.weights, weights),
            pulled(found.offsets, offsets),
        )


class ProjectedMarginals(_Rules):
    """Marginals of chains under rules, `[sequences, positions, labels]`, for losses of your own.

    Gradients are those of the answer itself. Transitions are learned if they are given; weights and
    offsets of rules with `learn_weights=True`, `learn_offsets=True`.
    """

    def __init__(
        self,
        rules: Sequence[CountRule] = (),
        *,
        transitions: Any = None,
        learn_weights: bool = False,
        learn_offsets: bool = False,
        tolerance: float = 1e-10,
    ) -> None:
        super().__init__(rules, transitions, learn_weights, learn_offsets, tolerance)

    def forward(self, logits: Any, mask: Any = None) -> Any:
        own = (self.transitions, self.weights, self.offsets)
        return _Projection.apply(self, logits, mask, *own)
