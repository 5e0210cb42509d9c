"""The running daemon under every fault at once, and a ledger of what its clients were told."""
