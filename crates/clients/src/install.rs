//! Does what a plan says, and undoes it, one file at a time, in such an order that an end in between leaves each
//! file as it was or as it is to be, and known.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    catalogue::Client,
    disk::{self, Disk, RealDisk, Replaced},
    document::text_of,
    environment::Environment,
    error::ClientsError,
    ledger::{Change, Ledger, Record, Turn, hash},
    outcome::{Missing, Outcome, Restored, Run},
    owners::Owners,
    plan::{self, FilePlan, Request},
    taking_out::{Taken, original, taken_out, without_ours},
};

/// How often a file may change under our hands.
const ATTEMPTS: usize = 8;

/// What is said of a file that changes all the time.
const BUSY: &str = "another program changes it all the time; close the client, and try again";

/// Puts Forebay in front of servers, as [`plan::plan`] says. Each file is read anew.
pub fn install(
    environment: &Environment,
    request: &Request,
) -> Result<Vec<FilePlan>, ClientsError> {
    install_on(&RealDisk, environment, request)
}

/// Takes Forebay out of the files of these clients, or of all.
pub fn uninstall(
    home: &Path,
    clients: &[String],
    missing: Missing,
    run: Run,
) -> Result<Vec<Restored>, ClientsError> {
    uninstall_on(&RealDisk, home, clients, missing, run)
}

pub(crate) fn install_on(
    disk: &dyn Disk,
    environment: &Environment,
    request: &Request,
) -> Result<Vec<FilePlan>, ClientsError> {
    let _turn = Turn::take(&request.home)?;
    let files = plan::files(environment, &request.clients, &request.scope)?;
    let one = |(client, path): &(&'static Client, PathBuf)| {
        install_one(disk, environment, request, client, path)
    };
    files.iter().map(one).collect()
}

fn install_one(
    disk: &dyn Disk,
    environment: &Environment,
    request: &Request,
    client: &'static Client,
    path: &Path,
) -> Result<FilePlan, ClientsError> {
    for _ in 0..ATTEMPTS {
        let plan = plan::of_file(environment, request, client, path);
        if !plan.is_change() {
            return Ok(plan);
        }
        let ledger = Ledger::load(&request.home)?;
        let owners = plan::clients_of(environment, &request.scope, &plan.target);
        let next = match written_down(disk, &request.home, &ledger, &plan, owners) {
            Ok(next) => next,
            Err(error) => {
                withdraw(disk, &request.home, &ledger, &plan)?;
                return Err(error);
            }
        };
        match replaced(disk, &plan.target, &plan.before, &plan.after) {
            Ok(Replaced::Done) => {
                next.sweep(disk, &request.home);
                return Ok(plan);
            }
            Ok(Replaced::Changed) => withdraw(disk, &request.home, &ledger, &plan)?,
            // The files of other clients may well be changed.
            Err(error) => {
                withdraw(disk, &request.home, &ledger, &plan)?;
                return Ok(plan.refused(format!("it cannot be written: {error}")));
            }
        }
    }
    let plan = plan::of_file(environment, request, client, path);
    Ok(plan.refused(BUSY.to_owned()))
}

/// Keeps all that is needed to undo a plan, before it is carried out. The ledger comes first: whatever an end in
/// between leaves behind is known, and goes when the plan is undone.
fn written_down(
    disk: &dyn Disk,
    home: &Path,
    ledger: &Ledger,
    plan: &FilePlan,
    owners: Vec<String>,
) -> Result<Ledger, ClientsError> {
    let former = ledger.record(&plan.target);
    let mut also = former.map(|record| record.also.clone()).unwrap_or_default();
    also.extend(former.map(|record| record.client.clone()));
    also.extend(owners);
    also.sort();
    also.dedup();
    also.retain(|name| name != plan.client.name);
    let Base { bytes, changes, is_rebuilt } = base(former, plan);
    let mut made = former.map(|record| record.made.clone()).unwrap_or_default();
    if let Some((path, bytes)) = &plan.moved {
        made.retain(|(known, _)| known != path);
        made.push((path.clone(), hash(bytes)));
    }
    let mut next = ledger.clone();
    next.set(Record {
        client: plan.client.name.to_owned(),
        also,
        path: plan.target.clone(),
        before: bytes.as_deref().map(hash).unwrap_or_default(),
        after: hash(&plan.after),
        // For whoever has to finish by hand what cannot be undone, an older one is better than none.
        copy: match &bytes {
            Some(bytes) => Some(Ledger::place_of_copy(home, bytes)),
            None => former.and_then(|record| record.copy.clone()),
        },
        is_rebuilt,
        changes: [changes, plan.changes.clone()].concat(),
        made,
    });
    next.save(disk, home)?;
    if let Some(bytes) = &bytes {
        Ledger::keep_copy(disk, home, bytes)?;
    }
    if let Some((path, bytes)) = &plan.moved {
        disk::write(disk, path, bytes)
            .map_err(|source| ClientsError::Write { path: path.clone(), source })?;
    }
    Ok(next)
}

/// Removes what was kept for a plan that was not carried out.
fn withdraw(
    disk: &dyn Disk,
    home: &Path,
    ledger: &Ledger,
    plan: &FilePlan,
) -> Result<(), ClientsError> {
    if let Some((path, _)) = plan.moved.as_ref().filter(|(path, _)| !ledger.has_made(path)) {
        remove_made(disk, path)?;
    }
    let mut former = ledger.clone();
    former.outdated.extend(Ledger::load(home)?.files.into_iter().filter_map(|it| it.copy));
    former.sweep(disk, home);
    former.save(disk, home)
}

/// Removes a file of servers that was made for a gateway, and its folder if that is empty then.
fn remove_made(disk: &dyn Disk, path: &Path) -> Result<(), ClientsError> {
    let _ = disk::remove_if_there(disk, &disk::beside(path));
    disk::remove_if_there(disk, path)
        .map_err(|source| ClientsError::Write { path: path.to_owned(), source })?;
    if let Some(folder) = path.parent() {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Replaces a file. If something fails after it took its place, it has been replaced.
fn replaced(disk: &dyn Disk, path: &Path, before: &[u8], after: &[u8]) -> io::Result<Replaced> {
    disk::replace(disk, path, before, after).or_else(|error| match disk::read(path) {
        Ok(now) if now == after => Ok(Replaced::Done),
        Ok(_) | Err(_) => Err(error),
    })
}

/// A file without anything of ours.
struct Base {
    /// `None` if it is not known to the byte.
    bytes: Option<Vec<u8>>,
    /// What was done to it before.
    changes: Vec<Change>,
    /// True if it is what is left of a file that others have changed when ours is taken out.
    is_rebuilt: bool,
}

fn base(former: Option<&Record>, plan: &FilePlan) -> Base {
    let as_it_is =
        || Base { bytes: Some(plan.before.clone()), changes: Vec::new(), is_rebuilt: false };
    let Some(record) = former else { return as_it_is() };
    let now = hash(&plan.before);
    if now == record.before {
        return Base { is_rebuilt: record.is_rebuilt, ..as_it_is() };
    }
    let changes = record.changes.clone();
    if now == record.after
        && let Some(original) = original(record)
    {
        return Base { bytes: Some(original), changes, is_rebuilt: record.is_rebuilt };
    }
    let undone = || {
        let (bom, text) = text_of(&plan.before).ok()?;
        let undone = without_ours(&Owners::of(record)?, record, text);
        let is_whole = undone.left.is_empty() && undone.strays.is_empty();
        is_whole.then(|| [bom, &undone.text].concat().into_bytes())
    };
    Base { bytes: undone(), changes, is_rebuilt: true }
}

pub(crate) fn uninstall_on(
    disk: &dyn Disk,
    home: &Path,
    clients: &[String],
    missing: Missing,
    run: Run,
) -> Result<Vec<Restored>, ClientsError> {
    if let Some(name) = clients.iter().find(|name| !plan::names().contains(&name.as_str())) {
        let known = plan::names().join(", ");
        return Err(ClientsError::UnknownClient { name: name.clone(), known });
    }
    // Who never installed anything has no home to lock.
    if !home.exists() {
        return Ok(Vec::new());
    }
    let _turn = Turn::take(home)?;
    let is_meant =
        |record: &&Record| clients.is_empty() || clients.iter().any(|name| record.is_of(name));
    let records: Vec<Record> = Ledger::load(home)?.files.iter().filter(is_meant).cloned().collect();
    records.iter().map(|record| uninstall_one(disk, home, record, missing, run)).collect()
}

fn uninstall_one(
    disk: &dyn Disk,
    home: &Path,
    record: &Record,
    missing: Missing,
    run: Run,
) -> Result<Restored, ClientsError> {
    let owners = Owners::of(record);
    let title = owners.as_ref().map_or(record.client.clone(), Owners::titles);
    let restored = |outcome, difference| Restored {
        title: title.clone(),
        path: record.path.clone(),
        outcome,
        still: Vec::new(),
        difference,
        loses_comments: false,
        copy: record.copy.clone(),
    };
    for _ in 0..ATTEMPTS {
        let before = match (disk::read(&record.path), missing) {
            (Ok(bytes), _) => bytes,
            (Err(error), missing) if error.kind() == io::ErrorKind::NotFound => match missing {
                Missing::Keep => return Ok(restored(Outcome::Missing, String::new())),
                Missing::Forget => {
                    if run == Run::Real {
                        forget(disk, home, record)?;
                    }
                    return Ok(restored(Outcome::Forgotten, String::new()));
                }
            },
            (Err(error), _) => {
                let why = format!("it cannot be read: {error}");
                return Ok(restored(Outcome::Refused(why), String::new()));
            }
        };
        let Some(owners) = &owners else {
            let why = "its client is not known any more".to_owned();
            return Ok(restored(Outcome::Refused(why), String::new()));
        };
        let taken = match taken_out(owners, record, &before) {
            Ok(taken) => taken,
            Err(why) => return Ok(restored(Outcome::Refused(why), String::new())),
        };
        let difference = {
            let masked = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                crate::diff::masked(owners.form(), &text, owners.first)
            };
            crate::diff::unified(&record.path, &masked(&before), &masked(&taken.after))
        };
        let still = still_there(owners, &taken);
        let loses_comments = taken.loses_comments;
        if run == Run::Dry {
            return Ok(Restored { still, loses_comments, ..restored(taken.outcome, difference) });
        }
        if before != taken.after {
            match replaced(disk, &record.path, &before, &taken.after) {
                Ok(Replaced::Done) => {}
                Ok(Replaced::Changed) => continue,
                Err(error) => {
                    let why = format!("it cannot be written: {error}");
                    return Ok(restored(Outcome::Refused(why), String::new()));
                }
            }
        }
        // An end at the wrong moment may have left one.
        let _ = disk::remove_if_there(disk, &disk::beside(&record.path));
        match taken.left {
            None => forget(disk, home, record)?,
            Some(changes) => {
                // The copy stays for whoever has to finish this by hand.
                let mut ledger = Ledger::load(home)?;
                let after = hash(&taken.after);
                ledger.set(Record { before: String::new(), after, changes, ..record.clone() });
                ledger.save(disk, home)?;
            }
        }
        return Ok(Restored { still, loses_comments, ..restored(taken.outcome, difference) });
    }
    Ok(restored(Outcome::Refused(BUSY.to_owned()), String::new()))
}

/// The names of the entries that start Forebay in a file that ours has been taken out of.
fn still_there(owners: &Owners, taken: &Taken) -> Vec<String> {
    // What is left of what is remembered is told otherwise.
    if matches!(taken.outcome, Outcome::Partly(_)) {
        return Vec::new();
    }
    let text = text_of(&taken.after).map_or("", |(_, text)| text);
    let entries = owners.entries_of_install(text).into_iter();
    entries.filter_map(|(mut place, _)| place.pop()).collect()
}

/// Forgets a file, after all that was kept for it is gone.
fn forget(disk: &dyn Disk, home: &Path, record: &Record) -> Result<(), ClientsError> {
    let mut ledger = Ledger::load(home)?;
    ledger.forget(&record.path);
    for (path, _) in &record.made {
        remove_made(disk, path)?;
    }
    ledger.sweep(disk, home);
    ledger.save(disk, home)
}
