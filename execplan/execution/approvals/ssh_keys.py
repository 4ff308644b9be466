"""SSH signatures of approvals, as git has them: made and verified by `ssh-keygen -Y`."""

from __future__ import annotations

import os
import subprocess
import tempfile
from base64 import b64decode
from binascii import Error as Base64Error
from shlex import quote
from typing import Final

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.core.text.text_lines import sha256_constructor
from execplan.execution.approvals.installed_programs import find_installed_program

NAMESPACE: Final = "execplan-approval"
_PROGRAM: Final = "ssh-keygen"
_SIGN_SECONDS: Final = 120
"""Time for a person to type a passphrase, or to touch a security key."""
_VERIFY_SECONDS: Final = 10
_MAX_BYTES: Final = 1 << 16
_FINGERPRINT = lazy_pattern(r"SHA256:([A-Za-z0-9+/]{43})")


class SshKey(NamedTuple):
    """A key that signs."""

    path: str
    """The file for ssh-keygen; empty for a key that only an SSH agent has."""
    public: str
    """The public key: its type and its text in base64."""
    id: str
    """Identifier in an approval."""


class Verification(NamedTuple):
    """The result of a verification."""

    problem: str = ""
    """Why the signature does not count; empty if it does."""
    is_intact: bool = True
    """Whether the signature is one of these bytes, whoever made it."""
    key: str = ""
    """Identifier of the key."""


def key_id(fingerprint: bytes) -> str:
    """Return the identifier of a key in an approval, from the SHA-256 of its public part."""
    return fingerprint.hex()[:16]


def find_signing_key(project: Project) -> SshKey:
    """Return the key with which git signs, from `user.signingkey`. Raises ExecplanError."""
    value = get_git_setting(project, "user.signingkey")
    if not value:
        raise _no_key_error("git has no SSH key to sign with: user.signingkey is not set")
    literal = value.removeprefix("key::")
    if literal != value or value.startswith(("ssh-", "ecdsa-", "sk-")):
        return _parse_public_key("", literal, "user.signingkey")
    path = os.path.join(project.root, os.path.expanduser(value))
    public_path = path if path.endswith(".pub") else f"{path}.pub"
    if not os.path.lexists(path):
        if get_git_setting(project, "gpg.format") != "ssh":
            raise _no_key_error(f"git signs with the key {value!r}, which is not an SSH key")
        raise _no_key_error(f"the key that user.signingkey names does not exist: {path}")
    if not os.path.lexists(public_path):
        hint = f"write it: ssh-keygen -y -f {quote(path)} > {quote(public_path)}"
        raise ExecplanError("no-signing-key", f"the public part of the key is missing: {public_path}", hint=hint)
    data = file_access.read(public_path, _MAX_BYTES)[0]
    return _parse_public_key(path, data.decode("utf-8", "replace"), public_path)


def get_git_setting(project: Project, name: str) -> str:
    """Return a setting of git, also of the user's; empty if it is not set. Raises ExecplanError if git can't be used."""
    output = git_query.output_or_none(project, "config", "--get", name, no_status=1)
    return (output or b"").decode("utf-8", "replace").strip()


def _parse_public_key(path: str, text: str, source: str) -> SshKey:
    fields = text.split()
    try:
        blob = b64decode(fields[1], validate=True)
    except (IndexError, Base64Error, ValueError):
        raise _no_key_error(f"{source} is not a public SSH key") from None
    return SshKey(path, " ".join(fields[:2]), key_id(sha256_constructor()(blob).digest()))


def _no_key_error(message: str) -> ExecplanError:
    hint = "git config --global gpg.format ssh; git config --global user.signingkey ~/.ssh/id_ed25519.pub"
    return ExecplanError("no-signing-key", message, hint=f"name your key: {hint}")


def sign(project: Project, key: SshKey, data: bytes) -> str:
    """Return the signature of some data. Raises ExecplanError if ssh-keygen can't make it."""
    with tempfile.TemporaryDirectory(prefix="execplan-") as directory:
        path = key.path
        if not path:
            path = os.path.join(directory, "key.pub")
            _write(path, f"{key.public}\n".encode())
        agent_option = () if key.path else ("-U",)
        arguments = ("-Y", "sign", *agent_option, "-n", NAMESPACE, "-f", path)
        process = _run(project, arguments, data, _SIGN_SECONDS, {**os.environ, "LC_ALL": "C"})
    if process is None:
        message = f"{_PROGRAM} did not sign within {_SIGN_SECONDS} seconds"
        raise _signing_error(message, _agent_hint(key))
    if process.returncode:
        raise _explain_failure(key, process.stderr.decode("utf-8", "backslashreplace"))
    return process.stdout.decode("ascii", "replace")


def _explain_failure(key: SshKey, errors: str) -> ExecplanError:
    name = key.path or key.public
    if "UNPROTECTED PRIVATE KEY FILE" in errors:
        private_path = key.path.removesuffix(".pub")
        return _signing_error(f"others can read the key {private_path}", f"chmod 600 {quote(private_path)}")
    if "incorrect passphrase" in errors:
        return _signing_error(f"the key {name} has a passphrase, which was wrong or not given", _agent_hint(key))
    if any([text in errors for text in ("No private key found", "No such file", "agent socket", "agent contains no")]):
        message = f"the private part of the key {name} is neither in its file nor in an SSH agent"
        return _signing_error(message, _agent_hint(key))
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return _signing_error(
        f"{_PROGRAM} can't sign with {name}: {lines[-1] if lines else 'no message'}", _agent_hint(key)
    )


def _agent_hint(key: SshKey) -> str:
    path = quote(key.path.removesuffix(".pub")) if key.path else ""
    return f"load the key into an SSH agent, then approve again: ssh-add {path}".rstrip()


def _signing_error(message: str, hint: str) -> ExecplanError:
    return ExecplanError("not-signed", f"{message}; nothing was approved", hint=hint)


def verify(
    project: Project, signers: bytes, revoked: bytes | None, principal: str, signature: str, data: bytes
) -> Verification:
    """Verify the signature of a principal among the allowed signers. Raises ExecplanError without ssh-keygen."""
    with tempfile.TemporaryDirectory(prefix="execplan-") as directory:
        paths = [os.path.join(directory, name) for name in ("signature", "signers", "revoked")]
        for path, content in zip(paths, (signature.encode("utf-8", "replace"), signers, revoked or b""), strict=True):
            _write(path, content)
        arguments = ("-Y", "verify", "-n", NAMESPACE, "-I", principal, "-s", paths[0], "-f", paths[1])
        answer = _verify(project, (*arguments, "-r", paths[2]) if revoked is not None else arguments, data)
        is_revoked = revoked is not None and not answer[0] and bool(_verify(project, arguments, data)[0])
    key, errors = answer
    if key:
        return Verification(key=key)
    if is_revoked:
        return Verification(f"the key of {principal} is revoked")
    if any([text in errors for text in ("incorrect signature", "parse signature", "incomplete message", "armor")]):
        return Verification("its signature is invalid", is_intact=False)
    if "namespace does not match" in errors:
        return Verification("its signature was made for another purpose than an approval", is_intact=False)
    reasons = [line.partition(": ")[2] for line in errors.splitlines() if "key " in line and line.startswith(paths[1])]
    reason = f": {reasons[0]}" if reasons else ""
    return Verification(f"it was signed with a key that is not allowed for {principal}{reason}")


def _verify(project: Project, arguments: tuple[str, ...], data: bytes) -> tuple[str, str]:
    """Return the identifier of the key if the verification succeeds, otherwise empty; and the messages."""
    process = _run(project, arguments, data, _VERIFY_SECONDS, {"LC_ALL": "C", "PATH": os.defpath})
    if process is None:
        hint = "try again; if it happens again: execplan doctor"
        raise ExecplanError("not-signed", f"{_PROGRAM} did not verify within {_VERIFY_SECONDS} seconds", hint=hint)
    match = _FINGERPRINT.search(process.stdout.decode("utf-8", "replace"))
    is_valid = process.returncode == 0 and match is not None
    return key_id(b64decode(match[1] + "=")) if is_valid and match else "", process.stderr.decode("utf-8", "replace")


def _run(
    project: Project, arguments: tuple[str, ...], data: bytes, seconds: float, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    """Run ssh-keygen; return None if it does not finish in time."""
    program = find_installed_program(_PROGRAM, os.path.realpath(project.root))
    if program is None:
        raise ExecplanError("no-ssh-keygen", f"{_PROGRAM} is not installed", hint="install OpenSSH 8.2 or newer")
    trace.log(f"run {_PROGRAM} {' '.join(arguments)}")
    try:
        return subprocess.run(  # noqa: S603 - ssh-keygen, outside of the repository
            [program, *arguments],
            input=data,
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd="/",
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise file_access.file_error(error, program, "run") from None


def _write(path: str, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
