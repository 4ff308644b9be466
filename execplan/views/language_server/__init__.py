"""The language server of `lsp`: findings, fixes, navigation, completion and edits of plans in an editor."""
