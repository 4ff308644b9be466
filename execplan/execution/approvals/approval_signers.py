"""Who signs approvals, and whose signatures count: each approval has one signature, by one of two kinds of keys.

A machine's key shows that an approval was given here. A person's SSH key shows by whom, in every checkout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.execution import approval_document
from execplan.execution.approvals import approval_key
from execplan.execution.approvals.trusted_files import TrustedFiles, read_trusted_files
from execplan.execution.permission import POLICY
from execplan.execution.policy import SSH, Policy, tighten

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.project.project import Project
    from execplan.execution.approval_document import Approval, UnsignedApproval
    from execplan.execution.approvals.approved_plan import CheckedApproval


class Signer(NamedTuple):
    """Whoever signs an approval."""

    key: str
    """Identifier of the key."""
    principal: str
    """The name that the allowed signers have for the key; empty for the key of a machine."""
    sign: Callable[[UnsignedApproval], Approval]
    """Returns the signed approval. Raises ExecplanError if the signature can't be made or would not count."""


class SigningRules(NamedTuple):
    """Which signatures count in a project, now."""

    project: Project
    policy: Policy
    """The policy, tightened by the main branch, so that an edit in the working tree can't loosen it."""
    trusted: TrustedFiles

    @property
    def is_ssh(self) -> bool:
        """Return whether people sign with their own keys."""
        return self.policy.signatures == SSH

    def find_signer(self, method: str, approver: str | None, *, dry_run: bool) -> Signer:
        """Return who signs: a person if one approves and signatures are SSH, else the machine.

        `method` says how the approval is given. A dry run creates no key. Raises ExecplanError.
        """
        if self.is_ssh and method != POLICY:
            from execplan.execution.approvals import ssh_approvals

            return Signer(*ssh_approvals.find_ssh_signer(self.project, self.trusted, approver))
        key = b"" if dry_run else approval_key.get_or_create(self.project)
        return Signer(approval_document.key_id(key), "", lambda terms: approval_document.sign(terms, key))

    def signature_problem(self, approval: Approval, machine_key: bytes | None) -> tuple[str, bool]:
        """Return why the signature of an approval does not count, and whether it is intact; empty if it counts.

        Raises ExecplanError if it can't be verified.
        """
        if approval.ssh is not None:
            if not self.is_ssh:
                return "it has the SSH signature of a person, and the policy wants that of this machine", True
            from execplan.execution.approvals import ssh_approvals

            verification = ssh_approvals.verify_approval(self.project, self.trusted, approval)
            return verification.problem, verification.is_intact
        if machine_key is None or not approval_document.verify_signature(approval, machine_key):
            if machine_key is None or approval_document.key_id(machine_key) != approval.key:
                return "it was signed with another key, by another user or on another machine", False
            return "its signature is invalid", False
        if self.is_ssh and approval.effective_how != POLICY:
            return "it has the signature of a machine, and the policy wants that of a person", True
        return "", True

    def join(self, checked_approvals: list[CheckedApproval]) -> list[CheckedApproval]:
        """Return checked approvals, of which those of people are valid only together, and only if they are enough."""
        if not self.is_ssh:
            return checked_approvals
        from execplan.execution.approvals.approver_rules import join_people

        return join_people(self.policy, checked_approvals)


def load_signing_rules(project: Project, policy: Policy) -> SigningRules:
    """Return the rules of a policy, tightened by those of the main branch, whose groups win. Raises ExecplanError."""
    trusted = read_trusted_files(project)
    return SigningRules(project, tighten(policy, trusted.policy), trusted)
