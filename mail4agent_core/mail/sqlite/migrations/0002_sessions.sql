-- What an account asks of the processes that act for it: inherit, required, preferred or off.
ALTER TABLE participant ADD COLUMN attestation TEXT NOT NULL DEFAULT 'inherit';

-- The reader whose runs are those of all the account's addresses together; a new session starts as a copy of it. NULL until the
-- account has its first session.
ALTER TABLE participant ADD COLUMN common_reader INTEGER;

-- When a run of the machine began, as it was told the first time: a later correction of the clock moves no session's id.
CREATE TABLE boot (
    boot_id TEXT PRIMARY KEY,
    boot_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions that were met; `reader_no` and `box_no` are their reader and box. An attested one has the process that it is, an
-- issued one the digest of its credential until that ends. The parts of the card are JSON as the codec encoded them.
CREATE TABLE session (
    reader_no INTEGER PRIMARY KEY,
    account_no INTEGER NOT NULL,
    box_no INTEGER NOT NULL UNIQUE,
    id TEXT NOT NULL UNIQUE,
    boot_id TEXT,
    pid INTEGER,
    start_ticks INTEGER,
    digest BLOB UNIQUE,
    attested BLOB NOT NULL,
    corroborated BLOB NOT NULL,
    declared BLOB NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    dead_at INTEGER
) STRICT;
CREATE INDEX session_account ON session (account_no);
CREATE INDEX session_undead ON session (id) WHERE dead_at IS NULL;
CREATE INDEX session_dead ON session (dead_at) WHERE dead_at IS NOT NULL;
