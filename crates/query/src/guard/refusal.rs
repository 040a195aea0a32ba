//! Why a text may not run, and what to write instead. A model reads it.

use super::tokens::Token;

/// What to use instead of a file.
const DATASETS: &str =
    "Only kept datasets can be read, by their names, such as FROM dataset_k3v9x2ma.";

#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("There is no SQL. Write one SELECT, such as SELECT * FROM dataset_k3v9x2ma LIMIT 10.")]
    Empty,
    #[error("The SQL has {bytes} bytes; at most {max} are read. Ask for less at a time.")]
    TooLong { bytes: usize, max: usize },
    #[error(
        "The SQL has more than {max} signs or empty comments in a row, which take too long to read. \
         Leave them out."
    )]
    Signs { max: usize },
    #[error("A ROLLUP or CUBE can have at most {max} expressions. Group by fewer.")]
    Grouped { max: usize },
    #[error("The SQL holds a zero byte. Leave it out.")]
    ZeroByte,
    #[error(
        "The SQL is nested too deeply. Take parts of it out with WITH, and write IN (…) or a list \
         instead of long chains."
    )]
    TooDeep,
    #[error(
        "At most {max} `->` can stand in a row or within each other. Write one path: \
         doc->>'$.a.b.c'."
    )]
    Arrows { max: usize },
    #[error(
        "At most {max} subqueries can stand within each other. Take them out: WITH name AS \
         (SELECT …) SELECT …."
    )]
    Subqueries { max: usize },
    #[error(
        "Only one statement can run at a time. Send each on its own, or build on earlier steps with \
         WITH name AS (SELECT …) SELECT …."
    )]
    Several,
    #[error("Only one SELECT can run at a time; this is {statement}. {advice}")]
    NotSelect { statement: String, advice: &'static str },
    #[error(
        "This PIVOT cannot run without its values. Name them: PIVOT dataset_k3v9x2ma ON status IN \
         ('open', 'closed') USING count(*)."
    )]
    PivotValues,
    #[error("The function {name} is not available in FROM. {DATASETS}")]
    TableFunction { name: String },
    #[error("The function {name} is not available: {why}.")]
    Function { name: String, why: &'static str },
    #[error("Files cannot be read: {name}. {DATASETS}")]
    File { name: String },
    #[error("There are no other databases: {name}. {DATASETS}")]
    Catalog { name: String },
    #[error(
        "{name} is not available. For columns use DESCRIBE dataset_k3v9x2ma, for what there is the \
         tool list-saved-datasets."
    )]
    SystemTable { name: String },
    #[error(
        "SHOW is not available. For columns use DESCRIBE dataset_k3v9x2ma, for what there is the \
         tool list-saved-datasets."
    )]
    Show,
    #[error("Parameters such as ? and $1 cannot be given. Write the value itself.")]
    Parameter,
    #[error("{kind} is not available. Write it as a plain SELECT.")]
    Unknown { kind: String },
    #[error("{message}{place}{hint}")]
    Syntax { message: String, place: String, hint: &'static str },
    #[error("DuckDB could not read the SQL: {0}")]
    Parser(#[from] duckdb::Error),
    #[error("What DuckDB's parser says of the SQL is not understood: {0}")]
    Tree(#[source] serde_json::Error),
}

impl Refusal {
    /// For a text that is a statement, but has no tree.
    pub(super) fn not_select(tokens: &[Token]) -> Self {
        // Behind WITH, the statement comes after the bracketed ones.
        let mut depth = 0_i64;
        let mut outermost = tokens.iter().filter(|token| {
            depth += i64::from(token.text == "(") - i64::from(token.text == ")");
            depth == 0
        });
        let named = outermost.find_map(|token| Some((token.text.to_uppercase(), advice(token)?)));
        let starts_as_query = ["SELECT", "FROM", "WITH", "PIVOT", "PIVOT_WIDER", "("];
        match (named, tokens.first()) {
            (Some((statement, advice)), _) => Self::NotSelect { statement, advice },
            (None, Some(first)) if starts_as_query.iter().any(|it| first.is_word(it)) => {
                Self::PivotValues
            }
            (None, Some(first)) => {
                let statement = first.text.to_uppercase();
                Self::NotSelect { statement, advice: "Write a SELECT." }
            }
            (None, None) => Self::Empty,
        }
    }
}

fn advice(statement: &Token) -> Option<&'static str> {
    Some(match statement.text.to_uppercase().as_str() {
        "COPY" | "EXPORT" => "Files are written by export-dataset, which `--tools full` offers.",
        "CREATE" => "For intermediate results write WITH name AS (SELECT …) SELECT ….",
        "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "TRUNCATE" | "ALTER" | "DROP" | "COMMENT" => {
            "Kept data stays as it came; a SELECT computes from it whatever is needed."
        }
        "SET" | "RESET" | "PRAGMA" | "USE" => "Settings are fixed; the query runs without.",
        "ATTACH" | "DETACH" | "IMPORT" => DATASETS,
        "INSTALL" | "LOAD" => "The functions that there are need no extension.",
        "CALL" | "PREPARE" | "EXECUTE" | "DEALLOCATE" => "Write the SELECT itself.",
        "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "ABORT" | "CHECKPOINT" | "FORCE"
        | "VACUUM" | "ANALYZE" => "It is not needed here.",
        "EXPLAIN" => "EXPLAIN goes before one SELECT.",
        _ => return None,
    })
}

mod syntax {
    //! Where a text stops being SQL.

    use super::Refusal;

    /// How much of a line is shown on either side of the place.
    const WINDOW: usize = 40;

    impl Refusal {
        /// `position` is in bytes.
        pub(in super::super) fn syntax(sql: &str, message: &str, position: Option<&str>) -> Self {
            if message.starts_with("Max expression depth")
                || message.starts_with("memory exhausted")
            {
                return Self::TooDeep;
            }
            let position = position.and_then(|it| it.parse::<usize>().ok());
            let place = position.and_then(|at| place(sql, at)).unwrap_or_default();
            Self::Syntax { message: sentence(message), place, hint: hint(sql, position) }
        }
    }

    fn sentence(message: &str) -> String {
        // What the parser says where it has nothing to say.
        if message == "errhint NOT IMPLEMENTED" {
            return "LIMIT with two numbers is not known; write LIMIT 10 OFFSET 5".to_owned();
        }
        let mut letters = message.lines().next().unwrap_or_default().chars();
        letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }

    /// The line, and a ^ under the place.
    fn place(sql: &str, at: usize) -> Option<String> {
        let before = sql.get(..at)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_number = before.matches('\n').count() + 1;
        let before = sql.get(line_start..at)?;
        let after = sql.get(at..)?.lines().next().unwrap_or_default();
        let skipped = before.chars().count().saturating_sub(WINDOW);
        let shown_before: String = before.chars().skip(skipped).map(printable).collect();
        let shown_after: String = after.chars().take(WINDOW).map(printable).collect();
        let blank = " ".repeat(shown_before.chars().count());
        Some(format!(" (line {line_number}):\n  {shown_before}{shown_after}\n  {blank}^"))
    }

    fn printable(letter: char) -> char {
        if letter.is_control() { ' ' } else { letter }
    }

    fn hint(sql: &str, position: Option<usize>) -> &'static str {
        let words_before = |count: usize| {
            let before = position.and_then(|at| sql.get(..at)).unwrap_or_default();
            before.split_whitespace().rev().take(count).collect::<Vec<_>>().join(" ")
        };
        if words_before(1).eq_ignore_ascii_case("TOP") {
            return "\nFor the first rows write LIMIT 10 at the end.";
        }
        if sql.contains(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']) {
            return "\nQuotes are straight: 'text', \"column\".";
        }
        ""
    }
}
