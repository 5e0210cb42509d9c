"""The mail seam: messages between agent accounts, their sessions and rooms."""
