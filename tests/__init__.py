"""Tests, and what several of them share: ``vectors`` and ``oracle``."""
