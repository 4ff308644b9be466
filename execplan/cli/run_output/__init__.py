"""What runs show while they go on, what they ask, and what they say in the end."""
