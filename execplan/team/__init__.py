"""Several people and several plans: dependencies, history, reviews, worktrees, staleness, and what to do next."""
