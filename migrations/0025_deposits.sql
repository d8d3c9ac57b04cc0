-- Objects: bytes that are called by their SHA-256, in ROOT/.minari-hub/objects. A deposit is an object that came before a commit
-- names it, one row for each principal who sent it; triggers keep up how many bytes they are.
CREATE TABLE deposits (
    root TEXT NOT NULL, -- its key
    sha256 BLOB NOT NULL,
    who TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha1 BLOB NOT NULL, -- as git names the bytes
    at INTEGER NOT NULL, -- when it came last
    PRIMARY KEY (root, sha256, who)) STRICT, WITHOUT ROWID;
CREATE INDEX deposits_at ON deposits (at);
CREATE TABLE deposited (bytes INTEGER NOT NULL) STRICT;
INSERT INTO deposited (bytes) VALUES (0);
CREATE TRIGGER deposits_added AFTER INSERT ON deposits BEGIN UPDATE deposited SET bytes = bytes + NEW.size; END;
CREATE TRIGGER deposits_taken AFTER DELETE ON deposits BEGIN UPDATE deposited SET bytes = bytes - OLD.size; END;
