"""Hostile bytes in every file that is read, and on every socket that is listened at."""
