//! Refuses comparisons of something else than what is meant: of a JSON value by its text, in orders and
//! functions too, and of a time without its offset.
//!
//! DuckDB takes `a.d = '3'` where `a` is JSON, compares the text `"3"`, quotes included, with `3`, and
//! finds nothing, without a word. What a part of a query is, only DuckDB can say: so each part that
//! matters is asked for alone, over the same tables, and only its type is looked at. Where that cannot
//! be asked, as in a correlated subquery, the query runs as it is.

use duckdb::Connection;
use forebay_text::Time;
use serde_json::{Value, json};

use crate::{
    QueryError,
    engine::{Engine, View},
};

/// A query has rarely more parts that matter.
const MAX_PARTS: usize = 64;

/// Functions that take JSON for what it is.
const WELCOME: [&str; 20] = [
    "->",
    "->>",
    "count",
    "typeof",
    "any_value",
    "first",
    "last",
    "list",
    "array_agg",
    "to_json",
    "row",
    "struct_pack",
    "list_value",
    "unnest",
    "alias",
    "error",
    "lag",
    "lead",
    "first_value",
    "last_value",
];

/// Functions that compare what they take, or what is in it.
const ORDERING: [&str; 16] = [
    "max",
    "min",
    "greatest",
    "least",
    "arg_max",
    "arg_min",
    "max_by",
    "min_by",
    "list_sort",
    "list_reverse_sort",
    "list_max",
    "list_min",
    "list_contains",
    "list_has",
    "list_position",
    "list_distinct",
];

/// Refuses a query that compares, orders or computes with JSON values as if they were texts, or compares
/// times without their offsets.
pub(crate) fn check(
    engine: &Engine,
    parser: &Connection,
    tree: &Value,
    views: &[View],
) -> Result<(), QueryError> {
    let text = tree.to_string();
    let mentions_json = |view: &View| {
        let columns = engine.describe(&view.select).unwrap_or_default();
        // Every history has `_arguments`, for which few queries ask.
        let may_matter = |name: &str| name != "_arguments" || text.contains(name);
        columns.iter().any(|column| column.kind.contains("JSON") && may_matter(&column.name))
    };
    let makes_json = text.contains("\"->\"") || text.contains("json");
    if !makes_json && !has_offset(tree) && !views.iter().any(mentions_json) {
        return Ok(());
    }
    let mut asker = Asker { engine, parser, left: MAX_PARTS, refused: None };
    asker.look(&tree["node"], &Scope::default());
    match asker.refused {
        Some(said) => Err(QueryError::Refused(said)),
        None => Ok(()),
    }
}

/// The SELECT that an expression belongs to.
#[derive(Default, Clone)]
struct Scope<'t> {
    node: Option<&'t Value>,
    /// The common table expressions around it, the outermost first.
    tables: Vec<&'t Value>,
}

struct Asker<'e> {
    engine: &'e Engine,
    parser: &'e Connection,
    left: usize,
    refused: Option<String>,
}

impl Asker<'_> {
    /// Goes through a tree, in which SELECTs may lie anywhere.
    fn look<'t>(&mut self, tree: &'t Value, scope: &Scope<'t>) {
        if self.refused.is_some() || self.left == 0 {
            return;
        }
        match tree {
            Value::Array(parts) => parts.iter().for_each(|part| self.look(part, scope)),
            Value::Object(members) => {
                let own = (tree["type"] == "SELECT_NODE").then(|| scope.within(tree));
                let scope = own.as_ref().unwrap_or(scope);
                let (parts, use_of) = operands(tree);
                if use_of == Use::Order {
                    self.compare_times(&parts, scope);
                }
                for part in parts {
                    self.judge(part, use_of, scope);
                }
                // Also of the rows of a window.
                for order in tree["orders"].as_array().into_iter().flatten() {
                    for part in scope.ordered(&order["expression"]) {
                        self.judge(part, Use::Order, scope);
                    }
                }
                members.values().for_each(|part| self.look(part, scope));
            }
            _ => {}
        }
    }

    /// Refuses the query if a time is compared with one whose offset would be dropped.
    fn compare_times(&mut self, parts: &[&Value], scope: &Scope<'_>) {
        let Some((given, utc)) = parts.iter().find_map(|part| with_offset(part)) else { return };
        let is_time = |part: &&&Value| {
            part["class"] != "CONSTANT" && self.kind(part, scope).as_deref() == Some("TIMESTAMP")
        };
        let Some(time) = parts.iter().find(is_time).map(|part| self.shown(part)) else { return };
        // Written as it is, it has no offset either.
        if !time.trim_end_matches('"').ends_with("_local") {
            self.refused = Some(format!(
                "{time} is in UTC, and '{given}' would lose its offset: write '{utc}'."
            ));
        }
    }

    /// Refuses the query if an expression that is used as a plain value is JSON.
    fn judge(&mut self, expression: &Value, use_of: Use, scope: &Scope<'_>) {
        // As a text it has its quotes.
        let is_text = expression["class"] == "CAST" && expression["cast_type"]["id"] == "VARCHAR";
        let value = if is_text { &expression["child"] } else { expression };
        if self.refused.is_some() || self.left == 0 || value["class"] == "CONSTANT" {
            return;
        }
        self.left -= 1;
        // A name is a column's before it is an alias.
        let (value, kind) = if let Some(kind) = self.kind(value, scope) {
            (value, Some(kind))
        } else {
            let value = scope.aliased(value);
            (value, self.kind(value, scope))
        };
        match kind.as_deref() {
            Some("JSON") => self.refused = Some(self.advice(value, scope)),
            // Lists and structs are ordered by what is in them.
            Some(kind) if use_of == Use::Order && has_json(kind) => {
                self.refused = Some(format!(
                    "{} holds JSON ({kind}), which is not compared or ordered by its value. Compare what \
                     is in it, as a text or a number: ->> or TRY_CAST(… AS DOUBLE).",
                    self.shown(value)
                ));
            }
            _ => {}
        }
    }

    /// The type of an expression, if it can be asked for alone.
    fn kind(&self, expression: &Value, scope: &Scope<'_>) -> Option<String> {
        let sql = self.sql(&scope.select(expression)?)?;
        let columns = self.engine.describe(&sql).ok()?;
        columns.into_iter().next().map(|column| column.kind)
    }

    /// What to write instead of an expression that is JSON.
    fn advice(&self, expression: &Value, scope: &Scope<'_>) -> String {
        let shown = self.shown(expression);
        let text = match expression["class"].as_str() {
            Some("COLUMN_REF") => self.member(expression, scope),
            // To the parser, an arrow may also be a function without a name.
            Some("FUNCTION" | "LAMBDA") => {
                shown.rsplit_once(" -> ").map(|(before, after)| format!("{before} ->> {after}"))
            }
            _ => None,
        };
        let text = text.unwrap_or_else(|| format!("({shown} ->> '$')"));
        format!(
            "{shown} is JSON, which is not compared, ordered or computed with by its value. Write {text} \
             for a text, or TRY_CAST({text} AS DOUBLE) for a number. A list in it: \
             unnest({shown} -> '$[*]')."
        )
    }

    /// `a.d`, where `a` is JSON, as `(a ->> 'd')`.
    fn member(&self, column: &Value, scope: &Scope<'_>) -> Option<String> {
        let names = column["column_names"].as_array()?;
        for count in 1..names.len() {
            let mut outer = column.clone();
            outer["column_names"] = names[..count].to_vec().into();
            if self.kind(&outer, scope).as_deref() == Some("JSON") {
                let path: Vec<&str> = names[count..].iter().filter_map(Value::as_str).collect();
                let way = match path.as_slice() {
                    [key] => (*key).to_owned(),
                    keys => format!("$.{}", keys.join(".")),
                };
                return Some(format!("({} ->> '{}')", self.shown(&outer), way.replace('\'', "''")));
            }
        }
        None
    }

    /// An expression as it is written.
    fn shown(&self, expression: &Value) -> String {
        let select = Scope::default().select(expression);
        let sql = select.and_then(|select| self.sql(&select)).unwrap_or_default();
        sql.strip_prefix("SELECT ").unwrap_or(&sql).to_owned()
    }

    fn sql(&self, statement: &Value) -> Option<String> {
        let tree = json!({"error": false, "statements": [statement]}).to_string();
        let mut ask = self.parser.prepare_cached("SELECT json_deserialize_sql(?::JSON)").ok()?;
        ask.query_row([tree], |row| row.get(0)).ok()
    }
}

impl<'t> Scope<'t> {
    fn within(&self, node: &'t Value) -> Self {
        let mut tables = self.tables.clone();
        tables.extend(node["cte_map"]["map"].as_array().into_iter().flatten());
        Self { node: Some(node), tables }
    }

    fn selected(&self) -> &'t [Value] {
        let selected = self.node.and_then(|node| node["select_list"].as_array());
        selected.map(Vec::as_slice).unwrap_or_default()
    }

    /// What an ORDER BY stands for: the number of a column for the column, `ALL` for all of them.
    fn ordered<'v>(&self, expression: &'v Value) -> Vec<&'v Value>
    where
        't: 'v,
    {
        if expression["class"] == "STAR" {
            return self.selected().iter().filter(|one| one["class"] != "STAR").collect();
        }
        let number = expression["value"]["value"].as_u64();
        let index = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        vec![index.and_then(|index| self.selected().get(index)).unwrap_or(expression)]
    }

    /// What a name stands for: the alias of a column for the column.
    fn aliased<'v>(&self, expression: &'v Value) -> &'v Value
    where
        't: 'v,
    {
        let [name] = expression["column_names"].as_array().map(Vec::as_slice).unwrap_or_default()
        else {
            return expression;
        };
        let is_alias = |one: &&Value| one["alias"] == *name && one["class"] != "STAR";
        self.selected().iter().find(is_alias).unwrap_or(expression)
    }

    /// A statement that selects nothing but an expression.
    fn select(&self, expression: &Value) -> Option<Value> {
        const EMPTY: &str = r#"{"type":"SELECT_NODE","modifiers":[],"cte_map":{"map":[]},
            "select_list":[],"from_table":{"type":"EMPTY","alias":"","sample":null},
            "where_clause":null,"group_expressions":[],"group_sets":[],
            "aggregate_handling":"STANDARD_HANDLING","having":null,"sample":null,"qualify":null}"#;
        let mut node: Value = serde_json::from_str(EMPTY).ok()?;
        if let Some(own) = self.node {
            node["from_table"] = own["from_table"].clone();
            node["cte_map"]["map"] = self.tables.iter().map(|table| (*table).clone()).collect();
        }
        let mut expression = expression.clone();
        expression["alias"] = "".into();
        node["select_list"] = vec![expression].into();
        Some(json!({"node": node, "named_param_map": []}))
    }
}

/// What a value is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is compared with others, together with what is in it.
    Order,
    /// A function takes it.
    Argument,
}

/// The parts of an expression that are used as plain values.
fn operands(tree: &Value) -> (Vec<&Value>, Use) {
    let all = |key: &str| tree[key].as_array().into_iter().flatten().collect::<Vec<&Value>>();
    match tree["class"].as_str() {
        Some("COMPARISON") => (vec![&tree["left"], &tree["right"]], Use::Order),
        Some("BETWEEN") => (vec![&tree["input"], &tree["lower"], &tree["upper"]], Use::Order),
        Some("OPERATOR") if is_one_of(&tree["type"], &["COMPARE_IN", "COMPARE_NOT_IN"]) => {
            (all("children"), Use::Order)
        }
        // `IN (SELECT …)`, `= ANY (SELECT …)`.
        Some("SUBQUERY") if tree["child"].is_object() => (vec![&tree["child"]], Use::Order),
        Some("FUNCTION" | "WINDOW") => {
            let name = tree["function_name"].as_str().unwrap_or_default().to_lowercase();
            let is_welcome = WELCOME.contains(&name.as_str()) || name.contains("json");
            let is_order = ORDERING.contains(&name.as_str());
            let use_of = if is_order { Use::Order } else { Use::Argument };
            (if is_welcome { Vec::new() } else { all("children") }, use_of)
        }
        _ => (Vec::new(), Use::Argument),
    }
}

/// A text that is a time with an offset, and what it is in UTC.
fn with_offset(expression: &Value) -> Option<(&str, String)> {
    let is_time = expression["class"] == "CAST" && expression["cast_type"]["id"] == "TIMESTAMP";
    let constant = if is_time { &expression["child"] } else { expression };
    let text = constant["value"]["value"].as_str().filter(|_| constant["class"] == "CONSTANT")?;
    Some((text, Time::read(text).filter(Time::has_offset)?.utc()?))
}

/// True if there is such a text anywhere.
fn has_offset(tree: &Value) -> bool {
    match tree {
        Value::Array(parts) => parts.iter().any(has_offset),
        Value::Object(members) => with_offset(tree).is_some() || members.values().any(has_offset),
        _ => false,
    }
}

/// True if a type has JSON in it.
fn has_json(kind: &str) -> bool {
    kind.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word == "JSON")
}

fn is_one_of(value: &Value, names: &[&str]) -> bool {
    value.as_str().is_some_and(|value| names.contains(&value))
}
