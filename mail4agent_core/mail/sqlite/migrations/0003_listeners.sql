-- Listeners, by the text address of the account or session that is told of its mail. Mail up to `cursor` has been looked over;
-- `outstanding` counts the rings. `failures` counts the attempts that failed since the last that did not; none is made before `due_at`.
CREATE TABLE listener (
    listener_no INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL UNIQUE,
    account_no INTEGER NOT NULL,
    url TEXT NOT NULL,
    key TEXT,
    uid INTEGER,
    cursor INTEGER NOT NULL,
    outstanding INTEGER NOT NULL DEFAULT 0,
    rung INTEGER NOT NULL DEFAULT 0,
    given_up INTEGER NOT NULL DEFAULT 0,
    last_rung_at INTEGER,
    last_failed_at INTEGER,
    failure TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX listener_account ON listener (account_no, owner);

-- The messages that a listener is still to be told of, those first that it failed at the least often.
CREATE TABLE ring (
    listener_no INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    pos INTEGER NOT NULL,
    PRIMARY KEY (listener_no, attempts, pos)
) STRICT, WITHOUT ROWID;

-- Rooms that an account joined when it had a listener already: it is told of nothing that stood there before.
CREATE TABLE listener_floor (
    listener_no INTEGER NOT NULL,
    box_no INTEGER NOT NULL,
    pos INTEGER NOT NULL,
    PRIMARY KEY (listener_no, box_no)
) STRICT, WITHOUT ROWID;

-- The sessions' boxes of an account that hold mail behind a cursor, however many sessions it has had. Only mail to a session pays for it.
CREATE INDEX box_session ON box (substr(address, 1, instr(address, '/') - 1), last_pos) WHERE instr(address, '/') > 0;
