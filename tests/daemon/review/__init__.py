"""The command line of a person who reviews drafts."""
