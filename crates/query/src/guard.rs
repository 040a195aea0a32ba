//! The guard: whether a model's SQL may run.
//!
//! DuckDB's own parser says what a text is (`json_serialize_sql`), so a column called `created_at` is
//! a column and a string that says `DROP TABLE` is a string. Only a single SELECT has such a tree, and
//! [`tree`] looks at all of it. Two statements that may run have none: EXPLAIN, whose rest is looked
//! at instead, and a PIVOT that finds its columns in the data, for which [`pivot`] fills some in.
//!
//! Nothing is bound and nothing runs here. What passes may still be slow or large; the engine's
//! limits are for that.

mod functions;
mod pivot;
mod refusal;
#[cfg(test)]
mod tests;
mod tokens;
mod tree;

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

pub(crate) use refusal::Refusal;
use tokens::Token;

/// How long a text may be. The longest that people write have some 20 KB.
const MAX_BYTES: usize = 100_000;

/// How deep the parser's tree may be, in JSON's levels: a sum of some 190 terms, or as many subqueries.
///
/// Measured: in 2 MiB of stack the parser survives any text, and the binder a tree of 1,800 levels.
const MAX_DEPTH: usize = 400;

/// How long a row of signs may be: the time that DuckDB's scanner takes grows with its square, and
/// cannot be cut short.
const MAX_SIGNS: usize = 1_000;

/// How many expressions a ROLLUP or a CUBE may have: each makes a set of all that stand before it,
/// and the parser makes them all at once.
const MAX_GROUPED: usize = 100;

/// What a text that may run is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Approved {
    pub(crate) form: Form,
    /// The text that may run: what was given, without the semicolon at its end.
    pub(crate) sql: String,
    /// The tables that it reads, each once. Names that its own CTEs define are not among them.
    pub(crate) tables: Vec<TableName>,
    /// What the parser makes of it.
    pub(crate) tree: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Anything that is one SELECT to the parser: also FROM, VALUES, DESCRIBE, SUMMARIZE.
    Select,
    /// EXPLAIN or EXPLAIN ANALYZE of one.
    Explain,
    /// One with a PIVOT that finds its columns in the data. DuckDB makes several statements of it.
    Pivot,
}

/// The name of a table, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TableName {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

impl fmt::Display for TableName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(formatter, "{schema}.")?;
        }
        formatter.write_str(&self.name)
    }
}

/// A statement without the semicolons that end it, and what follows them: it can stand in brackets.
pub fn bare(sql: &str) -> &str {
    let end = tokens::of(sql).iter().find(|token| token.is_semicolon()).map(|token| token.start);
    &sql[..end.unwrap_or(sql.len())]
}

/// Says whether `sql` may run. Any connection will do as the `parser`: it needs none of the tables.
pub(crate) fn check(parser: &duckdb::Connection, sql: &str) -> Result<Approved, Refusal> {
    if sql.len() > MAX_BYTES {
        return Err(Refusal::TooLong { bytes: sql.len(), max: MAX_BYTES });
    }
    if sql.contains('\0') {
        return Err(Refusal::ZeroByte);
    }
    if tokens::longest_row_of_signs(sql) > MAX_SIGNS {
        return Err(Refusal::Signs { max: MAX_SIGNS });
    }
    let tokens = tokens::of(sql);
    if tokens::longest_list_behind(&tokens, &["ROLLUP", "CUBE"]) > MAX_GROUPED {
        return Err(Refusal::Grouped { max: MAX_GROUPED });
    }
    let (sql, tokens) = one_statement(sql, &tokens)?;
    let (form, text) = match without_explain(sql, tokens) {
        Some(rest) => (Form::Explain, rest),
        None => (Form::Select, sql.to_owned()),
    };
    let (form, tree) = match (parse(parser, &text)?, form) {
        (Parsed::Select(tree), form) => (form, tree),
        (Parsed::Other, Form::Select) => (Form::Pivot, pivot_of(parser, sql, tokens)?),
        (Parsed::Other, _) => return Err(Refusal::not_select(&tokens::of(&text))),
    };
    Ok(Approved { form, sql: sql.to_owned(), tables: tree::check(&tree)?, tree })
}

enum Parsed {
    /// One SELECT: its tree.
    Select(Value),
    /// A statement without a tree.
    Other,
}

/// What `json_serialize_sql` answers.
#[derive(Deserialize)]
struct Answer {
    error: bool,
    #[serde(default)]
    error_type: String,
    #[serde(default)]
    error_message: String,
    position: Option<String>,
    #[serde(default)]
    statements: Vec<Value>,
}

fn parse(parser: &duckdb::Connection, sql: &str) -> Result<Parsed, Refusal> {
    let mut statement = parser.prepare_cached("SELECT json_serialize_sql(?::VARCHAR)")?;
    let json: String = statement.query_row([sql], |row| row.get(0))?;
    if depth(&json) > MAX_DEPTH {
        return Err(Refusal::TooDeep);
    }
    let mut reader = serde_json::Deserializer::from_str(&json);
    // It has just been seen that the depth is bounded.
    reader.disable_recursion_limit();
    let mut answer = Answer::deserialize(&mut reader).map_err(Refusal::Tree)?;
    if answer.error {
        return match answer.error_type.as_str() {
            "not implemented" => Ok(Parsed::Other),
            _ => Err(Refusal::syntax(sql, &answer.error_message, answer.position.as_deref())),
        };
    }
    match (answer.statements.pop(), answer.statements.is_empty()) {
        (None, _) => Err(Refusal::Empty),
        (Some(_), false) => Err(Refusal::Several),
        (Some(tree), true) => Ok(Parsed::Select(tree)),
    }
}

/// The tree of a text with a PIVOT that finds its columns in the data.
fn pivot_of(parser: &duckdb::Connection, sql: &str, tokens: &[Token]) -> Result<Value, Refusal> {
    let Some(filled_in) = pivot::with_values(sql, tokens) else {
        return Err(Refusal::not_select(tokens));
    };
    match parse(parser, &filled_in) {
        Ok(Parsed::Select(tree)) => Ok(tree),
        Err(refusal @ Refusal::TooDeep) => Err(refusal),
        Ok(Parsed::Other) | Err(_) => Err(Refusal::not_select(tokens)),
    }
}

/// The text up to its semicolon, behind which nothing may come but others.
fn one_statement<'t>(
    sql: &'t str,
    tokens: &'t [Token<'t>],
) -> Result<(&'t str, &'t [Token<'t>]), Refusal> {
    if tokens.iter().all(Token::is_semicolon) {
        return Err(Refusal::Empty);
    }
    let Some(end) = tokens.iter().position(Token::is_semicolon) else {
        return Ok((sql, tokens));
    };
    let (statement, rest) = tokens.split_at(end);
    if !rest.iter().all(Token::is_semicolon) {
        return Err(Refusal::Several);
    }
    let end = rest.first().map_or(sql.len(), |semicolon| semicolon.start);
    Ok((sql.get(..end).unwrap_or(sql), statement))
}

/// The text with blanks for EXPLAIN and what belongs to it, if it starts so. Places stay the same.
fn without_explain(sql: &str, tokens: &[Token]) -> Option<String> {
    let (explain, mut rest) = tokens.split_first()?;
    if !explain.is_word("EXPLAIN") {
        return None;
    }
    if let [analyze, others @ ..] = rest
        && analyze.is_word("ANALYZE")
    {
        rest = others;
    }
    // `(FORMAT json)` holds options, `(SELECT …)` a query.
    if let [bracket, option, ..] = rest
        && bracket.text == "("
        && ["FORMAT", "ANALYZE"].iter().any(|it| option.is_word(it))
    {
        let close = rest.iter().position(|token| token.text == ")")?;
        rest = rest.get(close + 1..)?;
    }
    let start = rest.first()?.start;
    Some(" ".repeat(start) + sql.get(start..)?)
}

/// How deep the arrays and objects of a JSON text are nested.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
