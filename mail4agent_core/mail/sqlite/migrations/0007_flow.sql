-- Who wrote to which box in each slot of five minutes, counted as it was posted; upkeep deletes what is older than a week. `last_pos` is the
-- highest position among them.
CREATE TABLE flow (
    slot INTEGER NOT NULL,
    account_no INTEGER NOT NULL,
    box_no INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    last_pos INTEGER NOT NULL,
    PRIMARY KEY (slot, account_no, box_no)
) STRICT, WITHOUT ROWID;

-- The last week of the mail that is there, told from its positions: their upper bits are milliseconds.
INSERT INTO flow
SELECT (pos >> 20) / 300000, account_no, box_no, count(*), max(pos)
FROM message
WHERE pos > (SELECT coalesce(max(pos), 0) FROM message) - (604800000 << 20)
GROUP BY 1, 2, 3;
