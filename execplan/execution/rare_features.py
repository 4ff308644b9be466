"""What only a few plans need: the names of its modules and functions, which `core.features.load` imports when needed.

Commands that read other plans don't depend on these modules.
"""

from __future__ import annotations

FOUND_FILES = "execplan.execution.found_files:with_found_files"
"""Returns an execution plan whose steps have the files that they would work on now."""
BOUND_FILES = "execplan.execution.found_files:with_bound_files"
"""Returns an execution plan whose steps have the files that an approval binds."""
FILES_NOW = "execplan.execution.found_files:find_files"
"""Returns the files that such a step would work on now."""
STEP_FILES = "execplan.execution.found_files:with_files_of"
"""Returns a step that works on those of some files that it may work on."""
SEARCHED_FILES = "execplan.execution.found_files:searched_files"
"""Returns the files in which the steps of an execution plan search."""
FILE_SEARCH = "execplan.execution.approvals.file_search:find_repository_files"
"""Returns the files of a repository that match a pattern."""
FOUND_FILE_CHANGES = "execplan.execution.evaluation.found_file_changes:compute_found_changes"
"""Returns the changes of a step that replaces a text in files, or that copies or moves them."""
FOUND_FILE_COMPARISON = "execplan.agents.guard.found_file_comparison:compare_found_file"
"""Compares the change of a file by an agent's call with those of such a step."""
FOUND_FILE_PROBLEMS = "execplan.execution.annotations.found_file_problems:find_found_file_problems"
"""Yields what is wrong with the text of such a step."""
FOUND_FILE_RULES = "execplan.execution.documents.found_file_rules:check_found_files"
"""Yields what is wrong with the fields of such a step."""
FOUND_FILE_RISKS = "execplan.execution.risk.found_file_risk:rate_found_files"
"""Yields the risks of such a step."""
TOOL_DESCRIPTION = "execplan.execution.approvals.tool_discovery:describe_tool"
"""Returns the module of an installed tool."""
TOOL_CALL_CHECK = "execplan.execution.approvals.tool_discovery:check_calls"
"""Returns the problems of the calls of installed tools."""
