"""The reference server: the doors to the engines, and everything between a socket and an operation."""
