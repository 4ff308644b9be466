"""Plans to look at: the board, charts, pages, and their server."""
