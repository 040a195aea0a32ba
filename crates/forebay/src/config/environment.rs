//! Settings from the environment: `FOREBAY_` and the setting's name.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use super::{Config, Problem, Setting, Sources, kind::Given, problem, settings::SETTINGS};

type Variables = [(OsString, OsString)];

pub(super) const PREFIX: &str = "FOREBAY_";
const HOME: &str = "FOREBAY_HOME";
const FILE: &str = "FOREBAY_CONFIG";

/// The directory for everything of Forebay's: `FOREBAY_HOME`, or `~/.forebay`. It is absolute: paths
/// below it are given to others, who may be elsewhere.
pub(super) fn home(variables: &Variables) -> PathBuf {
    let home = value(variables, HOME).map_or_else(
        || std::env::home_dir().unwrap_or_else(std::env::temp_dir).join(".forebay"),
        PathBuf::from,
    );
    std::path::absolute(&home).unwrap_or(home)
}

/// The file of settings: the one that a flag or `FOREBAY_CONFIG` names, or that in its usual place.
pub(super) fn file(sources: &Sources) -> PathBuf {
    let variables = &sources.variables;
    let named = sources.file.clone().or_else(|| value(variables, FILE).map(PathBuf::from));
    named.unwrap_or_else(|| home(variables).join("forebay.toml"))
}

/// True if someone named the file: then it must be there.
pub(super) fn is_named(sources: &Sources) -> bool {
    sources.file.is_some() || value(&sources.variables, FILE).is_some()
}

/// What a variable says of a setting.
pub(super) fn given(sources: &Sources, setting: &Setting) -> Option<String> {
    let given = value(&sources.variables, &setting.variable())?;
    Some(given.to_string_lossy().into_owned())
}

/// Where the directory for everything comes from.
pub(super) fn origin_of_home(sources: &Sources) -> String {
    let is_set = value(&sources.variables, HOME).is_some();
    if is_set { HOME.to_owned() } else { "default".to_owned() }
}

/// Takes over what is set. Returns warnings about variables that mean nothing: they may be somebody
/// else's, and are no reason to stop.
pub(super) fn read(
    variables: &Variables,
    config: &mut Config,
    problems: &mut Vec<Problem>,
) -> Vec<Problem> {
    for setting in SETTINGS {
        let variable = setting.variable();
        let Some(given) = value(variables, &variable) else { continue };
        let set = match given.to_str() {
            Some(text) => setting.set(config, &Given::Word(text.to_owned())),
            None => Err("it is not UTF-8".to_owned()),
        };
        problems.extend(set.err().map(|what| Problem::of_variable(&variable, what)));
    }
    let names = variables.iter().filter_map(|(name, _)| name.to_str());
    names.filter_map(unknown).collect()
}

/// An empty variable is one that is not set: some clients cannot leave one out.
fn value<'a>(variables: &'a Variables, name: &str) -> Option<&'a OsStr> {
    let found = variables.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
}

fn unknown(name: &str) -> Option<Problem> {
    let meant = name.strip_prefix(PREFIX)?;
    let mut known: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    known.extend([HOME, FILE].map(str::to_owned));
    if known.iter().any(|known| known == name) {
        return None;
    }
    let known = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
    let what = match problem::nearest(meant, known) {
        Some(near) => format!("there is no such setting; did you mean `{PREFIX}{near}`?"),
        None => "there is no such setting".to_owned(),
    };
    Some(Problem::of_variable(name, what))
}
