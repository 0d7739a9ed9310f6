"""How the runner and the builder are confined."""
