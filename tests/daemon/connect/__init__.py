"""Connecting clients: their files, their accounts, and what is left when something goes wrong."""
