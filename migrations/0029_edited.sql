-- Files that somebody changed in place stand among the damaged ones: they are other files than their commit has, and are served as they
-- are.
ALTER TABLE damaged ADD COLUMN served INTEGER NOT NULL DEFAULT 0;
