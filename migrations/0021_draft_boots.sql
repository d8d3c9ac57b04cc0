-- Files of a draft are acknowledged before they are on the disk for good. What came before the machine was started last is read
-- again before it is published: a power cut may have left zeros in its place.
ALTER TABLE draft_files ADD COLUMN boot INTEGER NOT NULL DEFAULT 0; -- the start of the machine in which it came; 0: not known; -1: it was on the disk already
