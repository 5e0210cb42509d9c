CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE type (
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    language TEXT NOT NULL,
    text TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    current INTEGER NOT NULL,
    PRIMARY KEY (id, version)
) STRICT, WITHOUT ROWID;

-- What was sent and is not in the queue: its address is unproved, or its files are awaited.
CREATE TABLE pending (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type_id TEXT NOT NULL,
    type_version INTEGER NOT NULL,
    address TEXT NOT NULL,
    contents TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    confirmed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX pending_expires ON pending (expires_ms);

-- Links: the SHA-256 of the token alone. Each attempt at a mail makes one of its own.
CREATE TABLE token (
    digest BLOB PRIMARY KEY,
    pending INTEGER NOT NULL REFERENCES pending (id) ON DELETE CASCADE,
    purpose TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_pending ON token (pending);

-- Mails that must still go.
CREATE TABLE letter (
    pending INTEGER PRIMARY KEY REFERENCES pending (id) ON DELETE CASCADE,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX letter_due ON letter (due_ms);

CREATE TABLE queue (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    type_id TEXT NOT NULL,
    type_version INTEGER NOT NULL,
    contents TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    remove_ms INTEGER
) STRICT;

CREATE TABLE blob (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL REFERENCES queue (seq) ON DELETE CASCADE,
    field TEXT NOT NULL,
    filename TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    content_type TEXT NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE INDEX blob_seq ON blob (seq);

-- What a day's budgets were spent on; older days are deleted.
CREATE TABLE spent (
    day INTEGER NOT NULL,
    budget TEXT NOT NULL,
    who TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (day, budget, who)
) STRICT, WITHOUT ROWID;
