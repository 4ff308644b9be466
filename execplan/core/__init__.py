"""Plans: reading, finding, creating, editing, storing and archiving them. It imports no feature."""
