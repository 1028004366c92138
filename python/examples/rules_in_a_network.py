# %% [markdown]
# # Rules inside a network
#
# A network scores labels token by token. A Fenchel–Young loss trains it under rules about the whole sequence: here, that label 1
# occurs exactly once. The network is one matrix, so numpy is enough; `pybethe.jax` and `pybethe.torch` have the same loss for
# networks of any size.

# %%
import numpy as np

from pybethe import layers

random = np.random.default_rng(0)
sequences, positions, inputs, labels = 64, 8, 6, 3
x = random.normal(size=(sequences, positions, inputs))
truth = np.where(x[..., 1] > 0.5, 2, 0)
# Where the first input is greatest stands label 1: no token can know that alone.
truth[np.arange(sequences), x[..., 0].argmax(axis=1)] = 1

# %%
once = [layers.equal(1, [1], labels=labels, weight=3.0)]


def train(rules: list[layers.CountRule], steps: int = 150) -> np.ndarray:
    """A matrix from inputs to scores, by gradient descent."""
    matrix = np.zeros((inputs, labels))
    for _ in range(steps):
        _, gradients = layers.fenchel_young_loss(x @ matrix, truth, None, rules)
        matrix -= 2.0 / (sequences * positions) * np.einsum("spi,spl->il", x, gradients.scores)
    return matrix


# %% [markdown]
# How often the one label 1 is found, without the rule and with it:

# %%
for name, rules in (("cross-entropy", []), ("with the rule", once)):
    marginals = layers.project(x @ train(rules), None, rules)
    found = marginals.argmax(axis=2) == 1
    right = (found == (truth == 1)).all(axis=1).mean()
    print(f"{name}: {100 * right:.0f} % of sequences have label 1 just where it belongs")
