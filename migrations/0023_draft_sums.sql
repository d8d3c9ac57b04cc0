-- What the pass that stored a file computed beside its SHA-256: buckets state these, and nobody reads the file again for them.
ALTER TABLE draft_files ADD COLUMN md5 BLOB NOT NULL DEFAULT x''; -- empty: not known
ALTER TABLE draft_files ADD COLUMN crc32c BLOB NOT NULL DEFAULT x'';
