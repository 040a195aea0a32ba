//! `forebay plot`: a chart of a dataset, or of what a query gives.

use std::{ffi::OsStr, io::Write, path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use forebay_tools::{ChartKind, Plot};

use crate::cli::{
    SettingsArguments, ask::ask, figures::counted, screen::Screen, subject::SubjectArguments,
};

/// Draw a chart of what was kept, or of what a query gives
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "forebay plot [OPTIONS] --chart <KIND> --x <COLUMN> <ID|--query <SQL>>")]
pub(crate) struct PlotArguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// What kind of chart
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    chart: ChartKind,
    /// The column along the bottom
    #[arg(long, value_name = "COLUMN")]
    x: String,
    /// The column of heights, or of a heatmap's rows; bars and lines without it count rows
    #[arg(long, value_name = "COLUMN")]
    y: Option<String>,
    /// The column that colours tell apart, or that colours a heatmap's cells
    #[arg(long, value_name = "COLUMN")]
    series: Option<String>,
    /// What stands above it
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The file, which must not exist and ends with .svg or .png [default: a dataset of its
    /// own]
    #[arg(long, short, value_name = "FILE", value_parser = picture)]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay plot k3v9x2ma --chart histogram --x duration_ms
  forebay plot list_issues --chart line --x created_at --output issues.png
  forebay plot --chart bar --x state --y issues \\
      --query 'SELECT state, count(*) AS issues FROM list_issues GROUP BY 1'";

pub(crate) fn run(arguments: PlotArguments, screen: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let PlotArguments { chart: kind, x, y, series, title, output, .. } = arguments;
    let plot = Plot { kind, x, y, series, title };
    let given = arguments.subject.given()?;
    let drawn = ask(&config, |desk, observer| {
        forebay_tools::plot(desk, &given.subject(desk)?, &plot, output.as_deref(), observer)
    })?;
    let (rows, path) = (counted(drawn.rows as u64, "row"), drawn.file.display());
    writeln!(screen, "{rows} drawn in {path}")?;
    for note in &drawn.notes {
        writeln!(screen, "{note}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn kinds() -> impl TypedValueParser<Value = ChartKind> {
    PossibleValuesParser::new(ChartKind::ALL.map(ChartKind::name))
        .try_map(|name| name.parse::<ChartKind>())
}

fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    match extension {
        Some(known) if known == "svg" || known == "png" => Ok(path),
        _ => Err("write a name that ends with .svg or .png".to_owned()),
    }
}
