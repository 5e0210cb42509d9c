"""The front door: what a stranger asked for, and what a run with tools may be told of it.

A run with tools sees the extraction, never the prose. The store is a folder of JSON files, one a request,
that the original's programs read and write too. Synchronous; nothing here knows a transport or a model.
"""
