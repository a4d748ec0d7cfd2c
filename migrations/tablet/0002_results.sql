-- One row, replaced as a whole: remembered results of writes whose WAL generation was dropped.
CREATE TABLE results (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  payload BLOB NOT NULL
) STRICT;
