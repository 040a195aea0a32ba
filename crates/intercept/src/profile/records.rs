//! Finds the records in a JSON document, wherever they lie.
//!
//! A list of objects is a table; of several, the longest is the one that is meant. An object whose
//! many members are all objects is a table too, and its keys are a column. A list of values is a
//! table of one column, if there is nothing better.

use forebay_wire::walk::{self, Type};

/// How deep records are looked for.
const MAX_DEPTH: usize = 6;
/// How many elements are looked at to tell what a list holds.
const LOOKED_AT: usize = 50;
/// An object of fewer members is a record, not a table of them.
const MIN_MAP_MEMBERS: usize = 8;

/// Records, and where they are.
pub(crate) struct Found<'a> {
    pub(crate) path: String,
    /// Each record, with its key if they are the members of an object.
    pub(crate) records: Box<dyn Iterator<Item = Record<'a>> + 'a>,
}

type Record<'a> = (Option<&'a [u8]>, &'a [u8]);

struct Candidate<'a> {
    path: String,
    json: &'a [u8],
    holds: Holds,
}

/// What a container holds, best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    Values,
    Map,
    Objects,
}

/// Looks for the records in `json`.
pub(crate) fn find(json: &[u8]) -> Option<Found<'_>> {
    let mut candidates = Vec::new();
    look(json.trim_ascii_start(), "$".to_owned(), 0, &mut candidates);
    // A list of values is taken only if there are no objects to be had.
    let best = candidates
        .into_iter()
        .max_by_key(|candidate| (candidate.holds > Holds::Values, candidate.json.len()))?;
    let records: Box<dyn Iterator<Item = Record<'_>>> = match best.holds {
        Holds::Map => Box::new(walk::members(best.json)?.map(|(key, record)| (Some(key), record))),
        Holds::Objects | Holds::Values => {
            Box::new(walk::elements(best.json)?.map(|record| (None, record)))
        }
    };
    Some(Found { path: best.path, records })
}

fn look<'a>(json: &'a [u8], path: String, depth: usize, candidates: &mut Vec<Candidate<'a>>) {
    match walk::type_of(json) {
        Some(Type::Array) => {
            let mut objects = 0;
            let mut others = 0;
            for element in walk::elements(json).into_iter().flatten().take(LOOKED_AT) {
                match walk::type_of(element) {
                    Some(Type::Object) => objects += 1,
                    _ => others += 1,
                }
            }
            if objects + others > 0 {
                let holds = if objects >= others { Holds::Objects } else { Holds::Values };
                candidates.push(Candidate { path, json, holds });
            }
        }
        Some(Type::Object) => {
            if is_map(json) {
                candidates.push(Candidate { path, json, holds: Holds::Map });
            } else if depth < MAX_DEPTH {
                for (key, value) in walk::members(json).into_iter().flatten() {
                    let inner = format!("{path}.{}", String::from_utf8_lossy(key));
                    look(value, inner, depth + 1, candidates);
                }
            }
        }
        _ => {}
    }
}

/// True if an object's members are records: many, all objects, with the same fields in the main.
fn is_map(json: &[u8]) -> bool {
    let members = || walk::members(json).into_iter().flatten().take(LOOKED_AT);
    if members().count() < MIN_MAP_MEMBERS
        || members().any(|(_, value)| walk::type_of(value) != Some(Type::Object))
    {
        return false;
    }
    let keys = |value| walk::members(value).into_iter().flatten().map(|(key, _)| key);
    let Some((_, first)) = members().next() else { return false };
    let known: Vec<&[u8]> = keys(first).collect();
    let (mut shared, mut all) = (0, 0);
    for (_, value) in members().skip(1) {
        for key in keys(value) {
            all += 1;
            shared += usize::from(known.contains(&key));
        }
    }
    all > 0 && shared * 2 >= all
}
