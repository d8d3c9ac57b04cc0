-- Namespaces that were written through the hub, so that those in which no dataset lies are found: what one says of itself is in the
-- file in its folder. And what was found of drafts that were refused, for whoever looks at them later.
CREATE TABLE namespaces (
    name TEXT PRIMARY KEY, -- as ids begin with it
    root TEXT NOT NULL, -- the key of the root where its folder is
    who TEXT NOT NULL,
    changed INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE draft_verdicts (
    draft TEXT PRIMARY KEY,
    verdict TEXT NOT NULL, -- broken, files
    reason TEXT NOT NULL,
    problems TEXT NOT NULL, -- a JSON array
    at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
