"""The home side of the public front door: home dials the box, takes submissions in, and pushes its forms.

The box is never believed: every row is read anew, held against the local type, and its files are measured.
"""
