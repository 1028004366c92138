"""Taggers in Python are those of the command line."""

import pickle
import random

import numpy as np
import pytest

import pybethe as pb
from pybethe.rules import at_most, before, exactly, if_then, to_toml


def made(count, seed=0):
    """Records with one name and at most one street; words in the middle are ambiguous."""
    dice = random.Random(seed)
    X, y = [], []
    for _ in range(count):
        name = dice.choice(["ann", "bob", "rose", "mark"])
        words, labels = [name], ["B-name"]
        for _ in range(dice.randrange(3)):
            words.append(dice.choice(["the", "of", "at"]))
            labels.append("O")
        words += [dice.choice(["mark", "rose", "elm", "oak"]), "street"]
        labels += ["B-street", "I-street"]
        X.append(words)
        y.append(labels)
    return X, y


@pytest.fixture(scope="module")
def trained():
    X, y = made(60)
    return pb.Tagger(constraints="auto").fit(X, y)


def test_labels_are_learned(trained):
    X, y = made(20, seed=1)
    assert trained.score(X, y) > 0.9
    assert set(trained.classes_) == {"B-name", "O", "B-street", "I-street"}
    report = trained.evaluate(X, y)
    assert report["tokens"] == sum(map(len, X))
    assert set(report["per_label"]) == {"name", "street"}


def test_marginals_add_up_and_agree_with_n_best(trained):
    X, _ = made(5, seed=2)
    for tokens, marginals in zip(X, trained.predict_marginals(X)):
        assert marginals.shape == (len(tokens), 4)
        np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-9)
    best = trained.predict_n_best(X, 3)
    assert [own[0][0] for own in best] == trained.predict(X)
    assert all(own[0][1] >= own[-1][1] for own in best)


def test_files_and_pickles_hold_the_same_tagger(trained, tmp_path):
    X, _ = made(10, seed=3)
    trained.save(tmp_path / "model.safetensors")
    for other in (pb.Tagger.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(trained))):
        assert other.predict(X) == trained.predict(X)
        assert other.rules_ == trained.rules_
    with pytest.raises(FileNotFoundError):
        pb.Tagger.load(tmp_path / "none")
    (tmp_path / "none").write_text("text")
    with pytest.raises(ValueError, match="none"):
        pb.Tagger.load(tmp_path / "none")


def test_columns_dicts_and_odd_tokens_are_read():
    X, y = made(40)
    columns = [[(word, word[0]) for word in words] for words in X]
    dicts = [[{"word": word, "bias": 1.0, "short": len(word) < 4} for word in words] for words in X]
    for given in (columns, dicts):
        tagger = pb.Tagger(constraints="none").fit(given, y)
        assert tagger.score(given, y) > 0.9
    odd = [["a\tb", "", "c\nd", " "], []]
    tagger = pb.Tagger(constraints="none").fit([*[odd[0]] * 12, []], [*[["A", "B", "C", "D"]] * 12, []])
    assert tagger.predict(odd) == [["A", "B", "C", "D"], []]
    assert tagger.predict_marginals(odd)[1].shape == (0, 4)


def test_scores_take_the_place_of_attributes():
    X, y = made(40)
    names = ["B-name", "O", "B-street", "I-street"]
    noise = np.random.default_rng(0)
    scores = [
        np.array([[3.0 * (name == label) for name in names] for label in labels])
        + noise.normal(size=(len(labels), 4))
        for labels in y
    ]
    tagger = pb.Tagger(constraints="none", labels=names).fit(scores, y)
    assert tagger.score(scores, y) > 0.9
    with pytest.raises(ValueError, match="labels="):
        pb.Tagger().fit(scores, y)
    with pytest.raises(ValueError, match="expected 4"):
        tagger.predict([np.zeros((3, 2))])
    with pytest.raises(ValueError, match="trained on scores"):
        tagger.predict(X)


def test_declared_rules_hold():
    X, y = made(60)
    rules = [exactly(1, "name", weight="hard"), at_most(1, "street"), before("name", "street")]
    tagger = pb.Tagger(constraints=rules).fit(X, y)
    words = [rule for rule, _ in tagger.rules_]
    assert "at most one name" in words and "name before street" in words
    predicted = tagger.predict([["mark", "rose", "elm", "mark"]] * 3)
    assert all(labels.count("B-name") == 1 for labels in predicted)
    assert any("name" in line for line in tagger.explain([["mark", "rose", "mark"]])[0])
    assert 'if = "a"' in to_toml([if_then("a", "b", weight=2.5)])
    with pytest.raises(ValueError, match="nothing"):
        pb.Tagger(constraints=[at_most(1, "nothing")]).fit(X, y)


@pytest.mark.parametrize(
    ("mistake", "error", "text"),
    [
        (lambda X, y: pb.Tagger().predict(X), ValueError, "not trained"),
        (lambda X, y: pb.Tagger().fit(X, y[:-1]), ValueError, "sequences"),
        (lambda X, y: pb.Tagger().fit(X, [labels[:-1] for labels in y]), ValueError, "one label per token"),
        (lambda X, y: pb.Tagger().fit(["a text"], [["A", "B"]]), TypeError, "list of tokens"),
        (lambda X, y: pb.Tagger().fit(X, ["name"] * len(X)), TypeError, "list of labels"),
        (lambda X, y: pb.Tagger(scheme="bmes").fit(X, y), ValueError, "iobes"),
        (lambda X, y: pb.Tagger(l2=-1).fit(X, y), ValueError, "l2"),
        (lambda X, y: pb.Tagger(template="U00:%w[0,0]").fit(X, y), ValueError, "template"),
        (lambda X, y: pb.Tagger().fit([], []), ValueError, "sequence"),
        (lambda X, y: pb.Tagger().set_params(l3=1), ValueError, "l3"),
        (lambda X, y: pb.Tagger("none").fit(X, y).predict([[{"a": 1}]]), ValueError, "dicts"),
        (lambda X, y: pb.Tagger("none").fit(X, y).predict([[], [("a", "b")]]), ValueError, "X[1][0]: found 2 columns"),
        (lambda X, y: pb.Tagger("none").fit(X, y).score(X[:1], [["B-x"] * len(X[0])]), ValueError, 'y[0][0]: found the label "B-x"'),
    ],
)
def test_mistakes_are_told(mistake, error, text):
    with pytest.raises(error) as caught:
        mistake(*made(12))
    assert text in str(caught.value)


def test_labels_that_the_tagger_does_not_know_give_a_warning():
    X, y = made(12)
    tagger = pb.Tagger("none").fit(X, y)
    with pytest.warns(UserWarning, match=r"1 label that the model does not know and can never predict, first B-x in y\[12\]"):
        tagger.score(X + [["mark"]], y + [["B-x"]])


def test_scikit_learn_clones_searches_and_validates():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    X, y = made(30)
    tagger = pb.Tagger(constraints="none", l2=0.5)
    assert clone(tagger).get_params() == tagger.get_params()
    assert repr(tagger) == "Tagger(constraints='none', l2=0.5)"
    assert cross_val_score(tagger, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(tagger, {"l2": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_["l2"] in (0.1, 1.0)
    assert search.predict(X) == search.best_estimator_.predict(X)
