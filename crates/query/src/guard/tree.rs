//! What stands in a SELECT, wherever it is nested: its tables and functions.

use serde_json::{Map, Value};

use super::{
    Refusal, TableName,
    functions::{check_scalar_function, check_table_function},
};

/// What a query may be made of. The parser gives a tree only for these; one that is new to us is
/// refused until it is known what it does.
const NODES: [&str; 4] = ["SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"];

/// How many `->` may stand within each other. The binder tries both meanings of each, lambda and JSON,
/// so that its time doubles: with 10 it takes a millisecond, with 20 a second, with 30 a quarter hour.
const MAX_ARROWS: usize = 10;

/// How many subqueries may stand within each other in expressions. The planner's time grows as much with
/// each, and it cannot be interrupted: with 8 it takes half a second, with 12 a minute.
const MAX_SUBQUERIES: usize = 8;

const SYSTEM_SCHEMAS: [&str; 3] = ["information_schema", "pg_catalog", "system"];
/// The views that are found without a schema. A tool's name may begin as theirs do.
pub(super) const SYSTEM_VIEWS: [&str; 36] = [
    "duckdb_columns",
    "duckdb_constraints",
    "duckdb_databases",
    "duckdb_indexes",
    "duckdb_logs",
    "duckdb_schemas",
    "duckdb_tables",
    "duckdb_types",
    "duckdb_views",
    "pg_am",
    "pg_attrdef",
    "pg_attribute",
    "pg_class",
    "pg_collation",
    "pg_constraint",
    "pg_database",
    "pg_depend",
    "pg_description",
    "pg_enum",
    "pg_index",
    "pg_indexes",
    "pg_namespace",
    "pg_prepared_statements",
    "pg_proc",
    "pg_sequence",
    "pg_sequences",
    "pg_settings",
    "pg_tables",
    "pg_tablespace",
    "pg_type",
    "pg_views",
    "pragma_database_list",
    "sqlite_master",
    "sqlite_schema",
    "sqlite_temp_master",
    "sqlite_temp_schema",
];

/// How names end that DuckDB takes for files.
const FILE_EXTENSIONS: [&str; 20] = [
    "arrow", "avro", "bz2", "csv", "db", "duckdb", "geojson", "gz", "ipc", "json", "jsonl",
    "ndjson", "parquet", "sqlite", "tsv", "txt", "xlsx", "xml", "zip", "zst",
];

/// The tables of a tree in which all is allowed.
pub(super) fn check(tree: &Value) -> Result<Vec<TableName>, Refusal> {
    let mut walk = Walk::default();
    walk.visit(tree)?;
    Ok(walk.tables)
}

#[derive(Default)]
struct Walk {
    tables: Vec<TableName>,
    /// The names of CTEs that can be seen from here.
    ctes: Vec<String>,
    arrows: usize,
    subqueries: usize,
}

impl Walk {
    fn visit(&mut self, value: &Value) -> Result<(), Refusal> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(item)),
            Value::Object(object) => self.visit_object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn visit_object(&mut self, object: &Map<String, Value>) -> Result<(), Refusal> {
        if object.contains_key("cte_map") {
            return self.visit_query(object);
        }
        match (text(object, "type"), text(object, "class")) {
            ("BASE_TABLE", _) => self.add_table(object)?,
            ("TABLE_FUNCTION", _) => return self.visit_table_function(object),
            ("SHOW_REF", _) if object.get("query").is_none_or(Value::is_null) => {
                return Err(Refusal::Show);
            }
            (_, "PARAMETER") => return Err(Refusal::Parameter),
            (_, "LAMBDA") => return self.visit_arrow(object),
            (_, "SUBQUERY") => return self.visit_subquery(object),
            _ => {}
        }
        if let Some(Value::String(name)) = object.get("function_name") {
            check_scalar_function(name)?;
        }
        self.visit_fields(object)
    }

    fn visit_fields(&mut self, object: &Map<String, Value>) -> Result<(), Refusal> {
        object.values().try_for_each(|value| self.visit(value))
    }

    /// A CTE can be seen by those after it and by the query, and by itself in its recursive half.
    fn visit_query(&mut self, query: &Map<String, Value>) -> Result<(), Refusal> {
        let kind = text(query, "type");
        if !NODES.contains(&kind) {
            return Err(Refusal::Unknown { kind: kind.to_owned() });
        }
        let visible_outside = self.ctes.len();
        for cte in query["cte_map"]["map"].as_array().into_iter().flatten() {
            self.visit(&cte["value"])?;
            self.ctes.extend(cte["key"].as_str().map(str::to_ascii_lowercase));
        }
        let (recursive, others): (Vec<_>, Vec<_>) = query
            .iter()
            .filter(|(field, _)| *field != "cte_map")
            .partition(|(field, _)| *field == "right" && kind == "RECURSIVE_CTE_NODE");
        others.into_iter().try_for_each(|(_, value)| self.visit(value))?;
        self.ctes.push(text(query, "cte_name").to_ascii_lowercase());
        recursive.into_iter().try_for_each(|(_, value)| self.visit(value))?;
        self.ctes.truncate(visible_outside);
        Ok(())
    }

    fn visit_table_function(&mut self, table: &Map<String, Value>) -> Result<(), Refusal> {
        let Some(Value::Object(function)) = table.get("function") else {
            return Err(Refusal::Unknown { kind: "TABLE_FUNCTION".to_owned() });
        };
        check_table_function(text(function, "function_name"))?;
        self.visit_fields(function)?;
        table
            .iter()
            .filter(|(field, _)| *field != "function")
            .try_for_each(|(_, value)| self.visit(value))
    }

    fn visit_arrow(&mut self, lambda: &Map<String, Value>) -> Result<(), Refusal> {
        self.arrows += 1;
        if self.arrows > MAX_ARROWS {
            return Err(Refusal::Arrows { max: MAX_ARROWS });
        }
        self.visit_fields(lambda)?;
        self.arrows -= 1;
        Ok(())
    }

    fn visit_subquery(&mut self, subquery: &Map<String, Value>) -> Result<(), Refusal> {
        self.subqueries += 1;
        if self.subqueries > MAX_SUBQUERIES {
            return Err(Refusal::Subqueries { max: MAX_SUBQUERIES });
        }
        self.visit_fields(subquery)?;
        self.subqueries -= 1;
        Ok(())
    }

    fn add_table(&mut self, table: &Map<String, Value>) -> Result<(), Refusal> {
        let (catalog, schema) = (text(table, "catalog_name"), text(table, "schema_name"));
        let name = text(table, "table_name");
        // To DuckDB, too, only the letters of ASCII have capitals.
        let lower = name.to_ascii_lowercase();
        // `recurring` is what a recursive CTE has found so far.
        if catalog.is_empty()
            && (schema.is_empty() || schema.eq_ignore_ascii_case("recurring"))
            && self.ctes.contains(&lower)
        {
            return Ok(());
        }
        let parts = [catalog, schema, name];
        let whole = parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(".");
        // `server.csv` may be a tool; `"server.csv"` cannot.
        let is_one_word = schema.is_empty();
        if is_path(&whole) || is_one_word && has_file_extension(name) {
            return Err(Refusal::File { name: whole });
        }
        if is_system(&schema.to_ascii_lowercase(), &lower) {
            return Err(Refusal::SystemTable { name: whole });
        }
        if !catalog.is_empty() {
            return Err(Refusal::Catalog { name: whole });
        }
        let schema = Some(schema.to_owned()).filter(|it| !it.is_empty());
        let table = TableName { schema, name: name.to_owned() };
        if !self.tables.contains(&table) {
            self.tables.push(table);
        }
        Ok(())
    }
}

fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', ':', '*', '?'])
}

fn has_file_extension(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|it| FILE_EXTENSIONS.contains(&it.as_str()))
}

fn is_system(schema: &str, name: &str) -> bool {
    SYSTEM_SCHEMAS.contains(&schema) || SYSTEM_VIEWS.contains(&name)
}

fn text<'a>(object: &'a Map<String, Value>, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}
