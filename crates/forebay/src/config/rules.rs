//! The rules for single tools: `[tools."PATTERN"]`, for all servers or for one.

use forebay_intercept::{Caching, ToolRule, When};
use forebay_tools::PagingRule;

use super::{
    kind::Given,
    paging::{self, PAGING},
    problem::nearest,
    settings::{TOOL_KEYS, WHEN_KEYS},
    tree::{Member, Mistake, Shape},
};

/// What holds for single tools, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// What becomes of their calls and results.
    pub(super) keeping: Vec<ToolRule>,
    /// Which of them get pages.
    pub(super) paging: Vec<PagingRule>,
}

/// Reads the rules of the table that is called `table`.
pub(super) fn read(table: &str, rules: &[Member], mistakes: &mut Vec<Mistake>) -> Rules {
    let mut read = Rules::default();
    for rule in rules {
        let pattern = &rule.key;
        let Shape::Table(members) = &rule.value.shape else {
            let what = format!("`{pattern}` is a table; write `[{table}.\"{pattern}\"]`");
            mistakes.push(Mistake::new(rule.value.at, what));
            continue;
        };
        if members.is_empty() {
            let keys = one_of(&TOOL_KEYS.map(|(key, ..)| key));
            let what = format!("for `{pattern}` write one of {keys} or `{PAGING}`");
            mistakes.push(Mistake::new(rule.at, what));
            continue;
        }
        let (paged, others): (Vec<&Member>, Vec<&Member>) =
            members.iter().partition(|member| member.key == PAGING);
        for member in paged {
            read.paging.extend(paging::read(pattern, &member.value, mistakes));
        }
        if !others.is_empty() {
            read.keeping.push(one(rule, &others, mistakes));
        }
    }
    read
}

fn one(rule: &Member, members: &[&Member], mistakes: &mut Vec<Mistake>) -> ToolRule {
    let mut reading = Reading { rule: ToolRule::of(&rule.key), is_for_unmarked: None };
    let mut whens = 0;
    for Member { key, at, value } in members {
        whens += usize::from(WHEN_KEYS.contains(&key.as_str()));
        let what = match reading.set(key, &value.given()) {
            Ok(()) => continue,
            Err(Wrong::Value(expected)) => {
                format!("`{key}` cannot be {}; write {expected}", value.given())
            }
            Err(Wrong::Key) => {
                let keys: Vec<&str> =
                    TOOL_KEYS.iter().map(|(key, ..)| *key).chain([PAGING]).collect();
                let meant = nearest(key, keys.clone()).map_or(keys, |near| vec![near]);
                mistakes.push(Mistake::new(
                    *at,
                    format!("a tool has no `{key}`; write {}", one_of(&meant)),
                ));
                continue;
            }
        };
        mistakes.push(Mistake::new(value.at, what));
    }
    let name = &rule.key;
    if whens > 1 {
        let what = format!("for `{name}` write only one of {}", one_of(&WHEN_KEYS));
        mistakes.push(Mistake::new(rule.at, what));
    }
    match (&mut reading.rule.cache, reading.is_for_unmarked) {
        (Some(cache), Some(on)) => cache.is_for_unmarked = on,
        (None, Some(_)) => {
            let what =
                format!("for `{name}` write `cache_seconds`, too, or leave `cache_unmarked` out");
            mistakes.push(Mistake::new(rule.at, what));
        }
        (_, None) => {}
    }
    reading.rule
}

/// A rule while it is being read.
struct Reading {
    rule: ToolRule,
    is_for_unmarked: Option<bool>,
}

/// What is wrong with a key and its value.
enum Wrong {
    Key,
    /// What to write instead.
    Value(String),
}

impl Reading {
    fn set(&mut self, key: &str, given: &Given) -> Result<(), Wrong> {
        let wrong = |expected: &str| Wrong::Value(expected.to_owned());
        let switch = || match given {
            Given::Switch(on) => Ok(*on),
            _ => Err(wrong("`true` or `false`")),
        };
        match key {
            "always" | "never" => {
                let Given::Switch(true) = given else {
                    return Err(Wrong::Value(format!("`{key} = true`, or leave it out")));
                };
                self.rule.when = Some(if key == "always" { When::Always } else { When::Never });
            }
            "threshold" => {
                let tokens = given.number().filter(|tokens| *tokens > 0);
                self.rule.when =
                    Some(When::Over(tokens.ok_or_else(|| wrong("a number, 1 or more"))?));
            }
            "references" => self.rule.references = Some(switch()?),
            "path_arguments" => {
                let names =
                    given.texts().ok_or_else(|| wrong("a list of names, such as [\"path\"]"))?;
                self.rule.path_arguments = Some(names);
            }
            "cache_seconds" => {
                let seconds = given.number().ok_or_else(|| wrong("a number, 0 or more"))?;
                self.rule.cache = Some(Caching { seconds, is_for_unmarked: false });
            }
            "job_after" => {
                let seconds = given.number().ok_or_else(|| wrong("a number, 0 or more"))?;
                self.rule.job_after = Some(seconds);
            }
            "cache_unmarked" => self.is_for_unmarked = Some(switch()?),
            _ => return Err(Wrong::Key),
        }
        Ok(())
    }
}

fn one_of(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" or ")
}
