//! `forebay query`: SQL over what was kept, for people and for programs.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Args, value_parser};
use forebay_query::{FileForm, Query, Selected};
use forebay_tools::{Desk, ToolError};
use serde_json::value::RawValue;

use crate::{
    cli::{
        SettingsArguments,
        ask::{ask, sql},
        figures::counted,
        screen::Screen,
        sheet::Sheet,
    },
    config::Config,
    observe,
};

/// Ask what was kept, in SQL
///
/// Datasets are tables by their names, and the name of a tool stands for its latest result. It is
/// DuckDB's SQL, and nothing but datasets can be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QueryArguments {
    /// The query; `-` reads it from standard input
    sql: String,
    /// What `dataset` stands for in the query
    #[arg(long, value_name = "ID")]
    dataset: Option<String>,
    /// At most this many rows [default: 100; with `--json` or `--csv` what `query.max_rows` says]
    #[arg(long, value_name = "ROWS", value_parser = value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// One JSON array of objects, for programs
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// CSV with a header
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// How many rows are shown to people who do not say how many they want.
const SHOWN: u64 = 100;

const EXAMPLES: &str = "\
Examples:
  forebay query 'SELECT status, count(*) FROM list_issues GROUP BY ALL'
  forebay query --dataset k3v9x2ma 'FROM dataset WHERE n > 9' --csv > large.csv
  forebay query - < report.sql";

pub(crate) fn run(arguments: QueryArguments, screen: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let form = match (arguments.json, arguments.csv) {
        (true, _) => Some(FileForm::Json),
        (false, true) => Some(FileForm::Csv),
        (false, false) => None,
    };
    let asked = Asked { sql: sql(arguments.sql)?, dataset: arguments.dataset };
    match form {
        Some(form) => write(&config, asked, form, arguments.limit, screen)?,
        None => show(&config, asked, arguments.limit.unwrap_or(SHOWN), screen)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A query, and the name of the dataset that it is about.
struct Asked {
    sql: String,
    dataset: Option<String>,
}

impl Asked {
    fn query(self, desk: &Desk) -> Result<Query, ToolError> {
        let mut query = Query { sql: self.sql, ..Query::default() };
        if let Some(name) = self.dataset {
            query.dataset = Some(desk.named(&name)?.0);
        }
        Ok(query)
    }
}

/// The first rows, as a table.
fn show(config: &Config, asked: Asked, limit: u64, screen: &mut Screen) -> Result<()> {
    let Selected { columns, rows, has_more, .. } = ask(config, |desk, observer| {
        Ok(desk.service().select(&asked.query(desk)?, limit, u64::MAX, observer)?)
    })?;
    let mut sheet = Sheet::new(columns.iter().map(|column| column.name.as_str()), 1);
    for row in &rows {
        sheet.push(serde_json::from_str::<Vec<&RawValue>>(row)?.into_iter().map(Some));
    }
    sheet.print(screen)?;
    if rows.is_empty() {
        writeln!(screen, "\nNo rows.")?;
    }
    if has_more {
        let shown = counted(rows.len() as u64, "row");
        writeln!(
            screen,
            "\nThe first {shown}; `--limit` shows more, `--csv` and `--json` give them all."
        )?;
    }
    Ok(())
}

/// The rows as a file of that form holds them.
fn write(
    config: &Config,
    asked: Asked,
    form: FileForm,
    limit: Option<u64>,
    out: &mut dyn Write,
) -> Result<()> {
    let most = limit.unwrap_or(config.query.max_rows);
    let (written, mut file, note) = ask(config, |desk, observer| {
        forebay_tools::rows(desk, &asked.query(desk)?, form, most, observer)
    })?;
    io::copy(&mut file, out)?;
    if let Some(note) = note {
        observe::say(&note);
    }
    if written.has_more {
        let rows = counted(written.rows, "row");
        observe::say(&format!("only the first {rows} are given; `--limit` asks for more"));
    }
    Ok(())
}
