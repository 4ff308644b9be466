"""A plan as one page of HTML that needs no other file."""

from __future__ import annotations

from html import escape
from typing import Final

from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.block_rules import heading_anchor
from execplan.core.text.markdown_html import MarkdownHtml, ResolvedLink
from execplan.core.text.text_lines import Text
from execplan.exchange.exchange_plan import ExchangePlan, ExportedFiles
from execplan.exchange.forms.markdown import document_losses, document_text

_STYLE: Final = """\
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.8em 0 .6em }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; background: #f3f4f6 }
pre { padding: .8rem; overflow-x: auto }
code { padding: .1em .3em }
pre code { padding: 0 }
blockquote { margin: 1em 0; padding-left: 1em; border-left: .25rem solid #d0d7de; color: #57606a }
table { border-collapse: collapse }
th, td { border: 1px solid #d0d7de; padding: .3rem .6rem; text-align: left }
li.task { list-style: none }
.box { display: inline-block; width: .8em; height: .8em; margin-left: -1.4em; margin-right: .4em; border: 1px solid currentColor }
.done > .box, .done > p > .box { background: currentColor }
.scroll { overflow-x: auto }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117 }
  pre, code { background: #161b22 }
}
"""
_SAFE_SCHEMES: Final = ("https://", "http://", "mailto:", "#")
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the plan as a page."""
    body = render_body(document_text(parsed, plan.title), plan.title)
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(plan.title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
    return ExportedFiles({"": page.encode()}, document_losses(parsed))


def render_body(text: str, title: str) -> str:
    """Return the HTML of a document: its title, its introduction and its sections. HTML in the document is text."""
    parsed = reader.read_text(Text.from_str(text))
    counts: dict[str, int] = {}
    markdown = MarkdownHtml(_resolve_link, lambda heading: heading_anchor(heading, counts))
    markdown.add_definitions(text)
    counts.clear()
    lines = parsed.text.lines
    first = parsed.sections[0].start if parsed.sections else len(lines)
    introduction = [line for at, line in enumerate(lines[:first]) if at not in _title_lines(parsed)]
    html = [f"<h1>{markdown.inline(title)}</h1>\n", markdown.block("\n".join(introduction))]
    for section in parsed.sections:
        anchor = escape(heading_anchor(section.title, counts))
        html += [f'<h2 id="{anchor}">{markdown.inline(section.title)}</h2>\n']
        html += [markdown.block("\n".join(lines[section.body_start : section.end]))]
    return "".join(html)


def _title_lines(parsed: ParsedPlan) -> range:
    block = next((block for block in parsed.blocks if block.start == parsed.title_line), None)
    return range(block.start, block.end) if block is not None else range(0)


def _resolve_link(address: str) -> ResolvedLink:
    """Return a link to the web or within the page; a file of the repository is only named."""
    if address.lower().startswith(_SAFE_SCHEMES):
        return ResolvedLink(address)
    return ResolvedLink("", f"in the repository: {address}" if address else "")
