-- What SQLite cannot guess without having counted: `project` leaves nearly all rows of a table, a cache key leaves two.
-- Without it, a look-up of eight keys reads every judgment of the project. Counting (`ANALYZE`) would make plans
-- depend on when it ran.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('judgments', 'sqlite_autoindex_judgments_1', '1000000 1'),
    ('judgments', 'sqlite_autoindex_judgments_2', '1000000 1000000 10000 10 5 2 1 1 1'),
    ('judgments', 'judgments_cached', '1000000 1000000 2 1');
ANALYZE sqlite_schema;
