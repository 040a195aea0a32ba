//! Settings from `forebay.toml`.

use std::{collections::HashSet, io::ErrorKind, ops::Range, path::Path};

use forebay_intercept::{Glob, ToolRule, When};
use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use super::{
    Config, Problem,
    kind::Given,
    problem::{Weight, nearest},
    settings::{SETTINGS, TOOL_KEYS, named},
};
use crate::regular;

const TOOLS: &str = "tools";

/// Reads the file at `path`, which someone named: it must be there.
pub(super) fn read_named(path: &Path, config: &mut Config, problems: &mut Vec<Problem>) {
    match regular::text(path) {
        Ok(text) => read(path, &text, config, problems),
        Err(error) => problems.push(Problem::of_file(path, format!("cannot be read: {error}"))),
    }
}

/// Reads the file at `path`, if there is one.
pub(super) fn read_if_there(path: &Path, config: &mut Config, problems: &mut Vec<Problem>) {
    match regular::text(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
        _ => read_named(path, config, problems),
    }
}

/// Takes over the settings in `text`, and goes on after whatever is wrong with some of them.
pub(super) fn read(path: &Path, text: &str, config: &mut Config, problems: &mut Vec<Problem>) {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { path, text, config, problems, broken_lines: HashSet::new() };
    for error in errors {
        let place = error.span().unwrap_or_default();
        reader.complain(&place, format!("this is no TOML: {}", error.message()));
        reader.broken_lines.insert(reader.line(&place));
    }
    reader.table("", document.get_ref());
    problems.sort_by_key(Problem::line);
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    config: &'a mut Config,
    problems: &'a mut Vec<Problem>,
    /// Lines that are no TOML: what else seems to be wrong with them need not be.
    broken_lines: HashSet<usize>,
}

impl Reader<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let is_table_of_settings =
                SETTINGS.iter().any(|setting| setting.key.starts_with(&format!("{name}.")));
            match (value.get_ref(), named(&name)) {
                (_, Some(setting)) => {
                    if let Err(what) = setting.set(self.config, &given(value.get_ref())) {
                        self.mention(&value.span(), what, setting.weight());
                    }
                }
                (DeValue::Table(tools), None) if name == TOOLS => self.tools(tools),
                (DeValue::Table(inner), None) if is_table_of_settings => {
                    self.table(&format!("{name}."), inner);
                }
                (_, None) if name == TOOLS => {
                    self.complain(
                        &key.span(),
                        format!("`{name}` is a table; write `[tools.\"list_*\"]`"),
                    );
                }
                (_, None) if is_table_of_settings => {
                    let what = format!("`{name}` is a table; write `[{name}]`");
                    self.mention(&key.span(), what, weight(&name));
                }
                (_, None) => {
                    let (what, weight) = unknown(&name);
                    self.mention(&key.span(), what, weight);
                }
            }
        }
    }

    /// Rules hold in the order of the file, which the table does not keep.
    fn tools(&mut self, tools: &DeTable<'_>) {
        let mut tools: Vec<_> = tools.iter().collect();
        tools.sort_by_key(|(pattern, _)| pattern.span().start);
        for (pattern, rule) in tools {
            let DeValue::Table(rule) = rule.get_ref() else {
                let pattern = pattern.get_ref();
                let what = format!("`{pattern}` is a table; write `[tools.\"{pattern}\"]`");
                self.complain(&rule.span(), what);
                continue;
            };
            if let Some(when) = self.rule(pattern, rule) {
                let pattern = Glob::new(pattern.get_ref().as_ref());
                self.config.policy.tools.push(ToolRule { pattern, when });
            }
        }
    }

    fn rule(&mut self, pattern: &Spanned<DeString<'_>>, rule: &DeTable<'_>) -> Option<When> {
        let mut found = Vec::new();
        for (key, value) in rule {
            match (key.get_ref().as_ref(), given(value.get_ref())) {
                ("always", Given::Switch(true)) => found.push(When::Always),
                ("never", Given::Switch(true)) => found.push(When::Never),
                (word @ ("always" | "never"), given) => self.complain(
                    &value.span(),
                    format!("`{word}` cannot be {given}; write `{word} = true`, or leave it out"),
                ),
                ("threshold", given) => match given.number().filter(|tokens| *tokens > 0) {
                    Some(tokens) => found.push(When::Over(tokens)),
                    None => self.complain(
                        &value.span(),
                        format!("`threshold` cannot be {given}; write a number, 1 or more"),
                    ),
                },
                (word, _) => {
                    let keys = TOOL_KEYS.map(|(key, ..)| key);
                    let meant = nearest(word, keys).map_or(keys.to_vec(), |near| vec![near]);
                    let what = format!("a tool has no `{word}`; write {}", one_of(&meant));
                    self.complain(&key.span(), what);
                }
            }
        }
        let keys = one_of(&TOOL_KEYS.map(|(key, ..)| key));
        let name = pattern.get_ref();
        match found.as_slice() {
            [when] => return Some(*when),
            [_, _, ..] => {
                self.complain(&pattern.span(), format!("for `{name}` write only one of {keys}"));
            }
            [] if rule.is_empty() => {
                self.complain(&pattern.span(), format!("for `{name}` write one of {keys}"));
            }
            // Whatever there is has been complained about.
            [] => {}
        }
        None
    }

    fn complain(&mut self, place: &Range<usize>, what: String) {
        self.mention(place, what, Weight::Grave);
    }

    fn mention(&mut self, place: &Range<usize>, what: String, weight: Weight) {
        let line = self.line(place);
        if !self.broken_lines.contains(&line) {
            self.problems.push(Problem::at_line(self.path, line, what).weighing(weight));
        }
    }

    fn line(&self, place: &Range<usize>) -> usize {
        let before = self.text.get(..place.start).unwrap_or(self.text);
        before.matches('\n').count() + 1
    }
}

/// What to write in place of a setting that does not exist, and what follows from it: as much as from
/// a mistake in the one that was probably meant. What is like nothing that there is may have been
/// meant to keep something from being kept (`exclude`, say), so it is grave.
fn unknown(name: &str) -> (String, Weight) {
    let keys = SETTINGS.iter().map(|setting| setting.key).chain([TOOLS]);
    let tables = SETTINGS.iter().filter_map(|setting| setting.key.split_once('.'));
    // A setting of a table that was written outside of it.
    if let Some((table, key)) = tables.clone().find(|(_, key)| nearest(name, [*key]).is_some()) {
        let what = format!("there is no setting `{name}`; write `{key}` under `[{table}]`");
        return (what, weight(&format!("{table}.{key}")));
    }
    let keys = keys.chain(tables.map(|(table, _)| table));
    if let Some(near) = nearest(name, keys) {
        return (format!("there is no setting `{name}`; write `{near}`"), weight(near));
    }
    let what = format!("there is no setting `{name}`; `forebay config` shows what there is");
    (what, Weight::Grave)
}

/// What follows from a mistake in this setting, or in this table of settings.
fn weight(name: &str) -> Weight {
    let within = format!("{name}.");
    let mut meant =
        SETTINGS.iter().filter(|it| it.key == name || it.key.starts_with(&within)).peekable();
    let is_known = meant.peek().is_some();
    let is_forgiven = is_known && meant.all(|setting| setting.weight() == Weight::PassedOver);
    if is_forgiven { Weight::PassedOver } else { Weight::Grave }
}

fn one_of(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" or ")
}

fn given(value: &DeValue<'_>) -> Given {
    match value {
        DeValue::String(text) => Given::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Given::Other("a number so large"), Given::Number),
        DeValue::Boolean(on) => Given::Switch(*on),
        DeValue::Array(items) => {
            Given::List(items.iter().map(|item| given(item.get_ref())).collect())
        }
        DeValue::Float(_) => Given::Other("a number with a fraction"),
        DeValue::Datetime(_) => Given::Other("a date"),
        DeValue::Table(_) => Given::Other("a table"),
    }
}
