//! Nothing of its own: the dependency holds DuckDB.
