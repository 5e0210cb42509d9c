-- Since when a listener has failed without a success in between, in Unix milliseconds; of one that fails already it is its last failure that is known.
ALTER TABLE listener ADD COLUMN failing_since BIGINT;
UPDATE listener SET failing_since = last_failed_at WHERE failures > 0;

-- What a list of failing listeners, or their number, reads.
CREATE INDEX listener_failing ON listener (owner, failures) WHERE failures > 0;
