-- The catalog object's tables. Keys are texts, and WITHOUT ROWID keeps each row to one billed row.

-- A table's definition, as JSON (src/catalog/table-json.ts).
CREATE TABLE tables (
  table_id TEXT NOT NULL PRIMARY KEY,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Names are unique and listed in the order of their UTF-8 bytes, which is that of the BINARY collation.
CREATE TABLE names (
  name TEXT NOT NULL PRIMARY KEY,
  table_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tablets that were told their schema and may hold rows.
CREATE TABLE initialized (
  table_id TEXT NOT NULL,
  tablet_id TEXT NOT NULL,
  PRIMARY KEY (table_id, tablet_id)
) STRICT, WITHOUT ROWID;

-- Drops that are not finished, as JSON (src/catalog/drop-work.ts).
CREATE TABLE drops (
  table_id TEXT NOT NULL PRIMARY KEY,
  work TEXT NOT NULL
) STRICT, WITHOUT ROWID;
