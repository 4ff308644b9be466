"""Tools for agents: typed async functions with JSON Schemas, and an MCP server that offers them."""
