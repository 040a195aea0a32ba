//! `forebay export`: a dataset, or what a query gives, as a file.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use forebay_tools::ExportForm;

use crate::{
    cli::{
        SettingsArguments,
        ask::ask,
        exit::Exit,
        figures::{counted, size},
        screen::Screen,
        subject::SubjectArguments,
    },
    observe,
};

/// Write what was kept, or what a query gives, to a file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "forebay export [OPTIONS] <ID|--query <SQL>>")]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The form of the file [default: what the name of `--output` ends with]
    #[arg(long, value_name = "FORMAT", value_parser = forms())]
    format: Option<ExportForm>,
    /// The file, which must not exist; `-` stands for standard output [default: a dataset of its
    /// own]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay export k3v9x2ma --output issues.xlsx
  forebay export --query 'FROM list_issues WHERE stars > 100' --format parquet";

pub(crate) fn run(arguments: ExportArguments, screen: &mut Screen) -> Result<ExitCode> {
    let config = arguments.settings.load(Vec::new())?;
    let output = arguments.output.as_deref();
    let form = arguments.format.or_else(|| output.and_then(form_of));
    let form = form.ok_or_else(|| {
        let known = ExportForm::NAMED.map(|(name, _)| name).join(", ");
        Exit::Usage.told(format!("say in which form with `--format`: {known}"))
    })?;
    let given = arguments.subject.given()?;
    if output == Some(Path::new("-")) {
        if screen.is_terminal() && !form.is_text() {
            let what = "this form is not for a terminal; write it to a file, or choose csv or json";
            return Err(Exit::Refused.told(what.to_owned()));
        }
        let (mut file, notes) = ask(&config, |desk, observer| {
            forebay_tools::export_nameless(desk, &given.subject(desk)?, form, observer)
        })?;
        io::copy(&mut file, screen)?;
        for note in notes {
            observe::say(&note);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let file = ask(&config, |desk, observer| {
        forebay_tools::export(desk, &given.subject(desk)?, form, output, observer)
    })?;
    let (rows, path) = (counted(file.rows, "row"), file.path.display());
    writeln!(screen, "{rows} written to {path} ({})", size(file.bytes))?;
    for note in &file.notes {
        writeln!(screen, "{note}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The form that the name of a file says.
fn form_of(path: &Path) -> Option<ExportForm> {
    match path.extension()?.to_str()?.to_lowercase().as_str() {
        "jsonl" => ExportForm::named("ndjson"),
        extension => ExportForm::named(extension),
    }
}

fn forms() -> impl TypedValueParser<Value = ExportForm> {
    PossibleValuesParser::new(ExportForm::NAMED.map(|(name, _)| name))
        .try_map(|name| ExportForm::named(&name).ok_or("there is no such form"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_from_the_name() {
        let form = |name: &str| form_of(Path::new(name));
        assert_eq!(form("a.b/c.CSV"), ExportForm::named("csv"));
        assert_eq!(form("c.jsonl"), ExportForm::named("ndjson"));
        assert_eq!((form("c.pdf"), form("csv")), (None, None));
    }
}
