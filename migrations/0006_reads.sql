-- When a copy was last read: what was fetched because it was asked for goes in that order where room is needed.
ALTER TABLE origins ADD COLUMN read INTEGER NOT NULL DEFAULT 0; -- Unix time in ms
