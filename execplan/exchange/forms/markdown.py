"""A plan as a document to read without execplan: its own Markdown, without front matter."""

from __future__ import annotations

from execplan.core.plan.model import ParsedPlan
from execplan.core.text.markdown_blocks import FRONT
from execplan.exchange.exchange_plan import ExchangePlan, ExportedFiles


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the plan as a Markdown document."""
    return ExportedFiles({"": document_text(parsed, plan.title).encode()}, document_losses(parsed))


def document_text(parsed: ParsedPlan, title: str) -> str:
    """Return the text of a plan below its title."""
    text = "\n".join(parsed.text.lines[_front_end(parsed) :]).strip("\n") + "\n"
    return text if parsed.title is not None else f"# {title}\n\n{text}"


def document_losses(parsed: ParsedPlan) -> tuple[str, ...]:
    """Return what the document lacks of the plan."""
    return ("no place for front matter",) if _front_end(parsed) else ()


def _front_end(parsed: ParsedPlan) -> int:
    return parsed.blocks[0].end if parsed.blocks and parsed.blocks[0].kind == FRONT else 0
