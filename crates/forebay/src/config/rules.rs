//! The rules for single tools: `[tools."PATTERN"]`, for all servers or for one.

use forebay_intercept::{Glob, ToolRule, When};

use super::{
    kind::Given,
    problem::nearest,
    settings::TOOL_KEYS,
    tree::{Member, Mistake, Shape},
};

/// Reads the rules of the table that is called `table`. They hold in the order of the file.
pub(super) fn read(table: &str, rules: &[Member], mistakes: &mut Vec<Mistake>) -> Vec<ToolRule> {
    let mut read = Vec::new();
    for rule in rules {
        let pattern = &rule.key;
        let Shape::Table(members) = &rule.value.shape else {
            let what = format!("`{pattern}` is a table; write `[{table}.\"{pattern}\"]`");
            mistakes.push(Mistake::new(rule.value.at, what));
            continue;
        };
        if let Some(when) = when(rule, members, mistakes) {
            read.push(ToolRule { pattern: Glob::new(pattern), when });
        }
    }
    read
}

fn when(rule: &Member, members: &[Member], mistakes: &mut Vec<Mistake>) -> Option<When> {
    let mut found = Vec::new();
    for Member { key, at, value } in members {
        match (key.as_str(), value.given()) {
            ("always", Given::Switch(true)) => found.push(When::Always),
            ("never", Given::Switch(true)) => found.push(When::Never),
            ("always" | "never", given) => mistakes.push(Mistake::new(
                value.at,
                format!("`{key}` cannot be {given}; write `{key} = true`, or leave it out"),
            )),
            ("threshold", given) => match given.number().filter(|tokens| *tokens > 0) {
                Some(tokens) => found.push(When::Over(tokens)),
                None => mistakes.push(Mistake::new(
                    value.at,
                    format!("`threshold` cannot be {given}; write a number, 1 or more"),
                )),
            },
            _ => {
                let keys = TOOL_KEYS.map(|(key, ..)| key);
                let meant = nearest(key, keys).map_or(keys.to_vec(), |near| vec![near]);
                let what = format!("a tool has no `{key}`; write {}", one_of(&meant));
                mistakes.push(Mistake::new(*at, what));
            }
        }
    }
    let keys = one_of(&TOOL_KEYS.map(|(key, ..)| key));
    let name = &rule.key;
    match found.as_slice() {
        [when] => return Some(*when),
        [_, _, ..] => {
            mistakes.push(Mistake::new(rule.at, format!("for `{name}` write only one of {keys}")));
        }
        [] if members.is_empty() => {
            mistakes.push(Mistake::new(rule.at, format!("for `{name}` write one of {keys}")));
        }
        // Whatever there is has been told.
        [] => {}
    }
    None
}

fn one_of(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" or ")
}
