"""Output of runs: progress, prompts and final results."""
