"""Virtual environments with the libraries to compare with, and which versions they hold."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# What pip installs, by environment. Each has its own, so that one that fails fails alone.
PACKAGES = {
    "crfsuite": ["python-crfsuite"],
    "mbi": ["mbi"],
    "pgmpy": ["pgmpy"],
    "pyagrum": ["pyagrum"],
    "birdflow": ["jax", "optax"],
    "pybethe": [str(ROOT / "python"), "sklearn-crfsuite", "mbi"],
}


class Missing(Exception):
    """Something to compare with is not there, and why."""


class NoData(Exception):
    """A data set is not there."""


class Environments:
    """Virtual environments in one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.ready = {}

    def interpreter(self, name):
        """The Python of an environment, which is made the first time it is asked for."""
        if name not in self.ready:
            self.ready[name] = self.prepare(name)
        return self.ready[name]

    def prepare(self, name):
        python = self.folder / name / "bin" / "python"
        say(f"environment {name}: {', '.join(PACKAGES[name])}")
        try:
            if not python.exists():
                run([sys.executable, "-m", "venv", str(self.folder / name)])
            install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES[name]]
            # Where .ci/python builds the package too.
            run(install, CARGO_TARGET_DIR=str(target().resolve() / "python"))
        except Missing as error:
            raise Missing(f"could not be installed: {error}") from None
        return str(python)

    def versions(self, name, packages):
        """`package version` of each, and the interpreter's."""
        python = self.interpreter(name)
        found = json.loads(run([python, "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"]))
        known = {own["name"].lower().replace("_", "-"): own["version"] for own in found}
        own = [f"{package} {known[package]}" for package in packages]
        return [*own, run([python, "--version"]).strip()]


def crate_version(name):
    """Of a Rust library, as the lock file has it."""
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    before, found, after = lock.partition(f'name = "{name}"\nversion = "')
    if not found:
        raise Missing(f"the crate {name} is not in Cargo.lock")
    return f"{name} {after.split(chr(34), 1)[0]}"


def target():
    """Where cargo builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def run(command, **variables):
    """What a program prints; what it says of its progress is shown as it comes."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        variables = {**os.environ, **variables}
        child = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=printed, stderr=subprocess.PIPE, text=True)
        said = []
        for line in child.stderr:
            said.append(line.strip())
            say(f"    {line.rstrip()}")
        if child.wait() != 0:
            last = [line for line in said if line] or [f"ended with {child.returncode}"]
            raise Missing(f"{Path(command[0]).name}: {last[-1][:200]}")
        printed.seek(0)
        return printed.read()


def say(text):
    print(text, file=sys.stderr, flush=True)
