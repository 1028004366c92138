"""Rules about whole sequences, for `Tagger(constraints=[…])`.

    Tagger(constraints=[at_most(1, "title"), before("author", "title"), exactly(1, "year", weight="hard")])

Weights are learned unless they are given; `weight="hard"` holds on every output.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

__all__ = ["Rule", "at_least", "at_most", "before", "equal", "exactly", "if_then", "to_toml"]


#: One kind of segment, several together, or a weighted sum of kinds.
Kinds = Union[str, Sequence[str], Mapping[str, int]]


@dataclass(frozen=True)
class Rule:
    """One rule, with the fields that a file of rules has."""

    fields: dict[str, Any] = field(hash=False)

    def __repr__(self) -> str:
        return f"Rule({', '.join(f'{key}={value!r}' for key, value in self.fields.items())})"


def _rule(weight: float | str | None, **fields: Any) -> Rule:
    count = next(iter(fields.values()))
    if isinstance(count, int) and count < 0:
        raise ValueError(f"found a count of {count}, expected 0 or more")
    if isinstance(weight, str) and weight != "hard":
        raise ValueError(f"weight: found {weight!r}, expected a number, 'hard', or None to learn it")
    if weight is not None:
        fields["weight"] = weight
    return Rule(fields)


def _of(kinds: Kinds) -> Any:
    if isinstance(kinds, (str, Mapping)):
        return kinds
    return list(kinds)


def at_most(count: int, kind: Kinds, *, weight: float | str | None = None) -> Rule:
    """At most `count` segments of a kind, or of several kinds together."""
    return _rule(weight, at_most=count, of=_of(kind))


def at_least(count: int, kind: Kinds, *, weight: float | str | None = None) -> Rule:
    """At least `count` segments of a kind, or of several kinds together."""
    return _rule(weight, at_least=count, of=_of(kind))


def exactly(count: int, kind: Kinds, *, weight: float | str | None = None) -> Rule:
    """Exactly `count` segments of a kind, or of several kinds together."""
    return _rule(weight, exactly=count, of=_of(kind))


def equal(first: str, second: str, *, weight: float | str | None = None) -> Rule:
    """As many segments of one kind as of another."""
    return _rule(weight, equal=[first, second])


def if_then(first: str, second: str, *, weight: float | str | None = None) -> Rule:
    """Where the first kind occurs, so does the second."""
    return _rule(weight, **{"if": first, "then": second})


def before(first: str, second: str, *, weight: float | str | None = None) -> Rule:
    """Every segment of the first kind begins before any of the second."""
    return _rule(weight, before=[first, second])


def to_toml(rules: Iterable[Rule]) -> str:
    """The rules as a file that `bethe train --constraints` reads."""

    def shown(value: Any) -> str:
        if isinstance(value, Mapping):
            pairs = (f"{shown(key)} = {shown(own)}" for key, own in value.items())
            return f"{{ {', '.join(pairs)} }}"
        # What JSON writes for texts, numbers and lists of texts is TOML too.
        return json.dumps(value, ensure_ascii=False)

    def line(key: str, value: Any) -> str:
        return f"{key} = {shown(value)}"

    def block(rule: Rule) -> str:
        if not isinstance(rule, Rule):
            raise TypeError(f"constraints: found {rule!r}, expected rules of pybethe.rules")
        return "\n".join(["[[rule]]", *(line(*item) for item in rule.fields.items())])

    return "\n\n".join(map(block, rules)) + "\n"
