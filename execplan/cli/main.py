"""Entry point: runs `lint [PATH…]`, `prime`, the Git merge driver and the guard without importing click."""

from __future__ import annotations

import gc
import os
import sys

from execplan.core.errors import INTERRUPTED


def run() -> int:
    """Run the process; commands that ran without click exit at once, because they leave nothing to clean up."""
    try:
        status = main()
    except KeyboardInterrupt:  # while the error handler was imported
        print("execplan: interrupted", file=sys.stderr)
        return INTERRUPTED
    if "click" not in sys.modules or sys.argv[1:2] == ["guard"]:
        sys.stderr.flush()  # standard output was flushed with the answer
        os._exit(status)
    return status


def main() -> int:
    """Run the command of `sys.argv` and return its exit status, as listed in errors.py."""
    gc.disable()  # the process ends before a collection pays off; reference counting frees the rest
    arguments = sys.argv[1:]
    if sys.platform == "win32":
        from execplan.core.files.windows_process import prepare_process

        prepare_process()
    if arguments[:1] == ["guard"] and arguments[1:] not in (["-h"], ["--help"]):
        from execplan.agents.guard.guard_entry import guard

        return guard(arguments[1:])
    from execplan.cli.error_handler import run_with_error_handling

    hook = arguments[1:2] == ["--hook"]
    paths = arguments[2 if hook else 1 :]
    if arguments[:1] == ["lint"] and not any([path.startswith("-") for path in paths]):
        status = run_with_error_handling(lambda: _lint(paths, hook=hook), as_json=False, kind="lint")
        if status >= 0:
            return status
    if arguments[:1] == ["prime"]:
        status = run_with_error_handling(lambda: _prime(arguments[1:]), as_json=False, kind="prime")
        if status >= 0:
            return status
    if arguments[:2] == ["next", "--hook"] and arguments[2:] in (["claude"], ["codex"]):
        from execplan.agents.stop_gate.stop_entry import stop_gate

        return stop_gate(arguments[2:])
    if arguments[:2] == ["merge", "--driver"]:
        return run_with_error_handling(lambda: _merge(arguments[2:]), as_json=False, kind="merge")
    from execplan.cli.commands import COMMANDS

    as_json = "--json" in arguments or "--jsonl" in arguments
    kind = next((argument for argument in arguments if argument in COMMANDS), "execplan")
    return run_with_error_handling(lambda: _run_command_line(arguments), as_json=as_json, kind=kind)


# Imports take time, in which Ctrl-C must not end in a traceback, so the error handler is around them.


def _lint(paths: list[str], *, hook: bool) -> int:
    from execplan.cli.output.lint_report import lint_fast

    return lint_fast(paths, hook=hook)


def _prime(arguments: list[str]) -> int:
    from execplan.cli.output.prime_output import prime_fast

    return prime_fast(arguments)


def _merge(arguments: list[str]) -> int:
    from execplan.core.git_merge.git_merge_driver import run_merge_driver

    return run_merge_driver(arguments)


def _run_command_line(arguments: list[str]) -> int:
    from execplan.cli.click_import import import_click

    import_click()
    from execplan.cli.app import run
    from execplan.cli.error_handler import stop_on_sigterm

    stop_on_sigterm()
    return run(arguments)
