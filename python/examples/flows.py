# %% [markdown]
# # Movement from counts
#
# Birds were counted at nine places on six days. Nobody knows which bird went where; the counts say a lot about it.

# %%
import numpy as np

import pybethe as pb

side, days, birds = 3, 6, 500
places = [(x, y) for x in range(side) for y in range(side)]
cells = {"cell": [f"{x}{y}" for x, y in places], "x": [x for x, _ in places], "y": [y for _, y in places]}

# %% [markdown]
# Made data: all birds start in one corner and drift to the other.

# %%
random = np.random.default_rng(0)
distance = np.array([[np.hypot(a - c, b - d) for c, d in places] for a, b in places])
goal = np.array([x + y for x, y in places])
law = np.exp(-1.5 * distance + 0.8 * goal) * (distance <= 2.0)
law /= law.sum(axis=1, keepdims=True)
now, counts = np.eye(side * side)[0] * birds, []
for _ in range(days):
    counts.append(random.poisson(now))
    now = now @ law

# %%
f = pb.Flows(cells, population=birds, reach=2.0).fit(np.array(counts), times=range(1, days + 1))
print(f.summary["status"], "gap", f.summary["gap"])
print({own["name"]: round(own["weight"], 2) for own in f.learned["weights"]})

# %% [markdown]
# The largest flows between different places, with standard errors. In a notebook, `f` alone shows the map.

# %%
flows = f.flows
moved = flows["from"] != flows["to"]
for at in np.argsort(-flows["count"] * moved)[:5]:
    print(*(flows[name][at] for name in ("time", "from", "to")), f"{flows['count'][at]:.0f} ± {flows['standard_error'][at]:.0f}")
f
