-- The spelling under which file systems of other machines may take two paths of a draft for one: paths that came before are folded
-- as ASCII.
ALTER TABLE draft_files ADD COLUMN folded TEXT NOT NULL DEFAULT '';
UPDATE draft_files SET folded = lower(path);
DROP INDEX IF EXISTS draft_files_folded;
CREATE INDEX draft_files_folded ON draft_files (draft, folded);
