-- What operators did. A number is never given again, also not after the newest entries are gone. `actor` is a text address;
-- `target` is NULL for what is about the whole store.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_unix_ms INTEGER NOT NULL,
    actor TEXT NOT NULL,
    operation TEXT NOT NULL,
    target TEXT,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_age ON audit (at_unix_ms);
