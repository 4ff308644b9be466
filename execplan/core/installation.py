"""How this execplan was installed: what kind of installation it is, and the commands that change it."""

from __future__ import annotations

import os
import sys

from execplan.core.named_tuple import NamedTuple

CHECKOUT = "checkout"
PIPX = "pipx"
UV_TOOL = "uv tool"
UVX = "uvx"
ENVIRONMENT = "virtual environment"
SYSTEM = "system Python"

EXTRAS = {
    "charts": "plotext",
    "dask": "distributed",
    "lsp": "pygls",
    "mcp": "mcp",
    "otel": "opentelemetry",
    "tokens": "bpe_openai",
    "tools": "pydantic",
    "tui": "textual",
    "web": "starlette",
}
"""A package of each extra, whose presence shows that the extra is installed."""


class Installation(NamedTuple):
    """An installation of execplan."""

    kind: str
    directory: str
    """The checkout, or the prefix of the Python that has the package."""
    source: str = ""
    """What was installed if not a release: a directory, or an address of a repository."""
    extras: tuple[str, ...] = ()
    """Extras that the installer has recorded, which another installation must name again."""

    def command_for(self, extra: str) -> str:
        """Return the command that adds an extra."""
        extras = ",".join(sorted({*self.extras, extra}))
        if self.kind == CHECKOUT:
            return f"{_pip()} install -e {_quote(f'{self.directory}[{extras}]')}"
        requirement = f"execplan[{extras}]"
        if self.source:
            is_directory = os.path.isabs(self.source)
            requirement = f"{self.source}[{extras}]" if is_directory else f"{requirement} @ {self.source}"
        commands = {PIPX: "pipx install --force", UV_TOOL: "uv tool install --force", UVX: "uvx --from"}
        command = commands.get(self.kind) or f"{_pip()} install"
        return f"{command} {_quote(requirement)}" + (" execplan" if self.kind == UVX else "")

    @property
    def upgrade_command(self) -> str:
        """The command that upgrades execplan."""
        if self.kind == CHECKOUT:
            return f"git -C {_quote(self.directory)} pull"
        commands = {PIPX: "pipx upgrade execplan", UV_TOOL: "uv tool upgrade execplan", UVX: "uvx execplan@latest"}
        return commands.get(self.kind) or f"{_pip()} install --upgrade {_quote(self.source or 'execplan')}"

    @property
    def removal_command(self) -> str:
        """The command that removes execplan; empty if nothing is installed."""
        commands = {PIPX: "pipx uninstall execplan", UV_TOOL: "uv tool uninstall execplan", UVX: ""}
        return commands.get(self.kind, f"{_pip()} uninstall execplan")


def checkout_directory() -> str | None:
    """Return the checkout of execplan's repository that runs, or None for an installed package."""
    directory = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    is_checkout = os.path.isfile(os.path.join(directory, "scripts", "release.py"))
    return directory if is_checkout else None


def find_installation() -> Installation:
    """Return how the running execplan was installed."""
    if (checkout := checkout_directory()) is not None:
        return Installation(CHECKOUT, checkout)
    prefix, source = sys.prefix, _find_source()
    if (metadata := _read(prefix, "pipx_metadata.json")) is not None:
        return Installation(PIPX, prefix, source, _extras_in(metadata))
    if (receipt := _read(prefix, "uv-receipt.toml")) is not None:
        return Installation(UV_TOOL, prefix, source, _extras_in(receipt))
    if prefix == sys.base_prefix:
        return Installation(SYSTEM, prefix, source)
    directories = prefix.replace(os.sep, "/").split("/")
    is_cached = any([name.startswith(("archive-v", "environments-v")) for name in directories])
    return Installation(UVX if is_cached and _is_made_by_uv() else ENVIRONMENT, prefix, source)


def extra_hint(extra: str) -> str:
    """Return the hint that names the command which installs an extra."""
    return f"install it: {find_installation().command_for(extra)}"


def _pip() -> str:
    """Return the command of pip for this Python; environments of uv don't have pip."""
    from importlib.util import find_spec

    python = _quote(sys.executable)
    return (
        f"{python} -m pip" if find_spec("pip") or not _is_made_by_uv() else f"VIRTUAL_ENV={_quote(sys.prefix)} uv pip"
    )


def _is_made_by_uv() -> bool:
    return "\nuv = " in f"\n{_read(sys.prefix, 'pyvenv.cfg') or ''}"


def _find_source() -> str:
    """Return the directory or the address that was installed, as PEP 610 records it; empty for a release."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        record = json.loads(distribution("execplan").read_text("direct_url.json") or "{}")
        url = record.get("url", "")
        if "vcs_info" in record:
            return f"{record['vcs_info']['vcs']}+{url}"
        is_local = url.startswith("file:")
        return unquote(urlsplit(url).path) if is_local and "dir_info" in record else ""
    except (PackageNotFoundError, ValueError, AttributeError, KeyError, OSError):
        return ""


def _extras_in(record: str) -> tuple[str, ...]:
    """Return the extras in the record of pipx or uv; both name the requirement as it was typed or parsed."""
    import re

    typed = re.search(r'"package_or_url":\s*"[^"\[]*\[([\w, -]+)\]', record)
    parsed = re.search(r'name = "execplan",[^}]*extras = \[([^\]]*)\]', record)
    match = typed or parsed
    return tuple(re.findall(r"[\w-]+", match[1])) if match else ()


def _read(directory: str, name: str) -> str | None:
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def _quote(text: str) -> str:
    import shlex

    return shlex.quote(text)
