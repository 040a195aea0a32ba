//! Settings from `forebay.toml`.

use std::{collections::HashSet, io::ErrorKind, path::Path};

use toml::de::DeTable;

use super::{
    Config, Problem,
    environment::Variables,
    from_toml,
    problem::{Weight, nearest},
    rules, servers,
    settings::{self, named},
    tree::{self, Member, Mistake, Shape},
};
use crate::regular;

const TOOLS: &str = "tools";
const SERVERS: &str = "servers";

/// What is read into: the settings, and what is wrong with them.
pub(super) struct Target<'a> {
    pub(super) config: &'a mut Config,
    pub(super) problems: &'a mut Vec<Problem>,
    /// What the settings of servers may name.
    pub(super) variables: &'a Variables,
}

/// Reads the file at `path`, which someone named: it must be there.
pub(super) fn read_named(path: &Path, target: Target<'_>) {
    match regular::text(path) {
        Ok(text) => read(path, &text, target),
        Err(error) => {
            target.problems.push(Problem::of_file(path, format!("cannot be read: {error}")));
        }
    }
}

/// Reads the file at `path`, if there is one.
pub(super) fn read_if_there(path: &Path, target: Target<'_>) {
    match regular::text(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
        _ => read_named(path, target),
    }
}

/// Takes over the settings in `text`, and goes on after whatever is wrong with some of them.
pub(super) fn read(path: &Path, text: &str, target: Target<'_>) {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { path, text, target, broken_lines: HashSet::new() };
    for error in errors {
        let at = error.span().unwrap_or_default().start;
        reader.mention(at, format!("this is no TOML: {}", error.message()), Weight::Grave);
        reader.broken_lines.insert(tree::line(text, at));
    }
    reader.table("", &from_toml::members(document.get_ref()));
    reader.target.problems.sort_by_key(Problem::line);
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    target: Target<'a>,
    /// Lines that are no TOML: what else seems to be wrong with them need not be.
    broken_lines: HashSet<usize>,
}

impl Reader<'_> {
    fn table(&mut self, prefix: &str, table: &[Member]) {
        for Member { key, at, value } in table {
            let name = format!("{prefix}{key}");
            let is_table_of_settings =
                settings::all().any(|setting| setting.key.starts_with(&format!("{name}.")));
            match (&value.shape, named(&name)) {
                (_, Some(setting)) => {
                    if let Err(what) = setting.set(self.target.config, &value.given()) {
                        self.mention(value.at, what, setting.weight());
                    }
                }
                (Shape::Table(tools), None) if name == TOOLS => {
                    let mut mistakes = Vec::new();
                    let read = rules::read(TOOLS, tools, &mut mistakes);
                    self.target.config.policy.tools = read.keeping;
                    self.target.config.paging.tools = read.paging;
                    self.complain(mistakes);
                }
                (Shape::Table(servers), None) if name == SERVERS => {
                    let mut mistakes = Vec::new();
                    let variables = self.target.variables;
                    self.target.config.servers =
                        servers::of_table(servers, variables, &mut mistakes);
                    self.complain(mistakes);
                }
                (Shape::Table(inner), None) if is_table_of_settings => {
                    self.table(&format!("{name}."), inner);
                }
                (_, None) if name == TOOLS => {
                    let what = format!("`{name}` is a table; write `[tools.\"list_*\"]`");
                    self.mention(*at, what, Weight::Grave);
                }
                (_, None) if name == SERVERS => {
                    let what = format!("`{name}` is a table; write `[servers.NAME]`");
                    self.mention(*at, what, Weight::Grave);
                }
                (_, None) if is_table_of_settings => {
                    let what = format!("`{name}` is a table; write `[{name}]`");
                    self.mention(*at, what, weight(&name));
                }
                (_, None) => {
                    let (what, weight) = unknown(&name);
                    self.mention(*at, what, weight);
                }
            }
        }
    }

    fn complain(&mut self, mistakes: Vec<Mistake>) {
        for Mistake { at, what } in mistakes {
            self.mention(at, what, Weight::Grave);
        }
    }

    fn mention(&mut self, at: usize, what: String, weight: Weight) {
        let line = tree::line(self.text, at);
        if !self.broken_lines.contains(&line) {
            let problem = Problem::at_line(self.path, line, what).weighing(weight);
            self.target.problems.push(problem);
        }
    }
}

/// What to write in place of a setting that does not exist, and what follows from it: as much as from
/// a mistake in the one that was probably meant. What is like nothing that there is may have been
/// meant to keep something from being kept (`exclude`, say), so it is grave.
fn unknown(name: &str) -> (String, Weight) {
    let keys = settings::all().map(|setting| setting.key).chain([TOOLS, SERVERS]);
    let tables = settings::all().filter_map(|setting| setting.key.split_once('.'));
    // A setting of a table that was written outside of it.
    let outside = |(table, key): (&str, &str)| {
        let what = format!("there is no setting `{name}`; write `{key}` under `[{table}]`");
        (what, weight(&format!("{table}.{key}")))
    };
    if let Some(same) = tables.clone().find(|(_, key)| *key == name) {
        return outside(same);
    }
    let keys = keys.chain(tables.clone().map(|(table, _)| table));
    if let Some(near) = nearest(name, keys) {
        return (format!("there is no setting `{name}`; write `{near}`"), weight(near));
    }
    if let Some(near) = tables.clone().find(|(_, key)| nearest(name, [*key]).is_some()) {
        return outside(near);
    }
    let what = format!("there is no setting `{name}`; `forebay config` shows what there is");
    (what, Weight::Grave)
}

/// What follows from a mistake in this setting, or in this table of settings.
fn weight(name: &str) -> Weight {
    let within = format!("{name}.");
    let mut meant =
        settings::all().filter(|it| it.key == name || it.key.starts_with(&within)).peekable();
    let is_known = meant.peek().is_some();
    let is_forgiven = is_known && meant.all(|setting| setting.weight() == Weight::PassedOver);
    if is_forgiven { Weight::PassedOver } else { Weight::Grave }
}
