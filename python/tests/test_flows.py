"""Flows from tables of any kind are those of the command."""

import csv
import inspect

import numpy as np
import pytest

import pybethe as pb
from pybethe._engine import InferredFlows

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
NAMES = ["a", "b", "c", "d"]
COUNTS = np.array([[90.0, 5, 4, 1], [52, 24, 20, 4], [30, 30, 27, 13], [14, 29, 30, 27]])


def cells():
    return {"cell": NAMES, "x": PLACES[:, 0], "y": PLACES[:, 1]}


def wide(counts=COUNTS):
    return {"time": [1, 2, 3, 4], **dict(zip(NAMES, counts.T))}


@pytest.fixture(scope="module")
def fitted():
    return pb.Flows(cells(), population=100, forecast=2).fit(wide())


def test_the_contract():
    f = pb.Flows(cells(), population=200).fit(wide(2 * COUNTS))
    assert set(f.flows) == {"time", "from", "to", "count", "standard_error"}
    assert f.expected_counts.shape == (4, 4)


def test_flows_add_up_to_counts(fitted):
    counts = fitted.counts
    number = {(t, c): n for t, c, n in zip(counts["time"], counts["cell"], counts["count"])}
    left = dict.fromkeys(number, 0.0)
    for time, before, count in zip(*(fitted.flows[name] for name in ("time", "from", "count"))):
        left[time, before] += count
    for (time, cell), total in left.items():
        if time != "4":
            assert total == pytest.approx(number[time, cell], abs=0.02)
    assert counts["count"].sum() == pytest.approx(400)
    assert (counts["standard_error"] >= 0).all() and counts["standard_error"].max() > 0.5
    np.testing.assert_array_equal(counts["observed"].reshape(4, 4), COUNTS)
    np.testing.assert_allclose(counts["expected"].reshape(4, 4), fitted.expected_counts)
    assert fitted.times == ["1", "2", "3", "4"] and fitted.cells == NAMES


def test_what_is_learned_and_how_it_went_is_told(fitted):
    assert fitted.summary["status"] == "converged" and fitted.summary["gap"] < 1e-4
    assert {own["name"] for own in fitted.learned["weights"]} == {"stay", "distance"}
    with pytest.warns(UserWarning, match="; fit counts learns how individuals move"):
        assert pb.Flows(cells(), population=100, fit="none").fit(wide()).learned is None


def test_every_kind_of_table_has_the_same_flows(fitted, tmp_path):
    expected = fitted.flows["count"]
    files = tmp_path / "cells.csv", tmp_path / "counts.csv"
    for path, table in zip(files, (cells(), wide())):
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(table)
            rows.writerows(zip(*table.values()))
    long = {
        "time": np.repeat([1, 2, 3, 4], 4),
        "cell": np.tile(NAMES, 4),
        "count": COUNTS.ravel(),
    }
    given = [(files[0], files[1]), (str(files[0]), wide()), (cells(), long)]
    for own, counts in given:
        found = pb.Flows(own, population=100, forecast=2).fit(counts)
        np.testing.assert_array_equal(found.flows["count"], expected)
    arrays = pb.Flows(PLACES, population=100, forecast=2).fit(COUNTS, times=[1, 2, 3, 4])
    np.testing.assert_array_equal(arrays.flows["count"], expected)
    assert arrays.cells == ["0", "1", "2", "3"]
    named = pb.Flows(cells(), population=100, forecast=2).fit(COUNTS)
    np.testing.assert_array_equal(named.flows["count"], expected)
    assert named.times == ["0", "1", "2", "3"]


def test_data_frames_are_tables(fitted):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COUNTS, columns=NAMES, index=pandas.RangeIndex(1, 5, name="time"))
    found = pb.Flows(pandas.DataFrame(cells()), population=100, forecast=2).fit(frame)
    np.testing.assert_array_equal(found.flows["count"], fitted.flows["count"])
    shown = found.flows.to_pandas()
    assert list(shown.columns) == ["time", "from", "to", "count", "standard_error"]
    assert len(shown) == found.flows.rows
    days = pandas.date_range("2024-05-01", periods=4)
    dated = pb.Flows(cells(), population=100).fit(pandas.DataFrame(COUNTS, index=days, columns=NAMES))
    assert dated.times[0] == "2024-05-01"


def test_polars_frames_are_tables(fitted):
    polars = pytest.importorskip("polars")
    found = pb.Flows(polars.DataFrame(cells()), population=100, forecast=2)
    found.fit(polars.DataFrame(wide()))
    np.testing.assert_array_equal(found.flows["count"], fitted.flows["count"])


def test_files_are_those_of_the_command(fitted, tmp_path):
    names = fitted.save(tmp_path / "out")
    assert {"flows.csv", "counts.csv", "summary.json", "index.html", "forecast.csv"} <= set(names)
    with (tmp_path / "out" / "flows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["from"] for row in rows] == list(fitted.flows["from"])
    np.testing.assert_allclose([float(row["count"]) for row in rows], fitted.flows["count"], rtol=1e-5)
    assert fitted.page() == (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert fitted._repr_html_().startswith("<iframe srcdoc=")


def test_transitions_net_forecast_given_and_routes(fitted):
    moves = fitted.transitions
    start = moves["probability"][(moves["time"] == "1") & (moves["from"] == "a")]
    assert start.sum() == pytest.approx(1.0)
    counts = fitted.counts["count"].reshape(4, 4)
    np.testing.assert_allclose(fitted.net["net"].reshape(3, 4), np.diff(counts, axis=0), atol=1e-9)
    assert fitted.forecast["count"].sum() == pytest.approx(200)
    assert list(fitted.forecast["time"][::4]) == ["5", "6"]
    given = fitted.given("b", at=2)["count"].reshape(4, 4)
    np.testing.assert_allclose(given.sum(axis=1), counts[1, 1])
    routes = fitted.routes(500, seed=3)
    assert routes.shape == (500, 4) and (routes[:, 0] == "a").mean() > 0.8
    np.testing.assert_array_equal(routes, fitted.routes(500, seed=3))


def test_parameters_say_what_flags_say():
    table = wide()
    known = pb.Flows(
        cells(),
        population=100,
        features={"stay": 0.5, "distance": None},
        rate=dict.fromkeys(NAMES, 1.0),
        start={"a": 1, "b": 0, "c": 0, "d": 0},
        errors=False,
        solver="dual",
        time_limit=30.0,
        memory_limit=10**9,
        threshold=1.0,
    ).fit({**table, "a": [100, *COUNTS[1:, 0]], "b": [0, *COUNTS[1:, 1]], "c": [0, *COUNTS[1:, 2]], "d": [0, *COUNTS[1:, 3]]})
    weights = {own["name"]: own["standard_error"] for own in known.learned["weights"]}
    assert weights["stay"] is None and weights["distance"] is not None
    assert "standard_error" not in known.flows and known.flows["count"].min() > 1.0
    assert known.counts["count"][0] == pytest.approx(100)
    free = pb.Flows(cells(), population=100, covariates={"cell": NAMES, "height": [1, 2, 3, 4]}, fit="counts")
    assert "height" in {own["name"] for own in free.fit(table).learned["weights"]}


def test_there_is_a_parameter_for_every_flag():
    flags = {name.replace("-", "_") for name in InferredFlows.flags()}
    elsewhere = {"out", "quiet", "format", "sample", "from", "at", "parquet"}  # methods, or of files
    parameters = set(inspect.signature(pb.Flows.__init__).parameters) - {"self", "n_jobs"}
    assert parameters == flags - elsewhere


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"population": -3}, "population: found -3, expected a number from 1e-6 to 1e15"),
        ({"population": float("nan")}, "population: found NaN"),
        ({"population": 100, "noise": "normal"}, "invalid value 'normal' for 'noise"),
        ({"population": 100, "variance": 2.0}, "variance needs noise gaussian"),
        ({"population": 100, "time_limit": -1}, "time_limit"),
        ({"population": 100, "seed": 1}, "seed needs sample or bootstrap"),
        ({"population": 100, "start": "nowhere"}, "start: found \"nowhere\""),
        ({"population": 100, "features": {"height": 1.0}}, "features: found the feature \"height\""),
        ({}, "the following required arguments were not provided: population"),
    ],
)
def test_mistakes_are_told_in_the_words_of_python(parameters, message):
    with pytest.raises(ValueError, match="(?s)^" + message.replace("(", "\\(")) as raised:
        pb.Flows(cells(), **parameters).fit(wide())
    assert "--" not in str(raised.value) and "\n" not in str(raised.value)


def test_mistakes_in_tables_name_the_table():
    with pytest.raises(ValueError, match="^counts.csv:2, column b: found \"-1\""):
        pb.Flows(cells(), population=100).fit({**wide(), "b": [5, -1, 30, 29]})
    with pytest.raises(ValueError, match="counts: found an array of shape \\(4, 3\\), expected"):
        pb.Flows(cells(), population=100).fit(COUNTS[:, :3])
    with pytest.raises(ValueError, match="cells: found an array of shape"):
        pb.Flows(np.zeros((4, 3)), population=100).fit(COUNTS)
    with pytest.raises(ValueError, match="different lengths"):
        pb.Flows({"cell": NAMES, "x": [0], "y": [0]}, population=100).fit(wide())
    with pytest.raises(TypeError, match="expected a data frame"):
        pb.Flows(7, population=100).fit(wide())
    with pytest.raises(FileNotFoundError):
        pb.Flows("nowhere.csv", population=100).fit(wide())
    with pytest.raises(TypeError, match="shares"):
        pb.Flows(cells(), population=100, shares="yes").fit(wide())
    with pytest.raises(TypeError, match="unexpected keyword"):
        pb.Flows(cells(), people=100)
    with pytest.raises(ValueError, match="call fit"):
        pb.Flows(cells(), population=100).flows


def test_what_is_odd_is_a_warning():
    with pytest.warns(UserWarning) as odd:
        pb.Flows(cells(), population=50).fit(wide())
    assert "counts.csv: counts sum to more than a population of 50" in str(odd[0].message)
    assert "check population, rate, reach and noise" in str(odd[1].message)


def test_missing_counts_are_not_observed():
    counts = COUNTS.copy()
    counts[2, 1] = np.nan
    found = pb.Flows(cells(), population=100).fit(counts)
    assert np.isnan(found.counts["observed"]).sum() == 1
    assert found.summary["observed"] == 15
