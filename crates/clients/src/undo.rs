//! Takes what was done to a file out again, whatever else has become of the file since.
//!
//! Text that is still as it was written gives way to the text that was there. Where a client has written its
//! file anew, what it says decides; where somebody has made an entry their own, it stays theirs.

use crate::{
    document::{Edit, Node, Place, Splice},
    form::Form,
    ledger::Change,
    own::{OURS, Own, command},
    owners::Owners,
    restoration::in_its_words,
    value::{Value, same},
};

/// More steps than this are not taken to find entries under other names.
const MAX_STEPS: usize = 1_000;

/// A file without what was done to it.
#[derive(Debug)]
pub(crate) struct Undone {
    pub(crate) text: String,
    /// What could not be undone.
    pub(crate) left: Vec<Change>,
    /// Entries that are written as ours are, and of which it is not known what they were.
    pub(crate) strays: Vec<Place>,
}

/// What is to be done about one change.
enum Step {
    /// The text becomes this.
    Text(String),
    /// It is undone already, or nothing of ours is left.
    Nothing,
    /// It is ours in part, and cannot be told apart.
    Stuck,
}

/// Undoes changes, the last first. The text can be read.
pub(crate) fn undo(owners: &Owners, text: &str, changes: &[Change]) -> Undone {
    let form = owners.form();
    let (mut text, mut left) = (text.to_owned(), Vec::new());
    for change in changes.iter().rev() {
        match step(form, &text, change) {
            // Nothing may be written that cannot be read.
            Step::Text(made) if form.read(&made).is_ok() => text = made,
            Step::Nothing => {}
            Step::Text(_) | Step::Stuck => left.push(change.clone()),
        }
    }
    left.reverse();
    let known: Vec<Place> = left.iter().map(|change| change.place.clone()).collect();
    let (text, strays) = elsewhere(owners, text, changes, &known);
    Undone { text, left, strays }
}

/// Undoes what was done to entries that somebody has given another name, or written a second time. Returns, too, the
/// places of those that nothing is known of; `known` are left out of these.
fn elsewhere(
    owners: &Owners,
    mut text: String,
    changes: &[Change],
    known: &[Place],
) -> (String, Vec<Place>) {
    let form = owners.form();
    let mut seen = known.to_vec();
    for _ in 0..MAX_STEPS {
        let entries = owners.entries_of_install(&text);
        let Some((place, now)) = entries.into_iter().find(|(place, _)| !seen.contains(place))
        else {
            break;
        };
        let undone = |change: &Change| match (&change.before, &change.after) {
            (Some(before), Some(after)) if change.moved.is_empty() && is_ours(&now, after) => {
                let made = by_members(form, &text, &place, before, after, &now);
                made.map(|made| members_in_their_words(form, made, &place, change))
            }
            (_, Some(after)) => {
                let ours = after.get(OURS).unwrap_or(after);
                let is_same = now.says_the_same_as(ours);
                let splice = is_same.then(|| form.remove(&text, &place)).flatten();
                splice.map(|splice| splice.into_text(&text))
            }
            (_, None) => None,
        };
        let made = changes.iter().rev().find_map(undone);
        match made.filter(|made| *made != text && form.read(made).is_ok()) {
            Some(made) => text = made,
            None => seen.push(place),
        }
    }
    seen.retain(|place| !known.contains(place));
    (text, seen)
}

fn step(form: Form, text: &str, change: &Change) -> Step {
    if let Some(made) = exact(form, text, change) {
        return Step::Text(made);
    }
    let Ok(root) = form.read(text) else { return Step::Stuck };
    if !change.moved.is_empty() {
        return put_back(form, text, change);
    }
    let now = root.at(&change.place).map(Node::value);
    if same(now.as_ref(), change.before.as_ref()) {
        return Step::Nothing;
    }
    let Some((key, above)) = change.place.split_last() else { return Step::Stuck };
    let made = match (&change.before, &change.after, &now) {
        // Somebody has taken it out.
        (Some(_), Some(_), None) => return Step::Nothing,
        (Some(before), Some(after), Some(now)) => {
            if !is_ours(now, after) {
                return Step::Nothing;
            }
            let made = by_members(form, text, &change.place, before, after, now);
            made.map(|made| members_in_their_words(form, made, &change.place, change))
        }
        (None, Some(after), Some(now)) if now.says_the_same_as(after) => {
            form.remove(text, &change.place).map(|splice| splice.into_text(text))
        }
        (None, Some(after), Some(now)) if !is_ours(now, after) => return Step::Nothing,
        (None, Some(after), Some(now)) if command(after).is_some() => {
            // What somebody added to an entry of our own goes with it.
            let is_as_written = Own::of(now) == Own::of(after);
            let splice = is_as_written.then(|| form.remove(text, &change.place)).flatten();
            splice.map(|splice| splice.into_text(text))
        }
        // A table that was made for ours holds others' by now.
        (None, Some(after), Some(now)) => {
            by_members(form, text, &change.place, &Value::Table(Vec::new()), after, now)
        }
        (Some(before), None, None) => {
            form.add(text, above, key, before).map(|splice| splice.into_text(text))
        }
        (Some(_), None, Some(_)) | (None, None, _) | (None, Some(_), None) => return Step::Nothing,
    };
    made.map_or(Step::Stuck, Step::Text)
}

/// Puts the servers that were moved behind a gateway back, wherever the entry is that they stood behind. One whose
/// name has been given away meanwhile stays with whoever has it.
fn put_back(form: Form, text: &str, change: &Change) -> Step {
    let Some(before) = &change.before else { return Step::Stuck };
    let mut made = text.to_owned();
    for name in &change.moved {
        let place = [change.place.as_slice(), std::slice::from_ref(name)].concat();
        let is_there = form.read(&made).is_ok_and(|root| root.at(&place).is_some());
        let Some(value) = before.get(name).filter(|_| !is_there) else { continue };
        let Some(splice) = form.add(&made, &change.place, name, value) else { return Step::Stuck };
        made = in_its_words(form, splice.into_text(&made), &change.place, name, change);
    }
    let file = |entry: &Value| Own::of(entry).and_then(|own| own.servers_file());
    let ours = change.servers_file();
    let Ok(root) = form.read(&made) else { return Step::Stuck };
    let members = root.at(&change.place).map(Node::members).unwrap_or_default();
    let is_ours = |value: &Value| ours.is_some() && file(value) == ours;
    for key in members.iter().filter(|it| is_ours(&it.value.value())).map(|it| &it.key) {
        let place = [change.place.as_slice(), std::slice::from_ref(key)].concat();
        let Some(splice) = form.remove(&made, &place) else { return Step::Stuck };
        made = splice.into_text(&made);
    }
    if made == text { Step::Nothing } else { Step::Text(made) }
}

/// The text with the original in the place of ours, if ours is there as it was written, and nothing else changes with it.
fn exact(form: Form, text: &str, change: &Change) -> Option<String> {
    let is_one_place = change.before.is_some() && change.after.is_some();
    let stretch = form.stretch(text, &change.place).filter(|_| is_one_place);
    let stretch = stretch.filter(|range| text[range.clone()] == change.ours);
    let range = stretch.or_else(|| only_occurrence(text, &change.ours))?;
    let made = Splice { range, text: change.original.clone() }.into_text(text);
    let (now, then) = (form.read(text).ok()?.value(), form.read(&made).ok()?);
    let restored = then.at(&change.place).map(Node::value);
    let is_restored = same(restored.as_ref(), change.before.as_ref());
    // In TOML, a key that somebody has written behind ours would belong to whatever header stands above it then.
    let elsewhere = |root: &Value| root.without(&change.place);
    let is_all_else_kept = elsewhere(&now).says_the_same_as(&elsewhere(&then.value()));
    (is_restored && is_all_else_kept).then_some(made)
}

/// Where a text stands in another, if it does so once.
fn only_occurrence(text: &str, wanted: &str) -> Option<std::ops::Range<usize>> {
    let mut found = text.match_indices(wanted);
    let (start, _) = found.next().filter(|_| !wanted.is_empty())?;
    found.next().is_none().then_some(start..start + wanted.len())
}

/// True if an entry still starts what we made it start.
fn is_ours(now: &Value, after: &Value) -> bool {
    // A table of entries is ours as long as our entry is in it.
    match command(after) {
        Some(program) => command(now) == Some(program),
        None => after
            .as_table()
            .unwrap_or_default()
            .iter()
            .any(|(key, value)| now.get(key).is_some_and(|it| is_ours(it, value))),
    }
}

/// The text with the members of an entry that a change had taken or changed, and that are back, as they were written.
fn members_in_their_words(form: Form, text: String, place: &[String], change: &Change) -> String {
    let before = change.before.as_ref().and_then(Value::as_table).unwrap_or_default();
    let after = |key: &str| change.after.as_ref().and_then(|after| after.get(key));
    // Of a member that was left as it was, others may have changed the words since.
    let is_back = |(key, value): &&(String, Value)| {
        !after(key).is_some_and(|after| after.says_the_same_as(value))
    };
    let keys = before.iter().filter(is_back).map(|(key, _)| key);
    keys.fold(text, |text, key| in_its_words(form, text, place, key, change))
}

/// Puts back the members that were changed, if they are still as they were written; others stay as they are.
pub(crate) fn by_members(
    form: Form,
    text: &str,
    place: &[String],
    before: &Value,
    after: &Value,
    now: &Value,
) -> Option<String> {
    let keys = |value: &Value| -> Vec<String> {
        value.as_table().unwrap_or_default().iter().map(|(key, _)| key.clone()).collect()
    };
    let mut changed = keys(before);
    changed.extend(keys(after).into_iter().filter(|key| before.get(key).is_none()));
    changed.retain(|key| !same(before.get(key), after.get(key)));
    if !changed.iter().all(|key| same(now.get(key), after.get(key))) {
        return None;
    }
    let gone: Vec<(String, Value)> = changed
        .iter()
        .filter(|key| after.get(key).is_none())
        .filter_map(|key| Some((key.clone(), before.get(key)?.clone())))
        .collect();
    let mut edits: Vec<(&str, Edit)> = Vec::new();
    let mut is_placed = gone.is_empty();
    for key in changed.iter().filter(|key| after.get(key).is_some()) {
        edits.push((
            key,
            match before.get(key) {
                Some(value) => Edit::Value(value.clone()),
                // What was taken out comes back where ours was put in.
                None if !is_placed => {
                    is_placed = true;
                    Edit::Members(gone.clone())
                }
                None => Edit::Members(Vec::new()),
            },
        ));
    }
    let edited = form.edit(text, place, &edits).filter(|_| is_placed);
    if let Some(splice) = edited {
        return Some(splice.into_text(text));
    }
    // One after the other, where there is no way to do it at once.
    let mut made = text.to_owned();
    for key in &changed {
        let inner = [place, std::slice::from_ref(key)].concat();
        if after.get(key).is_some() {
            made = form.remove(&made, &inner)?.into_text(&made);
        }
        if let Some(value) = before.get(key) {
            made = form.add(&made, place, key, value)?.into_text(&made);
        }
    }
    Some(made)
}
