# %% [markdown]
# # A tagger that keeps rules
#
# Addresses have one name, then a street. A tagger that looks at words and at neighbouring labels forgets that; rules about whole
# sequences remind it.

# %%
import random

import pybethe as pb
from pybethe.rules import before, exactly

names = ["ann", "bob", "rose", "may", "ash"]
streets = ["elm", "oak", "rose", "may", "ash"]  # most are names, too


def address(draw: random.Random) -> tuple[list[str], list[str]]:
    """Tokens and labels of an address."""
    between = ["who", "lives", "in"][: draw.randint(1, 3)]
    tokens = [draw.choice(names), *between, draw.choice(streets)]
    return tokens, ["B-name", *["O"] * len(between), "B-street"]


draw = random.Random(0)
X, y = map(list, zip(*(address(draw) for _ in range(60))))
X_test, y_test = map(list, zip(*(address(draw) for _ in range(200))))

# %% [markdown]
# Without rules, and with two that we know. Weights are learned unless they are given; `hard` holds on every output.

# %%
template = "U00:%x[0,0]\n"  # the word alone
plain = pb.Tagger(constraints="none", template=template).fit(X, y)
rules = [exactly(1, "name", weight="hard"), before("name", "street")]
ruled = pb.Tagger(constraints=rules, template=template).fit(X, y)
print(f"F1 {plain.score(X_test, y_test):.3f} without rules, {ruled.score(X_test, y_test):.3f} with them")

# %% [markdown]
# What the rules did to an address:

# %%
print(ruled.rules_)
print(ruled.explain([["may", "who", "rose"]])[0])
print(ruled.predict([["may", "who", "rose"]])[0])
