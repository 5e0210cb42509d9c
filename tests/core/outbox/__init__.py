"""Drafts, staged, decided and released, over folders of the test's own."""
