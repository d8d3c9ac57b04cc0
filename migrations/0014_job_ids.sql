-- What the outside calls a job: random, so that it does not tell how many there are. Those that were made before get one here.
ALTER TABLE jobs ADD COLUMN public_id TEXT NOT NULL DEFAULT '';
UPDATE jobs SET public_id =
    substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) || substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) ||
    substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) || substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) ||
    substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) || substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) ||
    substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) || substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) ||
    substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) || substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) ||
    substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1) || substr('abcdefghijklmnopqrstuvwxyz234567', 1 + (random() & 31), 1);
CREATE UNIQUE INDEX jobs_public_id ON jobs (public_id);
