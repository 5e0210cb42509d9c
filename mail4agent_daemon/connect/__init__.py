"""Connecting a client: an account of its own, its configuration, and the proof that both work together.

A client is a program in which an agent runs. What is written into its files can be taken out again, byte for
byte; nothing that a client's file holds besides is touched, and no file of a client ever holds a secret.
"""
