"""Guidance lines of our templates, white space folded; written by scripts/generate.py from templates/."""

LINES = frozenset(
    (
        "- Decision: …",
        "- Observation: …",
        "At each milestone and at the end: what works now, what is still missing, what the next plan should know.",
        "Date/Author: …",
        "Every choice that shaped the work, the moment it is made.",
        "Evidence: …",
        "Libraries and services to use, and the modules, types and signatures that must exist in the end, by their full names.",
        "One checkbox a step, in the order of the work; `execplan add` writes the first. Tick with a UTC stamp, and split a half-done step in two.",
        "Rationale: …",
        "The commands to type, the folder to type them in, and a few lines of what they print when all is well.",
        "The edits in the order in which they are made, in prose: which file, which function, what changes there and why. Big work goes in milestones, each of which can be seen working.",
        "The shortest transcripts, diffs and excerpts that prove the work; longer ones go into the artifacts folder and are named here.",
        "The state of things for a reader who has never seen this repository: the files that matter by their path from its root, and each special term in plain words.",
        "What to run or click to see that it works, and what is seen: the test that fails before and passes after, the request and its answer.",
        "What turned out otherwise than expected, each with the output or the file that shows it.",
        "Which steps may be run twice, which may not, and how to get back to a sound state from the middle of each.",
        "Who can do what once this is finished that they can't do today, and where do they see it? Two or three sentences.",
    )
)
