"""The import of click with stand-ins for modules: every help and error is as with the real ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVERY_HELP = """
from execplan.cli.app import group
from execplan.cli.commands import COMMANDS
import click
ctx = click.Context(group, info_name="execplan")
print(group.get_help(ctx))
for name in COMMANDS:
    command = group.get_command(ctx, name)
    print(command.get_help(click.Context(command, info_name=name, parent=ctx)))
for arguments in (["status", "--limit", "0"], ["status", "--state", "x"], ["list", "a", "b"], ["list", "--al"], ["add", "-z"]):
    try:
        group.main(arguments, prog_name="execplan", standalone_mode=False)
    except click.UsageError as error:
        print(error.format_message())
"""


def output_of(code: str) -> str:
    """What a new process prints."""
    run = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"]
    return subprocess.run(run, capture_output=True, check=True, text=True).stdout


def test_every_help_is_the_same() -> None:
    with_stand_ins = output_of(f"from execplan.cli.click_import import import_click; import_click()\n{EVERY_HELP}")
    assert with_stand_ins.count("Usage:") > 50
    assert with_stand_ins == output_of(f"import click, gettext, inspect, uuid\n{EVERY_HELP}")


def test_other_modules_get_the_real_ones() -> None:
    code = """
from execplan.cli.click_import import import_click
import_click()
assert not {"gettext", "inspect", "uuid"} & set(sys.modules)
import click, gettext, inspect, uuid
print(click.core.inspect is inspect, uuid.uuid4().version, inspect.signature(import_click), gettext.textdomain())
print(click.core.inspect.isfunction(import_click), click.core.inspect.cleandoc("  a\\n    b"))
"""
    assert output_of(code) == "False 4 () -> 'None' messages\nTrue a\nb\n"


def test_a_module_that_is_loaded_before_stays() -> None:
    code = """
import inspect
from execplan.cli.click_import import import_click
import_click()
import click
print(click.core.inspect is inspect is sys.modules["inspect"])
"""
    assert output_of(code) == "True\n"
