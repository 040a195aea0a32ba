//! Which functions may be called.

use super::Refusal;

/// The functions that may stand in a FROM: those that make rows of their arguments, or tell what is
/// the same in every DuckDB. The others read files, settings, secrets or what else is in the database.
const TABLE_FUNCTIONS: [&str; 11] = [
    "duckdb_functions",
    "duckdb_keywords",
    "generate_series",
    "icu_calendar_names",
    "json_each",
    "json_tree",
    "pg_timezone_names",
    "range",
    "repeat",
    "repeat_row",
    "unnest",
];

/// The scalar functions that are more than a function of their arguments, each with the reason.
const SCALAR_FUNCTIONS: [(&str, &str); 12] = [
    ("current_setting", SETTINGS),
    ("get_block_size", SETTINGS),
    ("getenv", "the environment is not for queries"),
    ("getvariable", "there are no variables; write the value itself"),
    // It plans the SQL that it is given, and so opens the files that are named there.
    ("json_serialize_plan", "to see a plan write EXPLAIN SELECT …"),
    ("nextval", "there are no sequences; row_number() OVER () counts rows"),
    ("currval", "there are no sequences; row_number() OVER () counts rows"),
    // Definitions of views hold paths.
    ("pg_get_constraintdef", "DESCRIBE dataset_k3v9x2ma tells the columns"),
    ("pg_get_viewdef", "DESCRIBE dataset_k3v9x2ma tells the columns"),
    ("pg_sleep", WAITS),
    ("sleep_ms", WAITS),
    ("write_log", "queries write nothing"),
];

const SETTINGS: &str = "settings are not for queries";
const WAITS: &str = "queries do not wait";

pub(super) fn check_table_function(name: &str) -> Result<(), Refusal> {
    let lower = name.to_ascii_lowercase();
    if TABLE_FUNCTIONS.contains(&lower.as_str()) {
        return Ok(());
    }
    Err(Refusal::TableFunction { name: name.to_owned() })
}

pub(super) fn check_scalar_function(name: &str) -> Result<(), Refusal> {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("read_") {
        return Err(Refusal::TableFunction { name: name.to_owned() });
    }
    // These trust the optimiser with what they are given.
    if lower.starts_with("__internal_") {
        let why = "it is DuckDB's own";
        return Err(Refusal::Function { name: name.to_owned(), why });
    }
    match SCALAR_FUNCTIONS.iter().find(|(refused, _)| *refused == lower) {
        Some((_, why)) => Err(Refusal::Function { name: name.to_owned(), why }),
        None => Ok(()),
    }
}
