//! Settings from the environment: `FOREBAY_` and the setting's name.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{
    Config, Problem, Sources,
    kind::{A_PATH, Given, path},
    problem::{self, Weight},
    settings::{self, PREFIX, Setting},
};

/// The environment, or what stands for it.
pub(super) type Variables = [(OsString, OsString)];

/// Variables that others know, and the settings that they stand for here.
const OTHERS: [(&str, &str); 2] = [
    ("MCP_GATEWAY_CHROMA_URL", "search.chroma_url"),
    ("MCP_GATEWAY_SUMMARY_THRESHOLD_BYTES", "summaries.threshold_bytes"),
];

/// A secret, which no file holds.
pub(crate) const CHROMA_TOKEN: &str = "FOREBAY_CHROMA_TOKEN";
/// With the key of Google's models, this one means that they are asked.
const INTELLIGENCE: &str = "MCP_GATEWAY_INTELLIGENCE_ENABLED";
const GEMINI_KEY: &str = "GEMINI_API_KEY";

/// Variables that `forebay install` writes into entries of clients: a URL, and the values of headers.
const URL_OF_ENTRY: &str = "FOREBAY_URL";
const HEADER_OF_ENTRY: &str = "FOREBAY_HEADER_";

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

/// What a variable says of a setting, and which one does. What is passed over says nothing.
pub(super) fn given(sources: &Sources, setting: &Setting) -> Option<(String, String)> {
    let holds = |word: &String| {
        setting.set(&mut Config::kept_in(PathBuf::new()), &Given::Word(word.clone())).is_ok()
    };
    let variable = setting.variable();
    let of_ours = value(&sources.variables, &variable).and_then(OsStr::to_str).map(str::to_owned);
    let of_ours = of_ours.filter(holds).map(|given| (given, variable));
    of_ours.or_else(|| {
        let other = of_others(&sources.variables, setting.key).filter(|(_, given)| holds(given));
        other.map(|(variable, given)| (given, variable.to_owned()))
    })
}

/// What a variable that others know, too, says of a setting.
fn of_others(variables: &Variables, key: &str) -> Option<(&'static str, String)> {
    if key == "summaries.provider" {
        let is_meant = is_on(variables, INTELLIGENCE) && value(variables, GEMINI_KEY).is_some();
        return is_meant.then(|| (INTELLIGENCE, "gemini".to_owned()));
    }
    let (variable, _) = OTHERS.iter().find(|(_, known)| *known == key)?;
    Some((variable, value(variables, variable)?.to_string_lossy().into_owned()))
}

fn is_on(variables: &Variables, name: &str) -> bool {
    value(variables, name).is_some_and(|given| switch(given) == Some(true))
}

/// What a switch that others know, too, is set to; `None` if that is neither on nor off.
fn switch(given: &OsStr) -> Option<bool> {
    match given.to_str()?.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// What is to be said of a wish about models that is neither on nor off.
fn wish_unclear(variables: &Variables) -> Option<Problem> {
    let given = value(variables, INTELLIGENCE).filter(|given| switch(given).is_none())?;
    let given = Given::Word(given.to_string_lossy().into_owned());
    let what = format!("cannot be {given}; write `true` or `false`");
    Some(Problem::of_variable(INTELLIGENCE, what).weighing(Weight::PassedOver))
}

/// What is to be said of a wish that models be asked which cannot be fulfilled without a key.
fn key_missing(variables: &Variables, config: &Config) -> Option<Problem> {
    let is_wished = is_on(variables, INTELLIGENCE) && config.summaries.provider.is_none();
    let is_refused = value(variables, &format!("{PREFIX}SUMMARIES_PROVIDER")).is_some();
    let is_missing = is_wished && !is_refused && value(variables, GEMINI_KEY).is_none();
    let what = format!(
        "is on, but {GEMINI_KEY} is not set: no model is asked, and summaries stand alone; set \
         {GEMINI_KEY}, or choose another provider with {PREFIX}SUMMARIES_PROVIDER"
    );
    is_missing.then(|| Problem::of_variable(INTELLIGENCE, what).weighing(Weight::PassedOver))
}

/// Where the directory for everything comes from.
pub(super) fn origin_of_home(sources: &Sources) -> String {
    let is_set = value(&sources.variables, HOME).is_some();
    if is_set { HOME.to_owned() } else { "default".to_owned() }
}

/// Takes over what is set.
pub(super) fn read(variables: &Variables, config: &mut Config, problems: &mut Vec<Problem>) {
    for setting in settings::all() {
        if let Some((variable, given)) = of_others(variables, setting.key) {
            let set = setting.set(config, &Given::Word(given));
            // Whoever sets it may mean another program.
            let weight = Weight::PassedOver;
            problems
                .extend(set.err().map(|it| Problem::of_variable(variable, it).weighing(weight)));
        }
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
    problems.extend(wish_unclear(variables));
    problems.extend(key_missing(variables, config));
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
    // Where a name was taken, `_` stands behind it.
    let is_of_entry =
        name.trim_end_matches('_') == URL_OF_ENTRY || name.starts_with(HEADER_OF_ENTRY);
    if is_of_entry {
        return None;
    }
    let mut known: Vec<(String, Weight)> =
        settings::all().map(|setting| (setting.variable(), setting.weight())).collect();
    known.extend([HOME, FILE, CHROMA_TOKEN].map(|name| (name.to_owned(), Weight::Grave)));
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
