"""Layers in PyTorch pass its own check of gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from pybethe.layers import CountRule, at_least, at_most, equal  # noqa: E402
from pybethe.torch import FenchelYoungLoss, ProjectedMarginals  # noqa: E402

MASK = torch.tensor(np.arange(4) < np.array([4, 2])[:, None])
RULES = {
    "none": [],
    "soft": [at_most(0.5, [0], labels=3, weight=9.0), CountRule([0, 1, 1], "squared", 2.0, -1.2)],
    "absolute": [equal(0.7, [1], labels=3, weight=30.0)],
    "huber": [CountRule([1, 0, -1], "huber", 4.0, 0.1, 0.3)],
    "smoothed hinge": [CountRule([-1, 0, 0], "smoothed_hinge", 4.0, 1.6)],
    "hard": [at_most(0.5, [0], labels=3, hard=True), at_least(0.6, [2], labels=3, hard=True)],
}


def given(seed=0):
    random = np.random.default_rng(seed)
    scores = torch.tensor(random.normal(size=(2, 4, 3)), requires_grad=True)
    return scores, torch.tensor(random.normal(size=(3, 3)))


@pytest.mark.parametrize("name", RULES)
def test_marginals_pass_gradcheck(name):
    scores, transitions = given()
    layer = ProjectedMarginals(
        RULES[name], transitions=transitions, learn_weights=name != "hard", learn_offsets=True, tolerance=1e-13
    )
    assert torch.autograd.gradcheck(lambda s, *own: layer(s, MASK), (scores, *layer.parameters()), atol=1e-5)


@pytest.mark.parametrize("name", [name for name in RULES if name != "hard"])
def test_losses_pass_gradcheck(name):
    scores, transitions = given(1)
    labels = torch.tensor([[0, 1, 2, 2], [1, 1, -100, -100]])
    loss = FenchelYoungLoss(RULES[name], transitions=transitions, learn_weights=True, tolerance=1e-13)
    own = [parameter for parameter in loss.parameters() if parameter.requires_grad]
    assert torch.autograd.gradcheck(lambda s, *own: loss(s, labels, MASK), (scores, *own), atol=1e-5)


def test_a_network_learns_with_the_loss():
    torch.manual_seed(0)
    inputs = torch.randn(32, 5, 4)
    labels = (inputs[..., 0] > 0).long()
    network = torch.nn.Linear(4, 2)
    loss = FenchelYoungLoss(transitions=torch.zeros(2, 2))
    optimiser = torch.optim.Adam([*network.parameters(), *loss.parameters()], lr=0.1)
    first = last = None
    for _ in range(30):
        optimiser.zero_grad()
        last = loss(network(inputs), labels)
        last.backward()
        optimiser.step()
        first = first if first is not None else last.item()
    assert last.item() < 0.5 * first
