-- How far a reader was told of its mail: nothing up to this position is announced to it again.
ALTER TABLE reader ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
