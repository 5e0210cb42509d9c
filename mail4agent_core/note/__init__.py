"""The note seam: a correction to a node in flight, and the truth about whom it reached."""
