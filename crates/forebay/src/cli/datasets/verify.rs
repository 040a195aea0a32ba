//! `forebay datasets verify`: whether what was kept is still what it was.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::Args;
use forebay_query::Observer;
use forebay_store::{DatasetId, Fault, Findings, Store, Verification};
use serde_json::{Value, json};

use crate::cli::{
    ask::Interrupted,
    figures::{counted, size},
    progress::Progress,
    screen::Screen,
    table::harmless,
};

/// Check that all that was kept is what it was; ends with 1 if something is damaged
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Put right what can be, and set the rest aside in `damaged` of the store
    #[arg(long)]
    repair: bool,
    /// One JSON object, for programs
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    arguments: &VerifyArguments,
    store: &Store,
    out: &mut Screen,
) -> Result<ExitCode> {
    let progress = Progress::start()?;
    let findings = store.verify(&mut Verification {
        repairs: arguments.repair,
        tell: &mut |done, id| {
            progress.progress(done, &format!("checking {id}"));
            !progress.is_cancelled()
        },
    });
    if progress.end() {
        return Err(Interrupted.into());
    }
    let findings = findings?;
    if arguments.json {
        print_json(&findings, out)?;
    } else {
        print(&findings, out)?;
    }
    let is_sound = findings.faults.iter().all(|fault| fault.remedy.is_some());
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(findings: &Findings, out: &mut Screen) -> Result<()> {
    for Fault { id, what, remedy } in &findings.faults {
        let name = id.as_ref().map_or("store", |id| id.as_str());
        let remedy = remedy.map(|remedy| format!(" ({remedy})")).unwrap_or_default();
        writeln!(out, "{name}: {}{remedy}", harmless(what))?;
    }
    let checked =
        format!("{} checked ({})", counted(findings.datasets, "dataset"), size(findings.bytes));
    match findings.faults.len() as u64 {
        0 => writeln!(out, "{checked}: all is as it was kept.")?,
        count => writeln!(out, "{checked}: {} found.", counted(count, "fault"))?,
    }
    if findings.faults.iter().any(|fault| fault.remedy.is_none()) {
        writeln!(
            out,
            "`forebay datasets verify --repair` puts right what can be, and sets the rest aside."
        )?;
    }
    Ok(())
}

fn print_json(findings: &Findings, out: &mut Screen) -> Result<()> {
    let fault = |fault: &Fault| -> Value {
        let id = fault.id.as_ref().map(DatasetId::as_str);
        json!({"id": id, "what": fault.what, "remedy": fault.remedy})
    };
    let faults: Vec<Value> = findings.faults.iter().map(fault).collect();
    let all = json!({"datasets": findings.datasets, "bytes": findings.bytes, "faults": faults});
    writeln!(out, "{all}")?;
    Ok(())
}
