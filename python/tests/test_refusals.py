"""What has no effect, no meaning or the wrong shape is refused with one line."""

import pickle

import numpy as np
import pytest

import pybethe as pb
from pybethe import layers, rules

X = [["ann", "of", "elm"], ["bob", "of", "oak"]] * 5
Y = [["B-name", "O", "B-street"]] * 10
DICTS = [[{"word": token} for token in own] for own in X]
SCORES = [np.zeros((3, 3))] * 10


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        ({"constraints": "none", "learner": "surrogate"}, X, "learner needs rules: not with constraints none"),
        ({"constraints": "none", "joint": True}, X, "joint needs rules"),
        ({"batch": 4}, X, "batch needs learner surrogate"),
        ({"constraints": "none", "importance": 0.1}, X, "importance needs generated rules"),
        ({"rate": 0.1}, X, "rate needs optimiser adagrad"),
        ({"optimiser": "adagrad", "l1": 0.1}, X, "l1 needs optimiser lbfgs"),
        ({"joint": True, "l1": 0.1}, X, "l1 has no effect with joint"),
        ({"scheme": "plain", "share_weights": True}, X, "share_weights has no effect with scheme plain"),
        ({"template": "U00:%x[0,0]"}, DICTS, "template has no effect with format attributes"),
        ({"labels": ["O", "B-name", "B-street"], "min_count": 2}, SCORES, "min_count has no effect with scores"),
        ({"labels": ["O", "B-name"]}, X, "labels name the columns of scores, but X has tokens"),
        ({"scheme": "bmes"}, X, "invalid value 'bmes' for 'scheme"),
        ({"l2": -1.0}, X, "l2: found -1, expected a number of at least 0"),
        ({"l2": float("nan")}, X, "l2: found NaN"),
        ({"folds": 1}, X, "folds: found 1, expected at least 2"),
        ({"max_iterations": 2.5}, X, "invalid value '2.5' for 'max_iterations"),
        ({"template": "%x[0"}, X, "template: line 1: found \"%x[0\""),
    ],
)
def test_parameters_of_training_are_checked_as_flags_are(parameters, given, message):
    with pytest.raises(ValueError) as raised:
        pb.Tagger(**parameters).fit(given, Y)
    assert str(raised.value).startswith(message) and "\n" not in str(raised.value)


def test_every_default_can_be_fitted():
    tagger = pb.Tagger(constraints="none").fit(X, Y)
    assert tagger.predict(X[:1]) == [Y[0]]
    assert pb.Tagger(optimiser="adagrad", rate=0.5, constraints="none", seed=3).fit(X, Y).score(X, Y) == 1.0
    text = "U00:%x[0,0]\nU01:%x[-1,0]\n"
    assert pb.Tagger(constraints="none", template=text).fit(X, Y).score(X, Y) == 1.0


def test_unknown_keywords_are_named():
    with pytest.raises(TypeError, match="tolerence.*expected one of solver, tolerance"):
        pb.Problem([2]).solve(tolerence=1e-3)
    with pytest.raises(TypeError, match="constraint"):
        pb.Tagger(constraint="none")
    with pytest.raises(ValueError, match="found parameter 'l3'"):
        pb.Tagger().set_params(l3=1.0)
    with pytest.raises(TypeError, match="weights"):
        pb.Problem([2]).measure({0: [0, 1]}, weights=2.0)


def test_wrong_shapes_are_told_with_what_was_expected():
    problem = pb.Problem([2, 3])
    with pytest.raises(ValueError, match=r"shape \[3, 2\] over variables \[0, 1\], expected \[2, 3\]"):
        problem.factor([0, 1], np.zeros((3, 2)))
    with pytest.raises(ValueError, match="expected \\[2\\]"):
        problem.measure({0: [0, 1, 2]})
    with pytest.raises(IndexError, match="found variable 2, expected 0 to 1"):
        problem.factor([2], [0.0, 1.0])
    with pytest.raises(TypeError, match="not an array of numbers .*could not convert string to float"):
        problem.factor([0], ["a", "b"])
    with pytest.raises(TypeError, match="not an array of numbers .*inhomogeneous"):
        problem.factor([0, 1], [[1.0, 2.0], [3.0]])
    with pytest.raises(TypeError, match="expected {scope: coefficients}"):
        problem.measure([0, 1])
    with pytest.raises(ValueError, match="found -1 as the states of variable 1"):
        pb.Problem([2, -1])
    with pytest.raises(TypeError, match="found 'a' as the states of variable 0"):
        pb.Problem("abc")
    scores = np.zeros((2, 4, 3))
    with pytest.raises(ValueError, match="labels of shape"):
        layers.fenchel_young_loss(scores, np.zeros((2, 3), int))
    with pytest.raises(ValueError, match="found transitions of shape"):
        layers.project(scores, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="mask of shape"):
        layers.project(scores, mask=np.ones((2, 3), bool))
    with pytest.raises(ValueError, match="2 axes"):
        layers.project(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="rule 0: found 2 coefficients, expected 3"):
        layers.project(scores, None, [layers.CountRule([0, 1])])


def test_nan_is_refused_everywhere():
    nan = float("nan")
    problem = pb.Problem([2])
    with pytest.raises(ValueError, match="NaN"):
        problem.factor([0], [nan, 0.0])
    for given in ({"weight": nan}, {"offset": nan}, {"penalty": "huber", "delta": nan}):
        with pytest.raises(ValueError, match="(?i)nan"):
            problem.measure({0: [0, 1]}, **given)
    with pytest.raises(ValueError, match="(?i)nan"):
        problem.measure({0: [nan, 1]})
    with pytest.raises(ValueError, match="(?i)nan"):
        problem.solve(tolerance=nan)
    scores = np.zeros((2, 4, 3))
    scores[1, 2, 0] = nan
    with pytest.raises(ValueError, match="^sequence 1: .*NaN"):
        layers.project(scores)
    with pytest.raises(ValueError, match="(?i)nan"):
        layers.project(np.zeros((2, 4, 3)), None, [layers.CountRule([0, 1, nan])])
    with pytest.raises(ValueError, match="(?i)nan"):
        pb.Tagger(constraints="none", labels=["O", "B-name", "B-street"]).fit(
            [np.full((3, 3), nan)] * 10, Y
        )


def test_problems_and_taggers_go_to_other_processes():
    problem = pb.Problem({"a": 2, "b": ["x", "y"]})
    problem.factor(["a", "b"], [[0.0, 1.0], [2.0, -np.inf]])
    problem.measure({"a": [0, 1]}, penalty="huber", delta=0.5, weight=3.0, offset=-0.2)
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.solve().marginals["a"], problem.solve().marginals["a"])
    tagger = pb.Tagger(constraints="none").fit(X, Y)
    assert pickle.loads(pickle.dumps(tagger)).predict(X) == tagger.predict(X)
    problem.energy(["a"], lambda tables: (0.0, [np.zeros(2)]))
    with pytest.raises(ValueError, match="is a closure, which a file cannot hold"):
        pickle.dumps(problem)


def test_files_that_are_not_there_are_named(tmp_path):
    missing = str(tmp_path / "none")
    for read in (pb.Problem.from_uai, pb.Tagger.load, lambda path: pb.cite(["a"], model=path)):
        with pytest.raises(FileNotFoundError, match="none") as raised:
            read(missing)
        assert raised.value.filename == missing
    with pytest.raises(FileNotFoundError, match="found 'atuo', expected 'auto'"):
        pb.Tagger(constraints="atuo").fit([["a"]], [["O"]])


def test_sequences_that_are_none_say_what_is_expected():
    tagger = pb.Tagger(constraints="none")
    with pytest.raises(TypeError, match="found y = None, expected a list of lists of labels"):
        tagger.fit(X, None)
    with pytest.raises(TypeError, match="found X = 3, expected a list of lists of tokens"):
        tagger.fit(3, Y)
    with pytest.raises(ValueError, match=r"columns of X\[0\]\[1\]: found 1, expected 2"):
        tagger.fit([[("a", "b"), ("c",)]], [["O", "O"]])
    with pytest.raises(TypeError, match=r"X\[0\] with rows and columns that are not numbers"):
        tagger.fit([np.array([["a", "b"]])], [["O"]])
    with pytest.raises(TypeError, match=r"lines\[1\]: found 3, expected a text"):
        pb.cite(["a", 3])
    with pytest.raises(TypeError, match="lines: found NoneType, expected a text or a list of texts"):
        pb.cite(None)


def test_rules_are_checked_when_they_are_stated():
    with pytest.raises(ValueError, match="found a count of -1"):
        rules.at_most(-1, "name")
    with pytest.raises(ValueError, match="weight: found 'hrd', expected a number, 'hard', or None"):
        rules.exactly(1, "name", weight="hrd")
    with pytest.raises(TypeError, match="found 3, expected rules of pybethe.rules"):
        pb.Tagger(constraints=[3]).fit(X, Y)
    with pytest.raises(TypeError, match="stddev: found list, expected a number, or a mapping"):
        pb.estimate({"a": 2}, {"a": [1.0, 2.0]}, stddev=[1.0])


def test_labels_of_a_loss_are_whole_numbers_but_in_padding():
    scores, mask = np.zeros((2, 3, 5)), np.array([[1, 1, 0], [1, 1, 1]], bool)
    labels = np.array([[0, 1, -100], [0, 0, 0]])
    losses, _ = layers.fenchel_young_loss(scores, labels, None, (), mask)
    np.testing.assert_allclose(losses, np.log(5) * np.array([2, 3]))
    with pytest.raises(ValueError, match="sequence 0: found label -100, expected 0 to 4; the mask"):
        layers.fenchel_young_loss(scores, labels)
    with pytest.raises(TypeError, match="found labels of type float64"):
        layers.fenchel_young_loss(scores, labels.astype(float), None, (), mask)
