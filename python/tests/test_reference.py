"""The reference page names every class, method and parameter."""

import inspect
import re
from pathlib import Path

import pytest

import pybethe as pb
from pybethe import layers, rules

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"


def public(owner):
    return [name for name in vars(owner) if not name.startswith("_")]


def words():
    own = ["solve_many", *pb.__all__, *rules.__all__, *layers.__all__]
    for kind in (pb.Problem, pb.Answer, pb.Map, pb.Record, pb.Picture, pb.Tagger, pb.Flows, pb.Estimate, pb.Table):
        own += public(kind)
    for function in (pb.Tagger, pb.Flows, pb.estimate, pb.cite, layers.project, layers.fenchel_young_loss):
        own += [name for name in inspect.signature(function).parameters if name != "self"]
    return own


@pytest.mark.skipif(not PAGE.exists(), reason="there is no page beside the tests")
def test_the_page_names_everything():
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"\w+", text))
    missing = [word for word in words() if word not in named]
    assert missing == []
