"""`python -m pybethe` is the command line."""

import json
import subprocess
import sys


def run(*arguments, given=""):
    command = [sys.executable, "-m", "pybethe", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=120)


def test_references_and_problems_go_through_it(tmp_path):
    line = "Turing, A. M. 1950. Computing machinery and intelligence. Mind 59(236): 433–460."
    entry = run("cite", "-", given=line)
    assert entry.returncode == 0 and entry.stdout.startswith("@article{turing1950computing")
    problem = tmp_path / "problem.json"
    problem.write_text('{"variables": [2], "factors": [{"scope": [0], "log_potentials": [0, 1]}]}')
    answer = run("solve", problem)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["status"] == "converged"


def test_mistakes_have_the_exit_code_of_the_command(tmp_path):
    missing = run("solve", tmp_path / "nothing.json")
    assert missing.returncode == 2 and missing.stdout == "" and "nothing.json" in missing.stderr
    unknown = run("juggle")
    assert unknown.returncode == 2 and "unrecognized subcommand 'juggle'" in unknown.stderr
    told = run("--help")
    assert told.returncode == 0 and "Usage: python -m pybethe" in told.stdout
