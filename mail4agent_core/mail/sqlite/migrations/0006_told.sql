-- How far a reader was told of its mail: nothing up to this position is announced to it again. NULL: it has never asked.
ALTER TABLE reader ADD COLUMN told INTEGER;
