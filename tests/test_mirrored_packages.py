"""The directories of tests mirror the packages, so that `make quick PACKAGE=…` finds the tests of each."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PACKAGES = TESTS.parent / "execplan"
CROSS_CUTTING = frozenset({"bad_inputs", "browser", "clients", "crash", "fuzz", "state_machine", "transcripts"})
"""Directories of tests that go through several packages."""
DATA = frozenset({"app", "cases"})
"""Directories of inputs: an application to copy, and plans with commands."""
DIRECTORIES = sorted(
    path.parent.relative_to(TESTS).as_posix()
    for path in TESTS.rglob("__init__.py")
    if path.parent != TESTS and not DATA & set(path.relative_to(TESTS).parts)
)


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_each_directory_mirrors_a_package(directory: str) -> None:
    assert directory in CROSS_CUTTING or (PACKAGES / directory / "__init__.py").is_file()


def test_each_cross_cutting_directory_exists() -> None:
    assert set(DIRECTORIES) >= CROSS_CUTTING


def test_a_test_with_the_name_of_a_module_is_in_its_directory() -> None:
    modules = {path.stem for path in PACKAGES.rglob("*.py")}
    for path in TESTS.rglob("test_*.py"):
        directory = path.parent.relative_to(TESTS)
        name = path.stem.removeprefix("test_")
        if name in modules and not {*CROSS_CUTTING, *DATA} & set(directory.parts):
            assert (PACKAGES / directory / f"{name}.py").is_file() or (PACKAGES / directory / name).is_dir(), path
