"""The `execplan lsp` command."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.core import features
from execplan.core.errors import ExecplanError, usage_error


@define_command(
    reads="messages of the editor on standard input; the plans around the documents that are open in it.",
    writes="answers on standard output; plans and claims, as the commands do that you choose in the editor; "
    "the help of rules in your cache directory, so that findings can link to it.",
    examples=("execplan lsp",),
)
def lsp(call: Call) -> Answer:
    """Serve plans to an editor by the Language Server Protocol.

    Editors start it themselves, and stop it by closing its input. It reports the findings of `lint` while you type,
    fixes them, completes, and finds what a plan names. An edit that the editor has not saved is never overwritten.
    """
    if find_spec("pygls") is None:
        hint = features.load(features.EXTRA_HINT)("lsp")
        raise ExecplanError("no-lsp", "the language server is not installed", hint=hint)
    if sys.stdin.isatty():
        raise usage_error("lsp reads messages of an editor, not a terminal", "let your editor start execplan lsp")
    import gc
    import signal

    from execplan.views.language_server.server_features import serve

    gc.enable()  # unlike other commands, this one runs for hours
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # a thread waits for input, and would keep Ctrl-C from ending the process
    serve()
    return Answer({}, "", is_requested=False)
