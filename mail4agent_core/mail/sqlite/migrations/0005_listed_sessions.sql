-- The directory takes an account's last sessions, alive and dead, from one place of this index each, however many it has had.
DROP INDEX session_account;
CREATE INDEX session_account ON session (account_no, dead_at);
