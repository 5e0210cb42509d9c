-- Accounts. `secret_digest` is NULL when no secret authenticates; `removed_at` keeps the id retired. Capabilities are separated by spaces.
CREATE TABLE participant (
    account_no INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    label TEXT,
    secret_digest BLOB UNIQUE,
    capabilities TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    secret_issued_at INTEGER,
    removed_at INTEGER
) STRICT;

-- Where messages stand: an account's, a session's or a room's, by text address. NULL: given up, its messages are to be deleted.
-- `n` counts the messages; `last_pos` is the highest position it ever held, by `last_sender`, and `other_pos` the highest by
-- anybody else: together they say at once whether something stands that a reader did not send itself.
CREATE TABLE box (
    box_no INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT UNIQUE,
    n INTEGER NOT NULL DEFAULT 0,
    last_pos INTEGER NOT NULL DEFAULT 0,
    last_sender INTEGER NOT NULL DEFAULT 0,
    other_pos INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX box_given_up ON box (box_no) WHERE address IS NULL;

CREATE TABLE room (
    box_no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    posting TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Which boxes an account reads now: its own, and those of the rooms it is in.
CREATE TABLE membership (
    account_no INTEGER NOT NULL,
    box_no INTEGER NOT NULL,
    PRIMARY KEY (account_no, box_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_box ON membership (box_no, account_no);

-- Exact addresses that read or sent. NULL: its account was purged; what it sent stays with those who got it.
CREATE TABLE reader (
    reader_no INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT UNIQUE,
    account_no INTEGER NOT NULL
) STRICT;
CREATE INDEX reader_account ON reader (account_no);
CREATE INDEX reader_given_up ON reader (reader_no) WHERE address IS NULL;

-- How many of a box's messages count as acknowledged for a reader: unread is box.n less this.
CREATE TABLE counter (
    reader_no INTEGER NOT NULL,
    box_no INTEGER NOT NULL,
    acked INTEGER NOT NULL,
    PRIMARY KEY (reader_no, box_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX counter_box ON counter (box_no, reader_no);

-- Which ones: runs of positions, merged while no unacknowledged message of the box lies between.
CREATE TABLE ack_range (
    reader_no INTEGER NOT NULL,
    box_no INTEGER NOT NULL,
    lo INTEGER NOT NULL,
    hi INTEGER NOT NULL,
    PRIMARY KEY (reader_no, box_no, lo)
) STRICT, WITHOUT ROWID;

-- The acknowledgements that readers gave themselves, with the time of the first.
CREATE TABLE ack (
    pos INTEGER NOT NULL,
    reader_no INTEGER NOT NULL,
    acked_at INTEGER NOT NULL,
    PRIMARY KEY (pos, reader_no)
) STRICT, WITHOUT ROWID;

-- `pos` is the place in the order of commits and holds the time; `message_id` is its 12 bytes; `wire` is the message as the codec encoded it.
CREATE TABLE message (
    pos INTEGER PRIMARY KEY,
    message_id BLOB NOT NULL,
    box_no INTEGER NOT NULL,
    sender_no INTEGER NOT NULL,
    account_no INTEGER NOT NULL,
    thread_pos INTEGER NOT NULL,
    correlation TEXT,
    wire BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX message_id ON message (message_id);
CREATE INDEX message_box ON message (box_no, pos);
CREATE INDEX message_account ON message (box_no, account_no, pos);
CREATE INDEX message_sender ON message (sender_no, pos);
-- A thread is the message at `thread_pos` and its replies; most messages are no replies and cost nothing here.
CREATE INDEX message_thread ON message (thread_pos, box_no, pos) WHERE thread_pos <> pos;
CREATE INDEX message_thread_sender ON message (thread_pos, sender_no, pos) WHERE thread_pos <> pos;
CREATE INDEX message_correlation ON message (box_no, correlation, pos) WHERE correlation IS NOT NULL;

CREATE TABLE idempotency (
    reader_no INTEGER NOT NULL,
    key TEXT NOT NULL,
    content BLOB NOT NULL,
    message_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (reader_no, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Numbers kept by name: upkeep's last run, the search index's watermark, the health beat, the last position of what is gone.
CREATE TABLE number (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Full text, filled behind the sends with words that are folded already. `scope` is the word b<box_no>, so that a search is
-- confined to boxes by the index itself.
CREATE VIRTUAL TABLE found USING fts5 (scope, subject, body, content = '', columnsize = 0, tokenize = 'ascii');
