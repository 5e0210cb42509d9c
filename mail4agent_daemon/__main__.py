"""The script ``mail4agent``, and ``python -m mail4agent_daemon``."""

import os
import sys


def main() -> None:
    """Run the script."""
    if sys.argv[1:2] == ["mcp-stdio"] and os.environ.get("M4A_TOKEN_FILE"):
        # A client's entry names the file; a token is left over from the shell that the client was started in,
        # and would have the agent act as somebody else.
        os.environ.pop("M4A_TOKEN", None)
    if sys.argv[1:] == ["mcp-stdio"]:
        # A client waits for it to start. What the command line needs takes several times as long to import,
        # and is there to say what is wrong with the settings.
        from mail4agent_client.bridge import run
        from mail4agent_client.errors import SettingInvalidError
        from mail4agent_client.settings import settings_of

        try:
            settings = settings_of()
        except SettingInvalidError:
            settings = None
        if settings is not None and settings.credential is not None:
            run(settings)
            return
    try:
        from mail4agent_daemon.cli import main as command_line
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("mail4agent"):
            raise
        # The script is in every install, what it needs in that of the extra alone.
        sys.exit("mail4agent: the command line comes with an extra: pip install 'mail4agent[daemon]'")
    command_line()


if __name__ == "__main__":
    main()
