-- Since when the rule of a copy no longer lists it, although its files are still on the remote: such a copy is not gone, and no rule
-- deletes it.
ALTER TABLE origins ADD COLUMN unlisted INTEGER NOT NULL DEFAULT 0; -- Unix time in ms; 0: it is listed, or gone
