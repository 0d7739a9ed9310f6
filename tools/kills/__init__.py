"""Kill a part of a run at a random moment, many times, and see that nothing is lost or left."""
