"""References become entries without a model at hand."""

import pytest

import pybethe as pb

KNUTH = "Knuth, D. E. (1997). The art of computer programming (3rd ed.). Addison-Wesley."
TURING = "Turing, A. M. 1950. Computing machinery and intelligence. Mind 59(236): 433–460."


def test_references_become_entries():
    first, second = pb.cite([KNUTH, TURING], format="csl-json")
    assert first["author"][0]["family"] == "Knuth"
    assert second["container-title"] == "Mind" and second["volume"] == "59"
    assert second["page"].startswith("433")
    record = pb.cite(KNUTH, format="json")[0]
    assert 0 < record["confidence"] <= 1 and record["key"] == first["id"]


def test_texts_are_bibtex_and_ris():
    text = pb.cite(f"{KNUTH}\n\n{TURING}\n{TURING}")
    assert text.count("@") == 3 and "volume = {59}" in text
    keys = [line.split("{")[1] for line in text.splitlines() if line.startswith("@")]
    assert len(set(keys)) == 3
    assert pb.cite([TURING], "ris").startswith("TY  - JOUR")
    assert pb.cite([]) == "" and pb.cite([], "json") == []


def test_what_cannot_be_read_is_told():
    with pytest.warns(UserWarning, match="several references"):
        pb.cite([f"{KNUTH} {TURING} {KNUTH} {TURING}"])
    with pytest.raises(ValueError, match="csl-json"):
        pb.cite([KNUTH], "word")
    with pytest.raises(FileNotFoundError):
        pb.cite([KNUTH], model="none.safetensors")
