"""Read by the type checker, not run: what users write has types."""

import numpy as np
from typing_extensions import assert_type

import pybethe as pb

problem = pb.Problem({"colour": ["red", "blue"], "size": 3})
problem.factor(["colour", "size"], np.zeros((2, 3)))
assert_type(problem.measure({"colour": [0, 1]}, penalty="huber", delta=0.3), int)
answer = problem.solve(tolerance=1e-8, trace=True)
assert_type(answer, pb.Answer)
assert_type(answer.gap, float | None)
assert_type(pb.solve([problem, problem]), list[pb.Answer])
assert_type(pb.solve(problem, oracle="exact"), pb.Answer)
problem.solve(solver="fastest")  # type: ignore[arg-type]
flows = pb.Flows({"cell": ["a", "b"], "x": [0, 1], "y": [0, 0]}, population=10).fit(np.ones((3, 2)))
assert_type(flows, pb.Flows)
assert_type(flows.flows, pb.Table)
pb.Flows("cells.csv", people=10)  # type: ignore[call-arg]
assert_type(pb.estimate({"age": 3}, {"age": [1.0, 2.0, 3.0]}, stddev=2.0, tolerance=1e-8), pb.Estimate)
