"""``python -m mail4agent_daemon`` is the script ``mail4agent``."""

from mail4agent_daemon.cli import main

main()
