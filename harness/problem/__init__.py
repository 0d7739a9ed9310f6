"""Problem packages: read them, draw cases from them, say what is right and how nearly."""
