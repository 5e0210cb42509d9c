"""``command``: a program of this machine, run with the arguments as JSON on its standard input.

Its folder is new, private and holds the staged copies; its environment is fixed; no shell reads anything.
Exit status 0 is sent and 75 (EX_TEMPFAIL) is not sent. With any other status, a signal or its time over,
nobody can tell how far it came.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mail4agent_core.outbox.sink import Outgoing

from .copies import laid_out
from .far_side import UnknownOutcomeError, name_of, not_sent
from .json_arguments import accept_json, carried_of
from .process import Ended, fixed_environment, run

SENT, NOT_SENT = 0, 75
#: Bytes of the program's output that are kept; the rest is read and thrown away.
OUTPUT_MAX_BYTES = 65_536


class CommandSink:
    """Runs an absolute ``argv``."""

    kind = "command"

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        arguments: Sequence[str] | None,
        file_args: Sequence[str],
        environment: Mapping[str, str],
        timeout_secs: float,
    ) -> None:
        self.target = f"{name}: {argv[0]}"
        self.file_args = tuple(file_args)
        self._argv = tuple(argv)
        self._carried = carried_of(arguments, file_args)
        self._environment = dict(environment)
        self._timeout_secs = timeout_secs

    def accept(self, args: Mapping[str, Any]) -> None:
        """Raise MalformedError or TooLargeError for an argument that the program does not take."""
        accept_json(args, self._carried, self.file_args)

    async def deliver(self, outgoing: Outgoing) -> str | None:
        """Run the program; the first line that it prints names what it did."""
        with laid_out(outgoing.files) as folder:
            environment = {
                **fixed_environment(folder),
                **self._environment,
                "M4A_OUTBOX_ITEM": outgoing.item_id,
                "M4A_OUTBOX_TOOL": outgoing.tool,
                "M4A_OUTBOX_KEY": outgoing.idempotency_key,
                "M4A_OUTBOX_STAGED_BY": outgoing.staged_by or "",
            }
            given = json.dumps(dict(outgoing.args), ensure_ascii=False, sort_keys=True).encode()
            try:
                ended = await run(
                    self._argv,
                    given,
                    cwd=folder,
                    environment=environment,
                    timeout_secs=self._timeout_secs,
                    output_max_bytes=OUTPUT_MAX_BYTES,
                )
            except OSError as failure:
                raise not_sent("the command could not be started", failure.strerror or "") from None
        return _told(ended)


def _told(ended: Ended) -> str | None:
    if ended.status is None:
        raise UnknownOutcomeError("the command was killed when its time was over")
    if ended.status == NOT_SENT:
        raise not_sent(f"the command ended with {NOT_SENT}: not sent", ended.errors or ended.output)
    if ended.status != SENT:
        raise UnknownOutcomeError(f"the command ended with {ended.status}")
    return name_of(ended.output.decode("utf-8", "replace").partition("\n")[0])
