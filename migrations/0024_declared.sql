-- What a draft says at its beginning that it will come to: quotas count it before a byte of it is there.
ALTER TABLE drafts ADD COLUMN declared INTEGER NOT NULL DEFAULT 0; -- bytes of all files; 0: not said
