-- A tablet object's fixed tables. WAL generations are tables of their own, made and dropped as they come and go
-- (src/server/sql-statements.ts).

-- One row, replaced as a whole: it names everything else that is alive.
CREATE TABLE superblock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  payload BLOB NOT NULL
) STRICT;
