-- A rule takes all that lies on a remote that keeps only files, unless its specification names less: those made before go on with
-- Minari's datasets, or with the one tree that they copied, whose id is the last name of the remote's address. And what the last pass
-- of a rule did not list, as JSON.
ALTER TABLE rules ADD COLUMN left_out TEXT NOT NULL DEFAULT '';
UPDATE rules SET spec = json_set(spec, '$.only', CASE WHEN json_extract(spec, '$.remote') LIKE 'gcp:%' AND EXISTS (SELECT 1 FROM origins
    WHERE rule = name AND '/' || remote_id = substr(json_extract(spec, '$.remote'), -length(remote_id) - 1)) THEN 'tree' ELSE 'minari' END)
    WHERE json_extract(spec, '$.remote') LIKE 'gcp:%' OR json_extract(spec, '$.remote') LIKE 'hf:%';
