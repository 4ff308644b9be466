"""The request of a summary as a model, from Python."""

from __future__ import annotations

import pytest

from execplan import ExecplanError, SummarizationRequest, summarize_markdown
from tests.plans import CLEAN


def test_a_request_is_checked_and_summarized() -> None:
    request = SummarizationRequest.model_validate({"markdown": CLEAN, "form": "bullet_points", "length": "detailed"})
    summary = summarize_markdown(request)
    assert summary.text.startswith("# ")
    assert 0 < summary.word_count <= summary.max_words
    with pytest.raises(ExecplanError, match="/form: should be"):
        SummarizationRequest.model_validate({"markdown": CLEAN, "form": "haiku"})
