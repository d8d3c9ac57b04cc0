-- Sessions of browsers, each made with a token and good as a cookie alone; and the key that signs links.
ALTER TABLE tokens ADD COLUMN session_of TEXT NOT NULL DEFAULT ''; -- id of the token that it was made with; '': it is a token itself
CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL) STRICT, WITHOUT ROWID;
