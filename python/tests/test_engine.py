"""Problems stated in Python have the answers of enumeration."""

import itertools
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import pybethe as pb


def brute_force(cards, factors):
    """Marginals of each variable and the log-partition, by enumeration."""
    scores = np.zeros(cards)
    for configuration in itertools.product(*map(range, cards)):
        for scope, table in factors:
            scores[configuration] += table[tuple(configuration[v] for v in scope)]
    weights = np.exp(scores - scores.max())
    log_partition = np.log(weights.sum()) + scores.max()
    weights /= weights.sum()
    axes = range(len(cards))
    return [weights.sum(axis=tuple(a for a in axes if a != v)) for v in axes], log_partition, weights


def random_problem(seed, cards=(2, 3, 2, 2)):
    random = np.random.default_rng(seed)
    factors = [((v, v + 1), random.normal(size=(cards[v], cards[v + 1]))) for v in range(len(cards) - 1)]
    factors.append(((3, 0), random.normal(size=(cards[3], cards[0]))))
    problem = pb.Problem(cards)
    for scope, table in factors:
        problem.factor(scope, table)
    return problem, cards, factors


def test_the_contract():
    p = pb.Problem([2, 2, 2])
    p.factor([0, 1], np.array([[1.0, 0.0], [0.0, 1.0]]))
    p.measure({0: [0, 1], 1: [0, 1], 2: [0, 1]}, penalty="squared", weight=20.0, offset=-1.0)
    a = p.solve(tolerance=1e-8)
    assert a.status == "converged" and a.gap <= 1e-8
    assert a.marginals[0].shape == (2,) and abs(a.marginals[0].sum() - 1) < 1e-12
    assert abs(sum(m[1] for m in a.marginals) - 1) < 0.1
    assert len(a.map.assignment) == 3


@pytest.mark.parametrize("seed", range(5))
def test_marginals_are_those_of_enumeration(seed):
    problem, cards, factors = random_problem(seed)
    marginals, log_partition, joint = brute_force(cards, factors)
    answer = problem.solve()
    for variable, expected in enumerate(marginals):
        np.testing.assert_allclose(answer.marginals[variable], expected, atol=1e-12)
    assert answer.log_partition == pytest.approx(log_partition, abs=1e-12)
    pair = joint.sum(axis=(1, 2))
    np.testing.assert_allclose(answer.marginals[0, 3], pair, atol=1e-12)
    np.testing.assert_allclose(answer.marginals[3, 0], pair.T, atol=1e-12)


def test_a_closure_has_the_answer_of_the_penalty():
    problem, cards, _ = random_problem(1)
    closed, _, _ = random_problem(1)
    problem.measure({0: [0, 1], 2: [0, 1]}, penalty="squared", weight=5.0, offset=-0.3)

    def squared(tables):
        z = tables[0][1] + tables[1][1] - 0.3
        return 2.5 * z * z, [np.array([0, 5 * z]), np.array([0, 5 * z])]

    closed.energy([0, 2], squared, infimum=0.0)
    one, other = problem.solve(tolerance=1e-9), closed.solve(tolerance=1e-9)
    assert other.gap is not None
    assert one.objective == pytest.approx(other.objective, abs=1e-8)
    np.testing.assert_allclose(one.marginals[0], other.marginals[0], atol=1e-4)


def test_what_a_closure_raises_is_raised():
    problem = pb.Problem([2])
    problem.energy([0], lambda tables: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        problem.solve()
    problem = pb.Problem([2])
    problem.energy([0], lambda tables: (0.0, [np.zeros(3)]))
    with pytest.raises(ValueError, match="shape"):
        problem.solve()


def test_names_are_used_throughout():
    p = pb.Problem({"colour": ["red", "blue"], "size": 3})
    p.factor(["colour", "size"], np.zeros((2, 3)))
    p.measure({"colour": [0, 1]}, penalty="equal", offset=-0.25)
    p.observe("size", "2")
    a = p.solve()
    assert a.marginals["colour"][1] == pytest.approx(0.25, abs=1e-3)
    assert a.map["size"] == "2"
    assert ("colour", "size") in a.marginals.scopes


def test_the_tilt_has_the_marginals():
    problem, cards, factors = random_problem(2)
    problem.measure({(0, 1): [[1, 0, 0], [0, 0, 2]]}, penalty="absolute", weight=3.0, offset=-1.2)
    answer = problem.solve(tolerance=1e-10)
    tilted = factors + [((0, 1), answer.tilt[0, 1])]
    marginals, log_partition, _ = brute_force(cards, tilted)
    np.testing.assert_allclose(answer.marginals[0], marginals[0], atol=1e-9)
    assert answer.multipliers[0] is not None
    for variable in range(4):
        np.testing.assert_allclose(answer.marginals[variable], marginals[variable], atol=1e-9)


def test_tilts_of_factors_in_any_order_and_single_variables():
    problem = pb.Problem([2, 3])
    problem.factor([1, 0], np.arange(6.0).reshape(3, 2))
    problem.factor([1, 0], np.full((3, 2), 0.5))
    problem.factor(0, [0.3, 0.0])
    problem.measure({(0, 1): [[1, 0, 0], [0, 0, 2]]}, weight=9.0, offset=-0.7)
    answer = problem.solve(tolerance=1e-12)
    pull = answer.multipliers[0][0]
    expected = -pull * np.array([[1, 0, 0], [0, 0, 2]])
    found = answer.tilt[0, 1]
    np.testing.assert_allclose(found - found[0, 1], expected - expected[0, 1], atol=1e-6)
    assert len(answer.marginals) == 2 and len(list(answer.marginals)) == 2
    assert answer._repr_html_().count("<tr>") == 2


def test_functions_may_solve_other_problems():
    inner = pb.Problem([2])
    inner.measure({0: [0, 1]}, weight=3.0, offset=-0.9)
    problem, _, _ = random_problem(7)

    def function(tables):
        inner.solve()
        return float(tables[0][1]), [np.array([0.0, 1.0])]

    problem.energy([0], function, infimum=0.0)
    assert all(a.status == "converged" for a in pb.solve_many([problem] * 6))


def test_copies_raise_what_their_functions_raise():
    import copy

    problem = pb.Problem([2])
    problem.energy([0], lambda tables: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        copy.copy(problem).solve()


def test_many_problems_have_the_answers_of_each():
    problems = [random_problem(seed)[0] for seed in range(20)]
    for problem in problems:
        problem.measure({0: [0, 1]}, weight=4.0, offset=-0.9)
    one = [problem.solve().objective for problem in problems]
    assert [a.objective for a in pb.solve(problems)] == one
    assert [a.objective for a in pb.solve_many(problems, n_jobs=1)] == one
    problems[3].energy([0], lambda tables: [])
    with pytest.raises(TypeError) as caught:
        pb.solve_many(problems)
    assert caught.value.index == 3
    assert caught.value.answers[3] is None and caught.value.answers[4].objective == one[4]


def test_traces_are_kept_and_drawn(tmp_path):
    problem, _, _ = random_problem(3)
    problem.measure({0: [0, 1]}, weight=40.0, offset=-0.9)
    seen = []
    answer = problem.solve(trace=True, callback=seen.append, solver="rda", max_iterations=30)
    assert [r.iteration for r in answer.trace] == [r.iteration for r in seen]
    answer.plot().save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")
    assert problem.solve().trace is None
    with pytest.raises(ValueError, match="trace=True"):
        problem.solve().plot()
    stopped = problem.solve(callback=lambda record: record.iteration < 3, solver="rda")
    assert stopped.status == "stopped" and stopped.iterations == 3


def test_notebooks_show_names_as_text():
    problem = pb.Problem({"<b>": ["<i>", "&"]})
    html = problem.solve()._repr_html_()
    assert "<b>converged" in html and "&lt;i&gt;" in html and "<i>" not in html


def test_problems_are_pickled_and_written():
    problem, _, _ = random_problem(4)
    problem.measure({0: [0, 1]}, penalty="poisson", count=3, rate=2.0)
    again = pickle.loads(pickle.dumps(problem))
    assert again.solve().objective == problem.solve().objective
    assert pb.Problem.from_json(problem.to_json()).to_json() == problem.to_json()


def test_answers_are_those_of_the_command_line_as_json():
    import json

    problem, _, _ = random_problem(4)
    answer = problem.solve()
    before = json.loads(answer.to_json())
    answer.marginals[0]
    assert json.loads(answer.to_json()) == before
    assert before["marginals"][0]["values"] == answer.marginals[0].tolist()


def test_records_are_drawn_from_the_answer():
    problem, _, _ = random_problem(5)
    problem.measure({0: [0, 1]}, penalty="equal", offset=-0.8)
    drawn = problem.sample(20_000, seed=3)
    assert drawn.shape == (20_000, 4)
    assert abs(drawn[:, 0].mean() - 0.8) < 0.02
    assert (problem.sample(5, seed=1) == problem.sample(5, seed=1)).all()


def test_uai_files_are_read(tmp_path):
    model = tmp_path / "model.uai"
    model.write_text("MARKOV 2  2 2  1  2 0 1  4  1 2 3 4")
    (tmp_path / "model.evid").write_text("1 0 1")
    answer = pb.Problem.from_uai(model).solve()
    np.testing.assert_allclose(answer.marginals[0], [0.3, 0.7])
    answer = pb.Problem.from_uai(model, tmp_path / "model.evid").solve()
    np.testing.assert_allclose(answer.marginals[1], [3 / 7, 4 / 7])
    with pytest.raises(FileNotFoundError):
        pb.Problem.from_uai(tmp_path / "none.uai")
    model.write_text("MARKOV 2  2")
    with pytest.raises(ValueError, match="model.uai"):
        pb.Problem.from_uai(model)


@pytest.mark.parametrize(
    ("mistake", "error", "text"),
    [
        (lambda p: p.factor([0, 1], np.zeros((2, 2))), ValueError, "expected [2, 3]"),
        (lambda p: p.factor([0, 9], np.zeros((2, 2))), IndexError, "variable 9"),
        (lambda p: p.factor("x", [0, 0]), KeyError, "named"),
        (lambda p: p.factor(0, [0, np.nan]), ValueError, "NaN"),
        (lambda p: p.measure({0: [0, 1]}, penalty="square"), ValueError, "squared"),
        (lambda p: p.measure({0: [0, 1]}, penalty="huber"), ValueError, "delta="),
        (lambda p: p.measure({0: [0, 1]}, penalty="squared", delta=1), ValueError, "no delta"),
        (lambda p: p.measure({0: [0, 1]}, penalty="equal", weight=2), ValueError, "no weight"),
        (lambda p: p.solve(tolerance=-1), ValueError, "tolerance"),
        (lambda p: p.solve(tolerence=1), TypeError, "tolerance"),
        (lambda p: p.solve(solver="best"), ValueError, "adaptive"),
        (lambda p: p.solve(beta=1.0), ValueError, "rda"),
        (lambda p: p.solve(n_jobs=0), ValueError, "n_jobs"),
        (lambda p: p.solve(time_limit=-1), ValueError, "time_limit"),
        (lambda p: p.observe(0, 2), IndexError, "state 2"),
        (lambda p: pb.solve([p, 3]), TypeError, "Problem"),
        (lambda p: pb.Problem([2, 0]), ValueError, "state"),
        (lambda p: pb.Problem({"a": "red"}), TypeError, "list of names"),
        (lambda p: p.sample(2**62), MemoryError, "records"),
        (lambda p: p.sample(2, trace=True), TypeError, "trace"),
    ],
)
def test_mistakes_are_told(mistake, error, text):
    with pytest.raises(error) as caught:
        mistake(pb.Problem([2, 3]))
    assert text in str(caught.value)


def slow_problem():
    """An energy that takes its time: it never converges within a test."""
    problem, _, _ = random_problem(6)

    def slow(tables):
        time.sleep(0.002)
        z = tables[0][1] - 0.9
        return 5000 * z * z, [np.array([0, 10_000 * z])]

    problem.energy([0], slow, infimum=0.0)
    return problem


def test_ctrl_c_raises_with_the_best_answer_so_far():
    problem = slow_problem()
    sent = []

    def send():
        time.sleep(0.3)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        problem.solve(solver="mirror-descent", step_size=1e-6, tolerance=1e-15, max_iterations=10**9)
    assert time.perf_counter() - sent[0] < 1.0
    assert caught.value.answer.status == "stopped"
    assert caught.value.answer.marginals[0].shape == (2,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_solves_too():
    problems = [random_problem(seed)[0] for seed in range(4)]
    before = [a.log_partition for a in pb.solve_many(problems)]
    child = os.fork()
    if child == 0:
        same = [a.log_partition for a in pb.solve_many(problems)] == before
        os._exit(0 if same else 1)
    deadline = time.time() + 20
    while time.time() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the forked process hangs")


def test_covariance_has_error_bars():
    problem = pb.Problem([2])
    problem.measure({0: [0, 1]}, weight=10.0, offset=-0.5)
    found = problem.solve(covariance="measurements").covariance
    assert found["deviations"][0] == pytest.approx(0.5)
    # Prior variance 1/4 and an observation of variance 1/10.
    assert found["inferred_deviations"][0] ** 2 == pytest.approx(1 / (4 + 10))
