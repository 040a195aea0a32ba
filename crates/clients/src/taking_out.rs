//! A client's file without what is ours: the copy where nobody has changed the file, else entry by entry, with what
//! somebody has changed in a gateway's file meanwhile.

use std::path::Path;

use crate::{
    catalogue::Client,
    comments::is_one_lost,
    disk,
    document::{Place, text_of},
    form::Form,
    ledger::{Change, Record, hash},
    merge, moving,
    outcome::{LeftOver, Outcome, Remains},
    own::{OURS, Own},
    owners::Owners,
    tables::nothing_twice,
    undo::{Undone, by_members, undo},
    value::{Value, same},
};

/// A file without what is ours.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) after: Vec<u8>,
    /// What must still be remembered; `None` if nothing of ours is left in it.
    pub(crate) left: Option<Vec<Change>>,
    pub(crate) outcome: Outcome,
    /// True if a comment within what was changed is lost.
    pub(crate) loses_comments: bool,
}

/// The copy that was kept, if it is what it was.
pub(crate) fn original(record: &Record) -> Option<Vec<u8>> {
    let bytes = disk::read(record.copy.as_ref()?).ok()?;
    (hash(&bytes) == record.before).then_some(bytes)
}

/// Takes ours out of the file that holds `before`, or says why that cannot be done.
pub(crate) fn taken_out(owners: &Owners, record: &Record, before: &[u8]) -> Result<Taken, String> {
    let form = owners.form();
    let now = hash(before);
    let edits = edits(owners, record)?;
    let whole = if now == record.before {
        Some((before.to_vec(), Outcome::Nothing))
    } else {
        let is_as_written = now == record.after;
        let outcome = if record.is_rebuilt { Outcome::EntryByEntry } else { Outcome::Original };
        original(record).filter(|_| is_as_written).map(|bytes| (bytes, outcome))
    };
    let (bytes, undone) = match whole {
        Some((after, outcome)) if edits.is_empty() => {
            return Ok(Taken { after, left: None, outcome, loses_comments: false });
        }
        Some((bytes, _)) => (bytes, None),
        None => {
            let (_, text) = text_of(before)?;
            let root = form.read(text).map_err(|error| error.told(text))?;
            owners.all().try_for_each(|client| nothing_twice(&root, client))?;
            (before.to_vec(), Some(without_ours(owners, record, text)))
        }
    };
    let (bom, text) = text_of(&bytes)?;
    let Some(Undone { text: mut made, left, strays }) = undone else {
        let made = edits.iter().try_fold(text.to_owned(), |text, edit| edit.put(&text));
        let made = made?;
        let loses_comments = is_one_lost(form, &record.changes, &made);
        let after = [bom, &made].concat().into_bytes();
        return Ok(Taken { after, left: None, outcome: Outcome::EntryByEntry, loses_comments });
    };
    if left.is_empty() {
        made = edits.iter().try_fold(made, |text, edit| edit.put(&text))?;
    }
    let after = [bom, &made].concat().into_bytes();
    let undone: Vec<Change> = record
        .changes
        .iter()
        .filter(|it| !left.iter().any(|left| left.place == it.place))
        .cloned()
        .collect();
    let loses_comments = is_one_lost(form, &undone, &made);
    let names = left_over(form, &made, &left, &strays);
    let outcome = match (names.is_empty(), after == before) {
        (false, _) => Outcome::Partly(names),
        (true, true) => Outcome::Nothing,
        (true, false) => Outcome::EntryByEntry,
    };
    let left = match (left.is_empty(), strays.is_empty()) {
        (true, true) => None,
        (false, true) => Some(left),
        // One that is found again later is undone then.
        (_, false) => Some(record.changes.clone()),
    };
    Ok(Taken { after, left, outcome, loses_comments })
}

/// A text without what was done to its file, with the layout that it had where that can be kept.
pub(crate) fn without_ours(owners: &Owners, record: &Record, text: &str) -> Undone {
    let undone = undo(owners, text, &record.changes);
    let Some(original) = original(record) else { return undone };
    let Ok((_, copy)) = text_of(&original) else { return undone };
    let is_moved = record.changes.iter().any(|change| !change.moved.is_empty());
    let laid_out = (is_moved && undone.left.is_empty())
        .then(|| as_laid_out(owners.form(), record, copy, text, &undone.text))
        .flatten();
    // What was written so before anything was installed is somebody's own.
    let known = owners.entries_of_install(copy);
    let is_known = |place: &Place| known.iter().any(|(known, _)| known == place);
    Undone {
        text: laid_out.unwrap_or(undone.text),
        left: undone.left,
        strays: undone.strays.into_iter().filter(|place| !is_known(place)).collect(),
    }
}

/// What is left, as it is told.
fn left_over(form: Form, text: &str, left: &[Change], strays: &[Place]) -> Vec<LeftOver> {
    let root = form.read(text).ok();
    let entry = |place: &[String]| root.as_ref()?.at(place).map(crate::document::Node::value);
    let remains = |place: &[String]| match entry(place).as_ref().and_then(Own::of) {
        Some(own) if own.is_remote() => Remains::Remote,
        Some(own) if own.is_wrap() => Remains::Started,
        Some(_) => Remains::Forebay,
        None => Remains::Moved,
    };
    let mut found = Vec::new();
    for change in left {
        for name in &change.moved {
            found.push(LeftOver { name: name.clone(), what: Remains::Moved });
        }
        let table = change.after.as_ref().is_some_and(|after| after.get(OURS).is_some());
        let ours = [change.place.as_slice(), &[OURS.to_owned()]].concat();
        let place = if table { &ours } else { &change.place };
        if let Some(name) = place.last().filter(|_| entry(place).is_some()) {
            found.push(LeftOver { name: name.clone(), what: remains(place) });
        }
    }
    for place in strays {
        let name = place.last().cloned().unwrap_or_default();
        found.push(LeftOver { name, what: remains(place) });
    }
    // An entry that was changed twice is one to see to.
    let mut told: Vec<LeftOver> = Vec::new();
    for one in found {
        if !told.contains(&one) {
            told.push(one);
        }
    }
    told
}

/// The file with the layout and the comments that it had, if all that is written there since can be kept, and it says
/// what `undone` says.
fn as_laid_out(form: Form, record: &Record, copy: &str, now: &str, undone: &str) -> Option<String> {
    let mut written = copy.to_owned();
    for change in &record.changes {
        let range = change.at..change.at + change.original.len();
        let is_there = written.get(range.clone()) == Some(change.original.as_str());
        is_there.then(|| written.replace_range(range, &change.ours))?;
    }
    let want = form.read(undone).ok()?.value();
    let says_so =
        |text: &String| form.read(text).is_ok_and(|root| root.value().says_the_same_as(&want));
    if let Some(made) = merge::merged(&written, now, copy).filter(says_so) {
        return Some(made);
    }
    // Where somebody has taken our entry out, it is out of what we wrote, too.
    let moved = record.changes.iter().find(|change| !change.moved.is_empty())?;
    let ours = [moved.place.as_slice(), &[OURS.to_owned()]].concat();
    let without = form.remove(&written, &ours)?.into_text(&written);
    merge::merged(&without, now, copy).filter(says_so)
}

/// What somebody has changed in a gateway's file, and is to be in the client's.
#[derive(Debug)]
struct GatewayEdit<'a> {
    client: &'static Client,
    file: &'a Path,
    table: Place,
    name: String,
    was: Option<Value>,
    is: Option<Value>,
}

/// What was changed in files that were made for gateways.
fn edits<'a>(owners: &Owners, record: &'a Record) -> Result<Vec<GatewayEdit<'a>>, String> {
    let mut found = Vec::new();
    for (file, known) in &record.made {
        let is_changed = disk::read(file).is_ok_and(|bytes| hash(&bytes) != *known);
        // Of several installs, the last has written it.
        let made_it = |change: &&Change| change.servers_file().as_ref() == Some(file);
        let change = record.changes.iter().rfind(made_it);
        let Some(change) = change.filter(|_| is_changed) else { continue };
        let is_its = |client: &&Client| moving::is_file_of(client, file);
        let client = owners.all().find(is_its).unwrap_or(owners.first);
        let now = moving::servers_in(file)?;
        let empty = Value::Table(Vec::new());
        let before = change.before.as_ref().unwrap_or(&empty);
        for (name, is) in moving::edited(before, &change.moved, &now, &client.entry) {
            let was = before.get(&name).filter(|_| change.moved.contains(&name)).cloned();
            found.push(GatewayEdit { client, file, table: change.place.clone(), name, was, is });
        }
    }
    Ok(found)
}

impl GatewayEdit<'_> {
    /// The client's text with the change in it.
    fn put(&self, text: &str) -> Result<String, String> {
        let form = self.client.form;
        let place = [self.table.as_slice(), std::slice::from_ref(&self.name)].concat();
        let now = form.read(text).ok().and_then(|root| Some(root.at(&place)?.value()));
        let as_it_is = || text.to_owned();
        let made = match (&self.was, &self.is, &now) {
            (Some(was), Some(is), Some(now)) => {
                by_members(form, text, &place, is, &to_be_changed(was, is, now), now)
                    .or_else(|| self.is_as_good(now, is).then(as_it_is))
            }
            (None, Some(is), Some(now)) => self.is_as_good(now, is).then(as_it_is),
            (Some(was), None, Some(now)) => {
                let removal = now.says_the_same_as(was).then(|| form.remove(text, &place));
                removal.flatten().map(|it| it.into_text(text))
            }
            (_, Some(is), None) => {
                form.add(text, &self.table, &self.name, is).map(|it| it.into_text(text))
            }
            (_, None, None) | (None, None, Some(_)) => Some(as_it_is()),
        };
        made.filter(|made| form.read(made).is_ok()).ok_or_else(|| {
            format!(
                "what was changed of `{}` behind the gateway, in `{}`, cannot be written here, where it may have been \
                 changed otherwise; make it the same in both",
                self.name,
                self.file.display()
            )
        })
    }

    /// True if an entry is what it is to be, as far as a gateway reads it.
    fn is_as_good(&self, now: &Value, is: &Value) -> bool {
        let moved = |entry| moving::moved(entry, &self.client.entry);
        now.says_the_same_as(is)
            || matches!((moved(now), moved(is)), (Ok(now), Ok(is)) if now.says_the_same_as(&is))
    }
}

/// What an entry was, but for the members that are already what they are to be.
fn to_be_changed(was: &Value, is: &Value, now: &Value) -> Value {
    let members = |value: &Value| value.as_table().unwrap_or_default().to_vec();
    let is_done = |(key, _): &(String, Value)| same(now.get(key), is.get(key));
    let undone = members(was).into_iter().filter(|member| !is_done(member));
    Value::Table(undone.chain(members(is).into_iter().filter(is_done)).collect())
}
