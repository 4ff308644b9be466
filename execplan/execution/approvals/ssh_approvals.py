"""Approvals that people sign with their SSH keys, and the allowed signers of the main branch, who alone count."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.project.project import Project
from execplan.core.text.pure_paths import WILDCARDS, matches_glob
from execplan.execution import approval_document
from execplan.execution.approval_document import Approval, UnsignedApproval
from execplan.execution.approvals import ssh_keys
from execplan.execution.approvals.ssh_keys import Verification
from execplan.execution.approvals.trusted_files import SIGNERS_FILE, TrustedFiles


class SshSigner(NamedTuple):
    """A person with the key that git signs with."""

    key: str
    """Identifier of the key in an approval."""
    principal: str
    """The name that the allowed signers have for the key."""
    sign: Callable[[UnsignedApproval], Approval]


_HELP: Final = "see who can approve: execplan explain signatures"


def find_ssh_signer(project: Project, trusted: TrustedFiles, approver: str | None) -> SshSigner:
    """Return the person whose key git signs with, who is `approver` if that is given. Raises ExecplanError."""
    ssh_key = ssh_keys.find_signing_key(project)
    email = ssh_keys.get_git_setting(project, "user.email")
    principals = _list_principals(_require_signers(trusted), ssh_key.public)
    names = [name for name in principals if WILDCARDS.isdisjoint(name) and not name.startswith("!")]
    if email and any([matches_glob(email, name) for name in principals]):
        names.insert(0, email)
    if not names:
        message = f"your key is not an allowed signer: {trusted.branch} has no line for it in {SIGNERS_FILE}"
        line = f"{email or 'YOU@EXAMPLE.COM'} {ssh_key.public}"
        hint = f"add this line to {SIGNERS_FILE}, and have it merged to {trusted.branch}: {line}"
        raise ExecplanError("unknown-signer", message, hint=hint)
    if approver is not None and approver != names[0]:
        message = f"the signature says who approves: {names[0]}, not {approver}"
        raise ExecplanError("usage", message, hint="omit --by")

    def sign(terms: UnsignedApproval) -> Approval:
        signature = ssh_keys.sign(project, ssh_key, approval_document.signed_bytes(terms))
        approval = approval_document.with_signature(terms, "ssh", signature)
        if problem := verify_approval(project, trusted, approval).problem:
            raise ExecplanError("unknown-signer", f"{problem}; nothing was approved", hint=_HELP)
        return approval

    return SshSigner(ssh_key.id, names[0], sign)


def _require_signers(trusted: TrustedFiles) -> bytes:
    """Return the allowed signers of the main branch. Raises ExecplanError if it has none."""
    if trusted.signers is None:
        hint = f"add a line for each approver to {SIGNERS_FILE}, and merge it to the main branch; {_HELP}"
        raise ExecplanError("no-allowed-signers", _no_signers_message(trusted), hint=hint)
    return trusted.signers


def _no_signers_message(trusted: TrustedFiles) -> str:
    branch = trusted.branch
    return f"nobody can approve: {f'{branch} has no {SIGNERS_FILE}' if branch else 'there is no commit yet'}"


def _list_principals(signers: bytes, public_key: str) -> list[str]:
    """Return the principals that the allowed signers have for a key, in order."""
    key_type, key_text = public_key.split()
    principals = []
    for line in signers.decode("utf-8", "replace").splitlines():
        fields = line.split()
        if fields and not line.startswith("#") and (key_type, key_text) in pairwise(fields):
            principals += fields[0].strip('"').split(",")
    return principals


def verify_approval(project: Project, trusted: TrustedFiles, approval: Approval) -> Verification:
    """Verify the SSH signature of an approval. Raises ExecplanError without ssh-keygen."""
    if trusted.signers is None:
        return Verification(_no_signers_message(trusted))
    verification = ssh_keys.verify(
        project,
        trusted.signers,
        trusted.revoked,
        approval.approver,
        approval.ssh or "",
        approval_document.signed_bytes(approval),
    )
    if verification.key and verification.key != approval.key:
        return Verification("it names another key than the one that signed it", is_intact=False)
    return verification
