-- Who may do what: tokens, rules, and what was changed by whom. Of a token its id and the SHA-256 of its text are kept, never the
-- text. A rotated one has its name beside the one that follows it, until it expires.
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    networks TEXT NOT NULL, -- where it is good, with a space between them; '': everywhere
    made INTEGER NOT NULL,
    expires INTEGER NOT NULL, -- 0: never
    used INTEGER NOT NULL, -- 0: not yet
    rotated INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE NOT rotated;
CREATE TABLE access_rules (
    who TEXT NOT NULL,
    prefix TEXT NOT NULL,
    level TEXT NOT NULL,
    made INTEGER NOT NULL,
    PRIMARY KEY (who, prefix)) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    detail TEXT NOT NULL, -- JSON
    revision TEXT NOT NULL) STRICT;
CREATE INDEX audit_at ON audit (at);
-- It grows with each change of tokens and rules, so that a running hub sees that there is one; use alone is none.
CREATE TABLE access_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
INSERT INTO access_version VALUES (1, 1);
CREATE TRIGGER tokens_added AFTER INSERT ON tokens BEGIN UPDATE access_version SET version = version + 1; END;
CREATE TRIGGER tokens_changed AFTER UPDATE OF name, sha256, networks, expires, rotated ON tokens
    BEGIN UPDATE access_version SET version = version + 1; END;
CREATE TRIGGER tokens_removed AFTER DELETE ON tokens BEGIN UPDATE access_version SET version = version + 1; END;
CREATE TRIGGER access_rules_added AFTER INSERT ON access_rules BEGIN UPDATE access_version SET version = version + 1; END;
CREATE TRIGGER access_rules_changed AFTER UPDATE ON access_rules BEGIN UPDATE access_version SET version = version + 1; END;
CREATE TRIGGER access_rules_removed AFTER DELETE ON access_rules BEGIN UPDATE access_version SET version = version + 1; END;
