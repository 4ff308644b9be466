"""Scripts of Codex's code mode, which call tools: only a script in which every argument can be read is accepted.

Codex asks its hooks about each command that a script runs, but shows them neither the shell nor the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from execplan.agents.guard.tool_call import NotUnderstoodError

SCRIPT_TEXT: Final = b'"custom_tool_call'
"""Text in each line of a transcript that has a script or its output."""
_ENDED: Final = ("Script completed", "Script failed")
_STRING: Final = r"""(?:'(?:[^'\\\n\r]|\\.)*'|"(?:[^"\\\n\r]|\\.)*"|(?:String\.raw)?`(?:[^`\\$]|\\.|\$(?!\{))*`)"""
_FIELD: Final = (
    rf"(?:cmd|workdir|yield_time_ms|max_output_tokens|login|justification)\s*:\s*(?:{_STRING}|\d+|true|false)"
)
_TOKEN: Final = re.compile(
    rf"(?P<command>tools\.exec_command\(\s*\{{\s*(?:{_FIELD}\s*(?:,\s*{_FIELD}\s*)*)?,?\s*\}}\s*\))"
    rf"|(?P<call>(?:tools\.\w+|text)\(\s*(?:{_STRING})?\s*\))"
    r"|(?P<comment>//[^\n\r\u2028\u2029]*)"
    r"|(?P<other>\w+|\s+|[=,;.()\[\]])"
)
"""What a script may consist of: a command whose arguments are all literals, a call with one text, comments, and the rest.

Without quotes, braces and operators, the rest can't make arguments of its own. Each token begins where the one before it
ends, so that none begins within a text or a comment.
"""
_DECLARATION: Final = re.compile(r"\b(?:const|let|var|await)\s*\[")
_INDEXED: Final = re.compile(r"[\w)\]]\s*\[(?!\s*\d+\s*\])")
"""A member whose name is computed."""
_FORBIDDEN: Final = re.compile(
    r"\b(?:tools|exec_command|eval|Function|constructor|globalThis|import|this|self|window|Reflect|Object|prototype|"
    r"__proto__|function|load|parse|call|apply|bind|setTimeout|setInterval)\b"
)


def require_plain_scripts(items: Iterable[Mapping[str, Any]]) -> None:
    """Raise NotUnderstoodError unless each script that may still run is plain, of a transcript's items from its end."""
    ended: set[str] = set()
    scripts: dict[str, str] = {}
    for item in items:
        call_id, kind = str(item.get("call_id")), item.get("type")
        if kind == "custom_tool_call_output" and _has_ended(item.get("output")):
            ended.add(call_id)
        elif kind == "custom_tool_call" and item.get("name") == "exec" and call_id not in ended:
            scripts[call_id] = str(item.get("input"))
    if not scripts:
        raise NotUnderstoodError("Codex's transcript doesn't have the script that makes the call")
    if not all([is_plain(script) for script in scripts.values()]):
        raise NotUnderstoodError(
            "the script hides how it runs commands: write each as `await tools.exec_command({cmd: '…', workdir: '…'})` with "
            "literal texts, and show its result with text(result.output), without other code"
        )


def is_plain(script: str) -> bool:
    """Check whether every command of a script is visible in it, with a usual shell and no terminal."""
    rest, at = "", 0
    while at < len(script):
        token = _TOKEN.match(script, at)
        if token is None:
            return False
        if token.lastgroup == "other":
            rest += token[0]
        else:
            rest += "\n" if token.lastgroup == "comment" else " result "
        at = token.end()
    rest = _DECLARATION.sub("([", rest)
    return not _INDEXED.search(rest) and not _FORBIDDEN.search(rest)


def _has_ended(output: object) -> bool:
    parts = output if isinstance(output, list) else [output]
    if parts and isinstance(parts[0], dict):
        text = parts[0].get("text")
    elif parts:
        text = parts[0]
    else:
        text = ""
    return str(text).startswith(_ENDED)
