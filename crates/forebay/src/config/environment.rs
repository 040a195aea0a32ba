//! Settings from the environment: `FOREBAY_` and the setting's name.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{
    Config, Problem, Sources,
    kind::{A_PATH, Given, path},
    problem::{self, Weight},
    settings::{PREFIX, SETTINGS, Setting},
};

/// The environment, or what stands for it.
pub(super) type Variables = [(OsString, OsString)];

const HOME: &str = "FOREBAY_HOME";
const FILE: &str = "FOREBAY_CONFIG";

/// The directory for everything of Forebay's: `FOREBAY_HOME`, or `~/.forebay`. It is absolute: paths
/// below it are given to others, who may be elsewhere.
pub(super) fn home(variables: &Variables) -> Result<PathBuf, Problem> {
    match value(variables, HOME) {
        None => {
            let home = std::env::home_dir().unwrap_or_else(std::env::temp_dir).join(".forebay");
            Ok(std::path::absolute(&home).unwrap_or(home))
        }
        Some(home) => path(home).ok_or_else(|| {
            let what = format!("cannot be `{}`; write {A_PATH}", home.display());
            Problem::of_variable(HOME, what)
        }),
    }
}

/// The file that a flag or else `FOREBAY_CONFIG` names. A relative one is looked for where we start.
pub(super) fn named_file(sources: &Sources) -> Option<PathBuf> {
    let file = sources.file.as_deref().map(Path::as_os_str);
    let file = file.or_else(|| value(&sources.variables, FILE))?;
    Some(path(file).unwrap_or_else(|| file.into()))
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

/// Takes over what is set.
pub(super) fn read(variables: &Variables, config: &mut Config, problems: &mut Vec<Problem>) {
    for setting in SETTINGS {
        let variable = setting.variable();
        let Some(given) = value(variables, &variable) else { continue };
        let set = match given.to_str() {
            Some(text) => setting.set(config, &Given::Word(text.to_owned())),
            None => Err("it is not UTF-8".to_owned()),
        };
        problems.extend(
            set.err().map(|what| Problem::of_variable(&variable, what).weighing(setting.weight())),
        );
    }
    let names = variables.iter().filter_map(|(name, _)| name.to_str());
    problems.extend(names.filter_map(unknown));
}

/// An empty variable is one that is not set: some clients cannot leave one out.
pub(super) fn value<'a>(variables: &'a Variables, name: &str) -> Option<&'a OsStr> {
    let found = variables.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
}

/// What is to be said of a variable that means nothing. It may be somebody else's, unless it was
/// meant to be one of those in which no mistake is passed over.
fn unknown(name: &str) -> Option<Problem> {
    let meant = name.strip_prefix(PREFIX)?;
    let mut known: Vec<(String, Weight)> =
        SETTINGS.iter().map(|setting| (setting.variable(), setting.weight())).collect();
    known.extend([HOME, FILE].map(|name| (name.to_owned(), Weight::Grave)));
    if known.iter().any(|(known, _)| known == name) {
        return None;
    }
    let names = known.iter().filter_map(|(known, _)| known.strip_prefix(PREFIX));
    let Some(near) = problem::nearest(meant, names) else {
        let problem = Problem::of_variable(name, "there is no such setting");
        return Some(problem.weighing(Weight::PassedOver));
    };
    let near = format!("{PREFIX}{near}");
    let weight = known.iter().find(|(known, _)| *known == near).map_or(Weight::Grave, |it| it.1);
    let what = format!("there is no such setting; did you mean `{near}`?");
    Some(Problem::of_variable(name, what).weighing(weight))
}
