"""Noisy tables become distributions and records."""

import numpy as np
import pytest

import pybethe as pb

VARIABLES = {"age": 3, "work": ["none", "part", "full"], "home": ["rented", "owned"]}


def made(seed=0, people=2000, noise=5.0):
    """Two noisy tables of a population, and their true counts."""
    random = np.random.default_rng(seed)
    joint = random.dirichlet(np.full(18, 0.5)).reshape(3, 3, 2) * people
    truth = {("age", "work"): joint.sum(axis=2), ("work", "home"): joint.sum(axis=0)}
    return {scope: own + random.normal(scale=noise, size=own.shape) for scope, own in truth.items()}, truth


def test_tables_are_fitted_and_records_drawn():
    noisy, truth = made()
    found = pb.estimate(VARIABLES, noisy, stddev=5.0)
    assert found.answer.status == "converged" and found.total == pytest.approx(2000, rel=0.02)
    for scope, own in truth.items():
        assert np.abs(found.project(scope) - own).max() < 20
    np.testing.assert_allclose(found.project(("home", "work")), found.project(("work", "home")).T)
    records = found.sample(5000, seed=1)
    assert list(records) == ["age", "work", "home"] and records.rows == 5000
    assert set(records["work"]) <= {"none", "part", "full"} and records["age"].dtype.kind == "u"
    shares = np.array([(records["work"] == own).mean() for own in VARIABLES["work"]])
    np.testing.assert_allclose(shares, found.project("work") / found.total, atol=0.03)
    np.testing.assert_array_equal(records["home"], found.sample(5000, seed=1)["home"])
    assert found.sample().rows == round(found.total)


def test_other_tables_follow_from_the_fitted_model():
    noisy, _ = made()
    found = pb.estimate(VARIABLES, noisy, stddev=5.0)
    # Given work, age and home do not depend on each other.
    a, h = found.project(("age", "work")), found.project(("work", "home"))
    expected = np.einsum("aw,wh,w->ah", a, h, 1 / h.sum(axis=1))
    np.testing.assert_allclose(found.project(("age", "home")), expected, rtol=1e-6)
    assert found.project(0).shape == (3,)


def test_surer_tables_count_more():
    table = np.array([600.0, 300.0, 100.0])
    both = {("age",): table, ("age", "home"): np.full((3, 2), 1000 / 6)}
    one = pb.estimate({"age": 3, "home": 2}, both, stddev={("age",): 1.0, ("age", "home"): 100.0}, total=1000)
    other = pb.estimate({"age": 3, "home": 2}, both, stddev={("age",): 100.0, ("age", "home"): 1.0}, total=1000)
    assert abs(one.project("age")[0] - 600) < 1 and abs(other.project("age")[0] - 333) < 5


def test_measurements_of_mbi_are_taken_as_they_are():
    class Domain:
        attributes, shape = ("age", "work", "home"), (3, 3, 2)

    class DatavectorQuery:
        pass

    class LinearMeasurement:
        def __init__(self, noisy_measurement, clique, stddev=1.0):
            self.noisy_measurement, self.clique, self.stddev = noisy_measurement, clique, stddev
            self.query = DatavectorQuery()

    noisy, _ = made()
    measurements = [LinearMeasurement(own.ravel(), scope, 5.0) for scope, own in noisy.items()]
    found = pb.estimate(Domain, measurements)
    expected = pb.estimate({"age": 3, "work": 3, "home": 2}, noisy, stddev=5.0)
    np.testing.assert_allclose(found.project(("age", "work")), expected.project(("age", "work")))
    measurements[0].query = lambda table: table
    with pytest.raises(ValueError, match="whole tables"):
        pb.estimate(Domain, measurements)


@pytest.mark.parametrize(
    ("tables", "options", "error", "message"),
    [
        ({}, {}, ValueError, "found no tables"),
        ({"work": [1, 2]}, {}, ValueError, r"table \('work',\): found shape \(2,\), expected \(3,\)"),
        ({"work": [1, 2, np.nan]}, {}, ValueError, "nan"),
        ({"pay": [1, 2, 3]}, {}, KeyError, "pay"),
        ({"work": [1, 2, 3]}, {"stddev": 0.0}, ValueError, "stddev"),
        ({"work": [1, 2, 3]}, {"stddev": {"age": 1.0}}, ValueError, "stddev"),
        ({"work": [1, 2, 3]}, {"total": -1.0}, ValueError, "total: found -1.0"),
        ({"work": [1, 2, 3]}, {"tolerence": 1e-3}, TypeError, "tolerence"),
        ([1, 2, 3], {}, TypeError, "LinearMeasurement"),
    ],
)
def test_mistakes_are_told(tables, options, error, message):
    with pytest.raises(error, match=message):
        pb.estimate(VARIABLES, tables, **options)
    with pytest.raises(TypeError, match="mapping from names"):
        pb.estimate([2, 3], {"work": [1, 2, 3]})
