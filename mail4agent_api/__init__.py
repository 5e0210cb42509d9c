"""The wire contract of mail4agent: generated types, and the codec that is the only way in and out."""
