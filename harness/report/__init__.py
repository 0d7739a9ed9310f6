"""Results for people: what the terminal shows, and how numbers and untrusted text are written."""
