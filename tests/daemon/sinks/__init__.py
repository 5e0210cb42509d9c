"""Sinks against real counterparts."""
