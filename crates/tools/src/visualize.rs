//! `visualize-dataset`: a chart of a dataset, or of the result of a query.

mod column;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use forebay_chart::{Axis, Chart, ChartKind, Column as Values};
use forebay_query::{Column, Observer, Query, Selected, Source, quoted};
use forebay_store::Dataset;
use forebay_wire::walk;
use jiff::{
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};
use serde_json::{Value, json};

use crate::{
    Desk, ToolError,
    arguments::{Arguments, counted},
    definitions::Tool,
    desk::{Unnamed, unique},
    error::refuse,
    export::{self, Made, Subject},
    reply::Reply,
    visualize::column::Drawn,
};

/// How many rows are drawn at most.
const MAX_ROWS: u64 = 100_000;
/// How much is drawn at most.
const MAX_BYTES: u64 = 32_000_000;
/// How long a picture may be.
const MAX_PNG_BYTES: usize = 512 * 1024;

/// What is to be drawn.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What kind of chart.
    pub kind: ChartKind,
    /// The column along the bottom.
    pub x: String,
    /// The column of heights, or of a heatmap's rows; bars and lines without it count rows.
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
    /// The dataset that the file is, if nobody has said where to write it.
    pub dataset: Option<Dataset>,
    /// How many rows were drawn.
    pub rows: usize,
    /// What the chart does not show, or not as one may expect.
    pub notes: Vec<String>,
    /// What the names of tools in the query stood for.
    pub sources: Vec<Source>,
}

/// Draws a chart and writes it: at `path`, where there must be no file, or as a dataset that is nothing
/// but this file. It is SVG, unless the path ends with `.png`.
pub fn plot(
    desk: &Desk,
    subject: &Subject,
    plot: &Plot,
    path: Option<&Path>,
    observer: &dyn Observer,
) -> Result<Plotted, ToolError> {
    let folder = path.map(|path| export::folder_of(desk, Some(path))).transpose()?;
    let columns = desk.service().columns(&subject.query, observer)?;
    let columns = Columns::of(plot, &columns)?;
    let found = rows(desk, subject, &columns, observer)?;
    let chart = chart(plot, subject, &columns, &found)?;
    let drawing = forebay_chart::draw(&chart)?;
    let png = drawing.png(MAX_PNG_BYTES)?;
    let (file, dataset) = if let Some((path, folder)) = path.zip(folder) {
        let partial = Unnamed(folder.join(format!(".chart-{}", unique())));
        let is_png = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("png"));
        let picture = if is_png { &png } else { drawing.svg().as_bytes() };
        export::create(&partial.0)
            .and_then(|mut file| file.write_all(picture))
            .map_err(|error| export::unwritable(path, &error))?;
        (export::placed(&partial.0, path)?, None)
    } else {
        let rows = counted(found.rows.len(), "row");
        let made = Made {
            tool: Tool::Visualize,
            name: format!("{}-{}.svg", subject.name, plot.kind),
            media_type: "image/svg+xml",
            description: format!("A {} chart of {rows}", plot.kind),
            from: subject.datasets(&found.sources),
        };
        let dataset = made.keep(desk, drawing.svg().as_bytes())?;
        (dataset.path(0), Some(dataset))
    };
    let notes = drawing.notes().to_vec();
    Ok(Plotted { png, file, dataset, rows: found.rows.len(), notes, sources: found.sources })
}

/// Draws a chart that is not kept: it as SVG, and what it does not show, or not as one may expect.
pub fn drawn(
    desk: &Desk,
    subject: &Subject,
    plot: &Plot,
    observer: &dyn Observer,
) -> Result<(String, Vec<String>), ToolError> {
    let columns = desk.service().columns(&subject.query, observer)?;
    let columns = Columns::of(plot, &columns)?;
    let found = rows(desk, subject, &columns, observer)?;
    let drawing = forebay_chart::draw(&chart(plot, subject, &columns, &found)?)?;
    Ok((drawing.svg().to_owned(), drawing.notes().to_vec()))
}

pub(crate) fn answer(
    desk: &Desk,
    arguments: &Arguments,
    observer: &dyn Observer,
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
    let drawn = plot(desk, &subject, &wanted, None, observer)?;
    let picture = json!({
        "type": "image",
        "data": BASE64_STANDARD.encode(&drawn.png),
        "mimeType": "image/png",
    });
    let rows = counted(drawn.rows, "row");
    let place = export::place(desk, &drawn.file, drawn.dataset.as_ref());
    let mut said = format!("A {kind} chart of {rows}; as SVG in {place}.");
    if !drawn.notes.is_empty() {
        said = format!("{said} In the chart: {}.", drawn.notes.join("; "));
    }
    let link = drawn.dataset.and_then(|dataset| export::link(desk, &dataset));
    Ok(Reply::text(said).and(picture).and_all(link).and_sources(&drawn.sources))
}

/// The columns that are drawn.
struct Columns {
    x: Drawn,
    y: Option<Drawn>,
    series: Option<Drawn>,
}

impl Columns {
    fn of(plot: &Plot, columns: &[Column]) -> Result<Self, ToolError> {
        let optional = |role, name: &Option<String>| {
            name.as_ref().map(|name| column::drawn(columns, role, name)).transpose()
        };
        Ok(Self {
            x: column::drawn(columns, "x", &plot.x)?,
            y: optional("y", &plot.y)?,
            series: optional("series", &plot.series)?,
        })
    }

    /// Each with its role, in the order in which they are selected.
    fn all(&self) -> impl Iterator<Item = (&'static str, &Drawn)> {
        let roles =
            [("x", Some(&self.x)), ("y", self.y.as_ref()), ("series", self.series.as_ref())];
        roles.into_iter().filter_map(|(role, drawn)| Some((role, drawn?)))
    }
}

/// The rows with the columns that are drawn, each named by its role.
fn rows(
    desk: &Desk,
    subject: &Subject,
    columns: &Columns,
    observer: &dyn Observer,
) -> Result<Selected, ToolError> {
    let selected: Vec<String> =
        columns.all().map(|(role, drawn)| format!("{} AS {}", drawn.sql, quoted(role))).collect();
    let sql = forebay_query::bare(&subject.query.sql);
    let all = Query {
        sql: format!("SELECT {} FROM (\n{sql}\n)", selected.join(", ")),
        ..subject.query.clone()
    };
    let found = desk.service().select(&all, MAX_ROWS, MAX_BYTES, observer)?;
    if found.has_more {
        return refuse!(
            "There are more than {MAX_ROWS} rows, too many to draw one by one: aggregate them in a \
             query (SELECT {0}, count(*) AS rows … GROUP BY 1), or draw a sample of them (… USING \
             SAMPLE 10000 ROWS).",
            columns.x.sql
        );
    }
    Ok(found)
}

fn chart(
    plot: &Plot,
    subject: &Subject,
    columns: &Columns,
    found: &Selected,
) -> Result<Chart, ToolError> {
    let mut all = Vec::new();
    for (place, (role, drawn)) in columns.all().enumerate() {
        let Some(values) = values(&found.columns[place], place, &found.rows) else {
            return Err(column::json_is_nested(role, &drawn.name));
        };
        all.push((role, Axis { name: drawn.name.clone(), values }));
    }
    let mut axis = |wanted: &str| {
        let place = all.iter().position(|(role, _)| *role == wanted)?;
        Some(all.swap_remove(place).1)
    };
    let (y, last) = (axis("y"), axis("series"));
    let Some(x) = axis("x") else { return refuse!("visualize-dataset needs x, a column.") };
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
    let rows_are_sorted = subject.query.sql.to_lowercase().contains("order by");
    Ok(Chart { kind: plot.kind, title, subtitle, x, y, series, value, rows_are_sorted })
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

/// The values of a column; `None` if there are lists or objects among them.
fn values(column: &Column, place: usize, rows: &[String]) -> Option<Values> {
    let cells = rows.iter().map(|row| -> Value {
        let cell = walk::elements(row.as_bytes()).and_then(|mut cells| cells.nth(place));
        cell.and_then(|cell| serde_json::from_slice(cell).ok()).unwrap_or_default()
    });
    let kind = column.kind.as_str();
    if kind == "DATE" || kind.starts_with("TIMESTAMP") {
        return Some(Values::Times(cells.map(|cell| microseconds(cell.as_str()?)).collect()));
    }
    let is_number = ["INT", "DOUBLE", "FLOAT", "DECIMAL"].iter().any(|it| kind.contains(it));
    if is_number && kind != "INTERVAL" {
        return Some(Values::Numbers(cells.map(|cell| cell.as_f64()).collect()));
    }
    let text = |cell| match cell {
        Value::Null => Some(None),
        Value::String(text) => Some(Some(text)),
        Value::Bool(_) | Value::Number(_) => Some(Some(cell.to_string())),
        Value::Array(_) | Value::Object(_) => None,
    };
    Some(Values::Texts(cells.map(text).collect::<Option<_>>()?))
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
            let column = Column { name: String::new(), kind: kind.to_owned() };
            values(&column, place, &rows).unwrap()
        };
        assert!(matches!(values("BIGINT", 0), Values::Numbers(it) if it == [Some(1.0), None]));
        let Values::Times(times) = values("TIMESTAMP", 1) else { panic!() };
        assert_eq!(times, [Some(1_767_323_045_500_000), Some(1_767_312_000_000_000)]);
        let Values::Texts(texts) = values("VARCHAR", 2) else { panic!() };
        assert_eq!(texts, [Some("a".to_owned()), Some("true".to_owned())]);
    }
}
