//! The settings: whether they can be used, and who else can read them.

use std::path::Path;

use forebay_system::private;

use super::{Area, Finding, State, quoted};
use crate::config::{
    self, Config, Problem, Problems, Sources,
    servers::{Server, Way},
};

/// The settings as far as they can be read, and what is wrong with them.
pub(super) fn examine(sources: &Sources) -> (Option<Config>, Vec<Finding>) {
    let (config, problems) = match Config::read(sources) {
        Ok((config, problems)) => (config, problems),
        Err(Problems(problems)) => return (None, problems.iter().map(told).collect()),
    };
    let mut findings: Vec<Finding> = problems.iter().map(told).collect();
    if let Ok(file) = Config::file(sources) {
        let text = if file.exists() {
            Some(format!("Settings are read from {}.", file.display()))
        } else if config::home().is_ok_and(|home| file == home.join("forebay.toml")) {
            Some(format!("There is no {}: the defaults hold.", file.display()))
        } else {
            // One that was named and is not there is among the problems.
            None
        };
        let of_file = text.map(|text| Finding::new(Area::Settings, State::Ok, text));
        findings.splice(0..0, of_file);
        findings.extend(readers(&config, &file));
    }
    (Some(config), findings)
}

fn told(problem: &Problem) -> Finding {
    let (state, effect) = if problem.is_grave() {
        (State::Problem, "nothing starts")
    } else {
        (State::Warning, "it is passed over")
    };
    let finding = Finding::new(Area::Settings, state, format!("{problem} ({effect})."));
    match problem.variable() {
        Some(name) => finding.mended_by(format!("unset {}", quoted(name))),
        None => finding.advised(problem.advice()),
    }
}

/// Keys and passwords of servers may stand in the file.
fn readers(config: &Config, file: &Path) -> Option<Finding> {
    let may_hold_secrets = |server: &Server| match &server.way {
        Way::Command { environment, .. } => !environment.is_empty(),
        Way::Url { headers, .. } => !headers.is_empty(),
    };
    if !private::can_be_read_by_others(file) || !config.servers.iter().any(may_hold_secrets) {
        return None;
    }
    let path = file.display();
    let text = format!("Others can read {path}, which has the environment or headers of a server.");
    Some(
        Finding::new(Area::Settings, State::Warning, text)
            .mended_by(format!("chmod 600 {}", quoted(file))),
    )
}
