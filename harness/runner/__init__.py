"""What runs beside the submission: as little as possible, the standard library alone."""
