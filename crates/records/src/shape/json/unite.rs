//! The same kind of records under several keys is one table, with the key as a column: five lists of
//! one shape side by side, or a list in each of several responses.

use forebay_wire::walk;

use super::candidate::{Candidate, Form};

/// How many records of a list are looked at.
const LOOKED_AT: usize = 5;
/// How many keys a path names.
const SHOWN_KEYS: usize = 3;

/// A list that was found under a member.
struct Found<'a> {
    key: &'a [u8],
    /// What is behind the member in its path.
    rest: String,
    list: &'a [u8],
    names: Vec<&'a [u8]>,
}

/// What was found in a member of an object: its key, its path, and how many candidates there are then.
pub(super) struct Member<'a> {
    pub(super) key: &'a [u8],
    pub(super) path: String,
    pub(super) end: usize,
}

/// Makes one candidate of those among `candidates`, found in `members` of the object at `path`, that
/// hold records of one kind.
pub(super) fn alike<'a>(
    candidates: &mut Vec<Candidate<'a>>,
    before: usize,
    members: &[Member<'a>],
    path: &str,
) {
    if candidates.len() < before + 2 {
        return;
    }
    let mut groups: Vec<Vec<Found<'a>>> = Vec::new();
    let mut kept = Vec::new();
    let mut start = before;
    let mut found: Vec<Option<Candidate<'a>>> = candidates.drain(before..).map(Some).collect();
    for member in members {
        for slot in &mut found[start - before..member.end - before] {
            let Some(candidate) = slot.take() else { continue };
            match Found::of(member, &candidate) {
                Some(list) => match groups.iter_mut().find(|group| group[0].is_like(&list)) {
                    Some(group) => {
                        group[0].learn(&list);
                        group.push(list);
                    }
                    None => groups.push(vec![list]),
                },
                None => kept.push(candidate),
            }
        }
        start = member.end;
    }
    let are_all = groups.len() == 1 && kept.is_empty();
    for group in groups {
        candidates.push(united(&group, path, are_all));
    }
    candidates.extend(kept);
}

impl<'a> Found<'a> {
    /// A list of records under a member; `None` for anything else.
    fn of(member: &Member<'a>, candidate: &Candidate<'a>) -> Option<Self> {
        (candidate.form == Form::Objects).then_some(())?;
        let rest = candidate.path.strip_prefix(&member.path)?.to_owned();
        let mut names: Vec<&[u8]> = Vec::new();
        for record in walk::elements(candidate.json)?.take(LOOKED_AT) {
            for (name, _) in walk::members(record).into_iter().flatten() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Some(Self { key: member.key, rest, list: candidate.json, names })
    }

    /// True if both have most of their names in common, or one has no others than the other and at
    /// least half of these: what is missing may be optional.
    fn is_like(&self, other: &Self) -> bool {
        let shared = self.names.iter().filter(|name| other.names.contains(name)).count();
        let (fewer, more) = if self.names.len() < other.names.len() {
            (self.names.len(), other.names.len())
        } else {
            (other.names.len(), self.names.len())
        };
        let all = fewer + more - shared;
        let is_part = shared == fewer && shared * 2 >= more;
        self.rest == other.rest && (is_part || shared * 10 >= all * 7)
    }

    /// Adds the names that another of the same kind has.
    fn learn(&mut self, other: &Self) {
        let new = other.names.iter().filter(|name| !self.names.contains(name));
        let new: Vec<&[u8]> = new.copied().collect();
        self.names.extend(new);
    }
}

fn united<'a>(group: &[Found<'a>], path: &str, are_all: bool) -> Candidate<'a> {
    let rest = group[0].rest.clone();
    if let [only] = group {
        let path = format!("{}{rest}", super::step(path, only.key));
        return Candidate { path, json: only.list, form: Form::Objects, header: None };
    }
    let keys = if are_all {
        "*".to_owned()
    } else {
        let shown = group.iter().take(SHOWN_KEYS).map(|one| String::from_utf8_lossy(one.key));
        let shown: Vec<String> = shown.map(std::borrow::Cow::into_owned).collect();
        let more = if group.len() > SHOWN_KEYS { ",…" } else { "" };
        format!("{{{}{more}}}", shown.join(","))
    };
    let lists: Vec<(&[u8], &[u8])> = group.iter().map(|one| (one.key, one.list)).collect();
    let longest = lists.iter().map(|(_, list)| *list).max_by_key(|list| list.len());
    Candidate {
        path: format!("{path}.{keys}{rest}"),
        json: longest.unwrap_or_default(),
        form: Form::Lists(lists),
        header: None,
    }
}
