//! `visualize-dataset`: a chart of a dataset, or of the result of a query.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use forebay_chart::{Axis, Chart, ChartKind, Column as Values};
use forebay_query::{Column, Conduct, Query, Selected, Source, plain, quoted};
use forebay_wire::walk;
use jiff::{
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};
use serde_json::{Value, json};

use crate::{
    Desk, ToolError,
    arguments::{Arguments, counted},
    desk::{Unnamed, unique},
    error::refuse,
    export::{self, Subject},
    reply::Reply,
};

/// How many rows are drawn at most.
const MAX_ROWS: u64 = 100_000;
/// How much is drawn at most.
const MAX_BYTES: u64 = 32_000_000;
/// How long a picture may be.
const MAX_PNG_BYTES: usize = 512 * 1024;

/// How many columns are named where one is not found.
const SHOWN_COLUMNS: usize = 60;

/// What is to be drawn.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What kind of chart.
    pub kind: ChartKind,
    /// The column along the bottom.
    pub x: String,
    /// The column of heights, or of a heatmap's rows.
    pub y: Option<String>,
    /// The column that colours tell apart, or that colours a heatmap's cells.
    pub series: Option<String>,
    /// What stands above it.
    pub title: Option<String>,
}

/// A chart that was drawn.
#[derive(Debug)]
pub struct Plotted {
    /// The picture.
    pub png: Vec<u8>,
    /// The file that holds it.
    pub file: PathBuf,
    /// How many rows were drawn.
    pub rows: usize,
    /// What the names of tools in the query stood for.
    pub sources: Vec<Source>,
}

/// Draws a chart and writes it: at `path`, where there must be no file, or among the exports. It is
/// SVG, unless the path ends with `.png`.
pub fn plot(
    desk: &Desk,
    subject: &Subject,
    plot: &Plot,
    path: Option<&Path>,
    conduct: &dyn Conduct,
) -> Result<Plotted, ToolError> {
    let folder = export::folder_of(desk, path)?;
    let found = rows(desk, subject, plot, conduct)?;
    let chart = chart(plot, subject, &found)?;
    let drawing = forebay_chart::draw(&chart)?;
    let png = drawing.png(MAX_PNG_BYTES)?;
    let partial = Unnamed(folder.join(format!(".chart-{}", unique())));
    let is_png = path.and_then(Path::extension).is_some_and(|it| it.eq_ignore_ascii_case("png"));
    fs::write(&partial.0, if is_png { &png } else { drawing.svg().as_bytes() })?;
    let name = format!("{}-{}", subject.name, plot.kind);
    let file = match path {
        Some(path) => export::placed(&partial.0, path)?,
        None => export::named(&partial.0, &folder, &name, "svg")?,
    };
    Ok(Plotted { png, file, rows: found.rows.len(), sources: found.sources })
}

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    conduct: &dyn Conduct,
) -> Result<Reply, ToolError> {
    let kind = arguments.text("chart", "bar, line, scatter, histogram or heatmap")?.parse()?;
    let wanted = Plot {
        kind,
        x: arguments.text("x", "the name of a column")?,
        y: arguments.optional_text("y")?,
        series: arguments.optional_text("series")?,
        title: arguments.optional_text("title")?,
    };
    let sql = arguments.optional_text("query")?;
    let subject = Subject::new(desk, sql, arguments.dataset("dataset_id")?)?;
    let drawn = plot(desk, &subject, &wanted, None, conduct)?;
    let picture = json!({
        "type": "image",
        "data": BASE64_STANDARD.encode(&drawn.png),
        "mimeType": "image/png",
    });
    let rows = counted(drawn.rows, "row");
    let said = format!("A {kind} chart of {rows}; as SVG in {}.", drawn.file.display());
    let link = export::link(&drawn.file, "image/svg+xml");
    Ok(Reply::text(said).and(picture).and(link).and_sources(&drawn.sources))
}

/// The columns that are drawn.
fn rows(
    desk: &Desk,
    subject: &Subject,
    plot: &Plot,
    conduct: &dyn Conduct,
) -> Result<Selected, ToolError> {
    let columns = desk.service().columns(&subject.query, conduct)?;
    let mut names = Vec::new();
    for name in [Some(&plot.x), plot.y.as_ref(), plot.series.as_ref()].into_iter().flatten() {
        names.push(quoted(&column(&columns, name)?.name));
    }
    let sql = forebay_query::bare(&subject.query.sql);
    let select = |what: &str| Query {
        sql: format!("SELECT {what} FROM (\n{sql}\n)"),
        ..subject.query.clone()
    };
    let all = select(&names.join(", "));
    let found = desk.service().select(&all, MAX_ROWS, MAX_BYTES, conduct)?;
    if found.has_more {
        return refuse!(
            "There are more than {MAX_ROWS} rows, too many to draw one by one: aggregate them in a \
             query (SELECT {0}, count(*) AS rows … GROUP BY 1), or draw a sample of them (… USING \
             SAMPLE 10000 ROWS).",
            names[0]
        );
    }
    Ok(found)
}

fn chart(plot: &Plot, subject: &Subject, found: &Selected) -> Result<Chart, ToolError> {
    let axis = |name: &String| -> Result<Axis, ToolError> {
        let column = column(&found.columns, name)?;
        let place = found.columns.iter().position(|it| it.name == column.name).unwrap_or_default();
        Ok(Axis { name: column.name.clone(), values: values(column, place, &found.rows) })
    };
    let y = plot.y.as_ref().map(axis).transpose()?;
    let last = plot.series.as_ref().map(axis).transpose()?;
    let (series, value) = match plot.kind {
        ChartKind::Heatmap => (None, last),
        ChartKind::Bar | ChartKind::Line | ChartKind::Scatter | ChartKind::Histogram => {
            (last, None)
        }
    };
    let title = plot.title.clone().unwrap_or_else(|| title(plot));
    let rows = counted(found.rows.len(), "row");
    let origin = subject.name.starts_with("dataset_").then_some(&subject.name);
    let subtitle = Some(origin.map_or_else(|| rows.clone(), |name| format!("{name} · {rows}")));
    Ok(Chart { kind: plot.kind, title, subtitle, x: axis(&plot.x)?, y, series, value })
}

/// What a chart without a title is called.
fn title(plot: &Plot) -> String {
    let what = plot.y.as_deref().unwrap_or("Rows");
    match plot.kind {
        ChartKind::Histogram => format!("Distribution of {}", plot.x),
        ChartKind::Heatmap => {
            format!("{} by {} and {what}", plot.series.as_deref().unwrap_or("Rows"), plot.x)
        }
        ChartKind::Bar | ChartKind::Line | ChartKind::Scatter => format!("{what} by {}", plot.x),
    }
}

/// The column with this name; one that is not there is told with those that are.
fn column<'c>(columns: &'c [Column], name: &str) -> Result<&'c Column, ToolError> {
    let found = columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    if let Some(column) = found {
        return Ok(column);
    }
    let names = || columns.iter().map(|column| column.name.as_str());
    let meant = forebay_query::nearest(name, names());
    let meant = meant.map(|it| format!(" Did you mean {}?", plain(it)));
    let known: Vec<String> = names().take(SHOWN_COLUMNS).map(plain).collect();
    refuse!(
        "There is no column {}.{} The columns are {}.",
        plain(name),
        meant.unwrap_or_default(),
        known.join(", ")
    )
}

fn values(column: &Column, place: usize, rows: &[String]) -> Values {
    let cells = rows.iter().map(|row| -> Value {
        let cell = walk::elements(row.as_bytes()).and_then(|mut cells| cells.nth(place));
        cell.and_then(|cell| serde_json::from_slice(cell).ok()).unwrap_or_default()
    });
    let kind = column.kind.as_str();
    if kind == "DATE" || kind.starts_with("TIMESTAMP") {
        return Values::Times(cells.map(|cell| microseconds(cell.as_str()?)).collect());
    }
    let is_number = ["INT", "DOUBLE", "FLOAT", "DECIMAL"].iter().any(|it| kind.contains(it));
    if is_number && !kind.ends_with(']') && kind != "INTERVAL" {
        return Values::Numbers(cells.map(|cell| cell.as_f64()).collect());
    }
    Values::Texts(
        cells
            .map(|cell| match cell {
                Value::Null => None,
                Value::String(text) => Some(text),
                other => Some(other.to_string()),
            })
            .collect(),
    )
}

/// A time as DuckDB writes it, in microseconds since 1970.
fn microseconds(text: &str) -> Option<i64> {
    let text = text.trim_end_matches("+00");
    let time: DateTime = if text.contains([' ', 'T']) {
        text.parse().ok()?
    } else {
        text.parse::<Date>().ok()?.to_datetime(Time::midnight())
    };
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_times_or_texts() {
        let rows = [
            "[1,\"2026-01-02 03:04:05.5\",\"a\"]".to_owned(),
            "[null,\"2026-01-02\",true]".to_owned(),
        ];
        let values = |kind: &str, place| {
            values(&Column { name: String::new(), kind: kind.to_owned() }, place, &rows)
        };
        assert!(matches!(values("BIGINT", 0), Values::Numbers(it) if it == [Some(1.0), None]));
        let Values::Times(times) = values("TIMESTAMP", 1) else { panic!() };
        assert_eq!(times, [Some(1_767_323_045_500_000), Some(1_767_312_000_000_000)]);
        let Values::Texts(texts) = values("VARCHAR", 2) else { panic!() };
        assert_eq!(texts, [Some("a".to_owned()), Some("true".to_owned())]);
    }

    #[test]
    fn an_unknown_column_is_told_with_those_that_there_are() {
        let columns = [Column { name: "amount".into(), kind: "DOUBLE".into() }];
        let error = column(&columns, "amonut").unwrap_err().told();
        assert!(error.contains("Did you mean amount?"), "{error}");
    }
}
