"""A tagger of sequences under rules, as an estimator in the manner of scikit-learn."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ._engine import TrainedTagger
from ._tables import scratch
from ._types import Array, jobs
from .rules import Rule, to_toml

__all__ = ["Tagger"]


class Tagger:
    """A conditional random field with rules about whole sequences on top.

    `X` is a list of sequences. A sequence is a list of tokens: texts, tuples of columns, or dicts of
    attributes as sklearn-crfsuite has them; or an array of scores, `[tokens, labels]`, with `labels`
    naming its columns. `y` is a list of lists of labels.

    Parameters have the names of the flags of `bethe train`:

    constraints: "auto" generates rules from the labels and keeps them if they help; "none"; the path of a
        file of rules; or a list of rules (`pybethe.rules`)
    template: text of a template, for texts and columns
    scheme: auto, bio, io, iobes, bilou or plain
    learner: fenchel-young (the default), surrogate, surrogate-batch or perceptron
    penalty: hinge or smoothed-hinge
    decoding: tilted, weighed or soft-dd; by default chosen by cross-validation
    rule_penalty: L1 penalty on weights of rules; by default chosen by cross-validation
    optimiser: lbfgs or adagrad
    l1, l2, max_iterations, rate, min_count, pool, share_weights, transitions: of the base model
    weight_features, importance, least_violations, folds, batch, joint: of the rules
    seed: of everything random
    labels: names of the columns of scores
    n_jobs: threads; -1 for all cores
    verbose: whether to say what training does, on standard error

    `None` takes the default. `fit` refuses a parameter that would have no effect beside the others.
    """

    n_jobs: int | None

    def __init__(
        self,
        constraints: str | PathLike[str] | Sequence[Rule] = "auto",
        *,
        template: str | None = None,
        scheme: str = "auto",
        learner: str | None = None,
        penalty: str | None = None,
        decoding: str | None = None,
        rule_penalty: float | None = None,
        weight_features: str | None = None,
        importance: float | None = None,
        least_violations: int | None = None,
        folds: int | None = None,
        batch: int | None = None,
        joint: bool = False,
        optimiser: str = "lbfgs",
        l1: float | None = None,
        l2: float = 1.0,
        max_iterations: int = 200,
        rate: float | None = None,
        pool: int | None = None,
        share_weights: bool = False,
        min_count: int | None = None,
        transitions: str = "auto",
        seed: int = 0,
        labels: Sequence[str] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        given = locals()
        for name in self._names():
            setattr(self, name, given[name])

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Tagger:
        """Changes parameters by name."""
        for name, value in params.items():
            if name not in self._names():
                raise ValueError(f"found parameter {name!r}, expected one of {self._names()}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False),
        )

    def fit(self, X: Iterable[Any], y: Iterable[Any]) -> Tagger:
        """Trains on sequences and their labels."""
        settings = self.get_params()
        labels, n_jobs = settings.pop("labels"), settings.pop("n_jobs")
        tell = _tell if settings.pop("verbose") else None
        constraints = settings.pop("constraints")
        with scratch() as folder:
            if isinstance(constraints, (str, PathLike)):
                settings["constraints"] = _named(fspath(constraints))
            else:
                file = folder / "rules.toml"
                file.write_text(to_toml(constraints), encoding="utf-8")
                settings["constraints"] = str(file)
            if settings["template"] is not None:
                file = folder / "template"
                file.write_text(settings["template"], encoding="utf-8")
                settings["template"] = str(file)
            given = {name: value for name, value in settings.items() if value is not None}
            names = None if labels is None else [str(label) for label in labels]
            self.trained_ = TrainedTagger.train(
                X, y, score_labels=names, tell=tell, n_jobs=jobs(n_jobs), settings=given
            )
        return self

    @property
    def _trained(self) -> TrainedTagger:
        trained = getattr(self, "trained_", None)
        if trained is None:
            raise ValueError("this Tagger is not trained yet: call fit, or Tagger.load")
        assert isinstance(trained, TrainedTagger)
        return trained

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trained_")

    @property
    def classes_(self) -> list[str]:
        """The labels, in the order of the columns of marginals."""
        return self._trained.labels

    @property
    def rules_(self) -> list[tuple[str, float]]:
        """The rules in words, with their weights, the heaviest first; hard ones weigh infinity."""
        return self._trained.rules

    def predict(self, X: Iterable[Any], *, rules: bool = True) -> list[list[str]]:
        """The best labels of each sequence; `rules=False` leaves the rules out."""
        return self._trained.predict(X, rules=rules, n_jobs=jobs(self.n_jobs))

    def predict_marginals(self, X: Iterable[Any], *, rules: bool = True) -> list[Array]:
        """The probability of every label at every token: one array per sequence, `[tokens, labels]`."""
        return self._trained.predict_marginals(X, rules=rules, n_jobs=jobs(self.n_jobs))

    def predict_n_best(
        self, X: Iterable[Any], n: int, *, rules: bool = True
    ) -> list[list[tuple[list[str], float]]]:
        """The `n` best label sequences of each sequence, with their log-probabilities."""
        return self._trained.predict_n_best(X, n, rules=rules, n_jobs=jobs(self.n_jobs))

    def explain(self, X: Iterable[Any]) -> list[list[str]]:
        """Which rules were active in each sequence, and what they changed."""
        return self._trained.explain(X, n_jobs=jobs(self.n_jobs))

    def evaluate(self, X: Iterable[Any], y: Iterable[Any]) -> dict[str, Any]:
        """The scores of `bethe evaluate --json`: tokens, token_accuracy, sequence_accuracy, precision,
        recall, f1, per_label. Warns of labels that the tagger does not know; if it knows none, that is a
        `ValueError`."""
        return self._trained.evaluate(y, self.predict(X))

    def score(self, X: Iterable[Any], y: Iterable[Any]) -> float:
        """F1 of segments; of all levels where labels are hierarchical."""
        report = self.evaluate(X, y)
        return float(report.get("all_f1", report["f1"]))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a model file, which `bethe tag` reads too."""
        self._trained.save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Tagger:
        """Reads a model file, of `save` or of `bethe train`."""
        tagger = cls()
        tagger.trained_ = TrainedTagger.load(path)
        return tagger

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = {
            name: value
            for name, value in self.get_params().items()
            if value is not defaults[name].default and value != defaults[name].default
        }
        return f"Tagger({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def _named(constraints: str) -> str:
    """A word for rules, or a file of them."""
    if constraints not in ("auto", "none") and not Path(constraints).is_file():
        raise FileNotFoundError(
            f"constraints: found {constraints!r}, expected 'auto', 'none', a list of rules, or the path of a file of them"
        )
    return constraints


def _tell(line: str) -> None:
    print(line, file=sys.stderr)
