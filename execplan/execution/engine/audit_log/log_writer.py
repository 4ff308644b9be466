"""The audit log of a plan: one chain of records across runs and processes, with its last record anchored elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import author
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.engine.audit_log import hash_chain, log_reader, record_details
from execplan.execution.engine.audit_log.hash_chain import START, AuditRecord
from execplan.execution.engine.audit_log.log_file import LogFile
from execplan.execution.engine.audit_log.log_reader import LogAnchor, MovedMeanwhileError
from execplan.execution.engine.journal import journal
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.run_records import run_directories

_TRIES = 8


class AuditLog:
    """A plan's audit log for writing; several processes may use it at the same time."""

    def __init__(self, project: Project, ref: PlanRef, *, can_restore: bool = False) -> None:
        """`can_restore`: whether to restore a log that a step altered or removed from its copy in the state."""
        self.project = project
        self.ref = ref
        self.path = log_reader.path_of(project, ref)
        self._name = ""
        """Name of the log; set once the log is checked against its anchor."""
        self._anchor: LogAnchor | None = None
        """Anchor when it was last read or moved."""
        self._last_record: AuditRecord | None = None
        """Last record when this process last read the log."""
        self._known_lines: dict[str, dict[int, str]] = {}
        """Digests of the recorded journal entries, by run and number."""
        self._step_details = record_details.StepDetails()
        self.can_restore = can_restore
        self.overwritten: bytes | None = None
        """Contents before the log was restored from its copy; None if it was not."""

    def append(self, kind: str, details: dict[str, Any]) -> AuditRecord:
        """Append a record and sync it. Raises ExecplanError and leaves the log unchanged."""
        with self._open_file() as file:
            record = self._next_record(
                self._read_head(file), kind, f"{now():%Y-%m-%dT%H:%M:%SZ}", record_details.redact_details(details)
            )
            self._write_records(file, [record])
            return record

    def append_entries(self, run: str, entries: Sequence[RunEntry]) -> None:
        """Append the entries of a journal that the audit log lacks; `entries` are all of them, or the last ones.

        The journal's texts are already redacted; details added by the audit log are redacted here. Nothing is synced
        before the anchor moves: until then, the journal has it all. Raises ExecplanError, also if an entry differs from
        the recorded one.
        """
        paths = run_directories.get_run_paths(self.project, self.ref, run)
        with self._open_file() as file:
            last_record, records = self._read_head(file), []
            known_lines = self._known_lines.setdefault(run, {})
            if entries and entries[0].number > len(known_lines) + 1:
                entries = journal.read_journal(paths.journal)  # some could not be appended when they were written
            for entry in entries:
                step_details = self._step_details.for_entry(entry, paths)
                if entry.number in known_lines:
                    self._ensure_same_entry(paths, entry, known_lines[entry.number])
                    continue
                assert entry.number == len(known_lines) + 1, f"entry {len(known_lines) + 1} of {run} is missing"
                last_record = self._next_record(
                    last_record,
                    entry.kind,
                    entry.at,
                    {**record_details.entry_details(entry), **step_details},
                    run,
                    entry,
                )
                records.append(last_record)
                known_lines[entry.number] = entry.line
            try:
                self._write_records(file, records, durable=False)
            except BaseException:
                self._name = ""  # forces a new read and check of the log
                raise

    def update_anchor(self) -> None:
        """Sync the log, and move the anchor to the last record. Raises ExecplanError, also if the anchored record is missing."""
        for _ in range(_TRIES):
            with self._open_file() as file:
                last_record = self._read_head(file)
                if last_record is None or (self._anchor is not None and self._anchor.hash == last_record.hash):
                    return
                file.sync()
                try:
                    self._anchor = log_reader.move(
                        self.project, self._name, self._anchor, last_record.seq, last_record.hash
                    )
                    return
                except MovedMeanwhileError:
                    self._name = ""  # check again, against the current anchor
        raise log_reader.broken_error(self._display_path, self.ref.shell_name, "its anchor kept changing")

    @property
    def _display_path(self) -> str:
        return self.project.display_path(self.path)

    def _open_file(self) -> LogFile:
        return log_reader.open_log(self.project, self.ref)

    def _read_head(self, file: LogFile) -> AuditRecord | None:
        """Return the last record of a log that has the anchored record; restore the log first if allowed.

        Raises ExecplanError.
        """
        if not self.can_restore:
            return self._verify_head(file)
        copy = file.read_copy() if file.is_shorter_than_copy else b""
        if copy and copy.startswith(file.read_all()):  # its end was cut off, or the file is gone
            return self._restore_from_copy(file, copy)
        try:
            return self._verify_head(file)
        except ExecplanError:
            copy = file.read_copy()
            if not copy or not self._is_restorable(file.read_all(), copy):
                raise
            return self._restore_from_copy(file, copy)

    def _is_restorable(self, data: bytes, copy: bytes) -> bool:
        """Return whether a copy may replace a broken log; also true if this process has just seen the log intact."""
        was_intact = self._last_record is not None and self._last_record.ledger == hash_chain.find_log_name(copy)
        return was_intact or log_reader.is_damaged_by_step(data, copy)

    def _restore_from_copy(self, file: LogFile, copy: bytes) -> AuditRecord | None:
        """Replace the log with its copy if that has the anchored record. Raises ExecplanError."""
        name = hash_chain.find_log_name(copy)
        known_anchor = log_reader.get(self.project, name)
        if log_reader.parse_log(copy, known_anchor).flaw is not None or (
            known_anchor is not None and log_reader.find_loss(copy, known_anchor)
        ):
            return self._verify_head(file)
        self.overwritten = file.read_all() if self.overwritten is None else self.overwritten
        file.restore(copy)
        self._name, self._last_record = "", None
        return self._verify_head(file)

    def _verify_head(self, file: LogFile) -> AuditRecord | None:
        """Return the last record of a log that has the anchored record. Raises ExecplanError if it has not."""
        try:
            last_record = file.read_last_record()
        except ValueError as error:
            raise self._broken_error(f"its last record {error}") from None
        if self._last_record is not None and (last_record is None or last_record.seq < self._last_record.seq):
            raise self._broken_error(f"record {self._last_record.seq}, which was just written, is missing")
        if not self._name:
            self._verify_against_anchor(file, last_record)
        elif last_record is not None and (self._last_record is None or last_record.hash != self._last_record.hash):
            self._verify_new_records(file, last_record)
        self._last_record = last_record
        return last_record

    def _verify_against_anchor(self, file: LogFile, last_record: AuditRecord | None) -> None:
        """Compare the log with its anchor. Raises ExecplanError if they do not match."""
        name = last_record.ledger if last_record is not None else log_reader.available_name(self.project, self.ref)
        known_anchor, data = log_reader.get(self.project, name), file.read_all()
        parsed_chain = log_reader.parse_log(data, known_anchor)
        why = str(parsed_chain.flaw or "") or (
            log_reader.find_loss(data, known_anchor) if known_anchor is not None else ""
        )
        if why:
            raise self._broken_error(why)
        self._name, self._anchor, self._known_lines = name, known_anchor, {}
        self._remember_entries(parsed_chain.records)

    def _verify_new_records(self, file: LogFile, last_record: AuditRecord) -> None:
        """Check the records that another process has written since the last read. Raises ExecplanError."""
        data = file.read_all()
        begin = hash_chain.offset_after(data, self._last_record.hash) if self._last_record is not None else 0
        parsed_chain = hash_chain.parse_chain(data[begin:], self._last_record, anchored_size=0)
        if begin < 0 or parsed_chain.flaw is not None:
            self._verify_against_anchor(file, last_record)
        else:
            self._remember_entries(parsed_chain.records)

    def _remember_entries(self, records: Sequence[AuditRecord]) -> None:
        """Remember which journal entries are in the log."""
        for record in records:
            if record.run is not None and record.entry is not None and record.line is not None:
                self._known_lines.setdefault(record.run, {})[record.entry] = record.line

    def _ensure_same_entry(self, paths: run_directories.RunPaths, entry: RunEntry, line: str) -> None:
        if entry.line == line:
            return
        raise ExecplanError(
            "journal-altered",
            f"{self.project.display_path(paths.journal)}:{entry.number} differs from the entry in the audit log: another program has changed it",
            hint=f"restore the file from git or a backup; see: execplan audit {self.ref.shell_name} --verify",
            line=entry.number,
        )

    def _next_record(
        self,
        last_record: AuditRecord | None,
        kind: str,
        timestamp: str,
        details: dict[str, Any],
        run: str | None = None,
        entry: RunEntry | None = None,
    ) -> AuditRecord:
        """Build the record that follows the last one."""
        entry_details = entry.fields if entry is not None else {}
        session = entry_details.get("session") or author.session_id()
        return hash_chain.with_hash(
            AuditRecord(
                seq=last_record.seq + 1 if last_record is not None else 1,
                at=timestamp,
                kind=kind,
                ledger=self._name,
                plan_id=self.ref.id,
                user=author.clean_name(str(entry_details.get("user") or author.system_login())),
                session=author.clean_name(str(session)) if session else None,
                run=run,
                entry=entry.number if entry is not None else None,
                line=entry.line if entry is not None else None,
                said=details,
                prev=last_record.hash if last_record is not None else START,
            )
        )

    def _write_records(self, file: LogFile, records: list[AuditRecord], *, durable: bool = True) -> None:
        if records:
            file.append(b"".join([hash_chain.encode_record(record) for record in records]), durable=durable)
            self._last_record = records[-1]

    def _broken_error(self, why: str) -> ExecplanError:
        return log_reader.broken_error(self._display_path, self.ref.shell_name, why)
