"""Every bound of the daemon that is not part of the contract, with its unit in its name."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one daemon takes at most. Each value must be positive."""

    request_body_max_bytes: int = 16_777_216
    """The contract's bound of a request body; a page may be as large."""
    plain_body_max_bytes: int = 2_097_152
    """A body that holds one message or none: five times the largest there can be. Reading JSON of more takes
    long enough for others to notice."""
    small_body_max_bytes: int = 131_072
    """Bodies up to here are read whatever is in flight: large uploads cannot starve ordinary mail."""
    in_flight_body_bytes_max: int = 134_217_728
    """Memory for larger bodies, from their first byte to their answer: eight of the largest at once."""
    in_flight_answer_bytes_max: int = 134_217_728
    """Memory for larger answers, until their clients have taken them."""
    header_max_bytes: int = 16_384
    """Request line and headers together; a client of this contract needs under 1,000."""
    header_timeout_secs: float = 10.0
    """From a request's first byte to the end of its headers: who dribbles them holds a connection."""
    body_read_timeout_secs: float = 30.0
    """From the end of the headers to that of the body: the largest one at half a megabyte a second."""
    response_write_timeout_secs: float = 30.0
    """How long a client may leave its answer unread before its connection is cut."""
    keep_alive_secs: float = 75.0
    """How long an idle connection stays open: longer than the longest poll, so a poller keeps its own."""
    requests_per_connection_max: int = 1_000_000_000
    """In effect none: a reconnect costs more than it frees."""
    unread_request_max_bytes: int = 33_554_432
    """What is discarded of a request that was refused early, so that its sender gets to read the refusal."""
    unread_request_timeout_secs: float = 2.0
    """The same in time."""
    connections_max: int = 16_000
    """Open connections; lowered at start to the descriptors that the process may have."""
    file_reserve: int = 128
    """Descriptors kept back from connections for the store, the sockets, rings and the runtime."""
    accept_backlog: int = 4096
    """Connections that wait for accept; the kernel's own bound is the same on Linux."""
    tls_handshake_timeout_secs: float = 10.0
    """A handshake that takes longer holds a descriptor for nothing."""
    parked_max: int = 10_000
    """Readers that wait at once: some 25 KiB each, with their connections."""
    parked_per_account_max: int = 256
    """One account's share: its sessions, each with one wait."""
    ringing_max: int = 64
    """Doorbells that are rung at once: each holds a descriptor for as long as its listener takes."""
    ring_timeout_secs: float = 5.0
    """From the connection to the answer of a listener, which is to answer first and work then."""
    ring_stop_secs: float = 1.0
    """What is left of that at a stop, which a listener that hangs must not hold up. A ring that is cut comes
    once more after the next start."""
    ring_head_max_bytes: int = 8_192
    """What is read of a listener's answer before its status is known."""
    ring_body_max_bytes: int = 65_536
    """What is read after that, and thrown away."""
    graceful_stop_secs: float = 5.0
    """From the signal to the end: what systemd and a person at a terminal put up with."""

    def __post_init__(self) -> None:
        """Refuse bounds that bound nothing."""
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"the limit {field.name} must be positive")
