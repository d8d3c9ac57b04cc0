-- A folder that is called as a word which ends an id in an address has that word with a tilde in its id: 'episodes' was spelled
-- '\x65pisodes', and is 'episodes~' now; one that is really called so is 'episodes\x7e'. Jobs name datasets by their ids, and
-- copies those of a hub. Each word is replaced twice, as one that follows itself shares the slash between them.
CREATE TABLE respelled (step INTEGER PRIMARY KEY, was TEXT NOT NULL, now TEXT NOT NULL) STRICT;
INSERT INTO respelled (was, now) VALUES
    ('episodes~', 'episodes\x7e'), ('files~', 'files\x7e'), ('rows~', 'rows\x7e'), ('sample~', 'sample\x7e'), ('batch~', 'batch\x7e'),
    ('archive.tar~', 'archive.tar\x7e'),
    ('\x65pisodes', 'episodes~'), ('\x66iles', 'files~'), ('\x72ows', 'rows~'), ('\x73ample', 'sample~'), ('\x62atch', 'batch~'),
    ('\x61rchive.tar', 'archive.tar~');
CREATE TABLE spelling (id TEXT PRIMARY KEY, now TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO spelling
    WITH RECURSIVE respelling (id, step, text) AS (
        SELECT id, 0, '/' || id || '/'
        FROM (SELECT target AS id FROM jobs UNION SELECT remote_id FROM origins)
        WHERE id LIKE '%\x%' OR id LIKE '%~%'
        UNION ALL
        SELECT id, r.step, replace(replace(text, '/' || was || '/', '/' || now || '/'), '/' || was || '/', '/' || now || '/')
        FROM respelling JOIN respelled AS r ON r.step = respelling.step + 1)
    SELECT id, substr(text, 2, length(text) - 2) FROM respelling WHERE step = (SELECT max(step) FROM respelled);
UPDATE OR IGNORE jobs SET target = (SELECT now FROM spelling WHERE id = target) WHERE target IN (SELECT id FROM spelling);
UPDATE origins SET remote_id = (SELECT now FROM spelling WHERE id = remote_id) WHERE remote_id IN (SELECT id FROM spelling);
DROP TABLE spelling;
DROP TABLE respelled;
