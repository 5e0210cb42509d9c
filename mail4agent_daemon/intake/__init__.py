"""The intake: forms for strangers on a public machine, and the box in which they wait for home.

It is a server of its own, with its own database, keys and settings. Whoever takes the whole machine finds
what has not been drained yet, and nothing that opens home or the box: keys and links are kept as digests.
"""
