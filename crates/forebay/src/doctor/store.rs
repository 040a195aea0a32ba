//! The store: whether it can be written, who can read it, whether what is in it is whole, and how full it is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use forebay_store::{
    CATALOG_VERSION, Fault, Glimpse, Store,
    database::{Glance, glance},
};
use forebay_system::{access, disk, ownership, private};

use super::{Area, Finding, State, ended, quoted};
use crate::{
    assemble,
    config::Config,
    figures::{counted, grouped, size},
};

/// With less room than this, a large result may not be kept.
const LITTLE_ROOM: u64 = 1_000_000_000;
const NO_ROOM: u64 = 50_000_000;

/// Mends what can be mended, and sets the rest aside.
const REPAIR: &str = "forebay datasets verify --repair";

/// So many faults are told one by one.
const MOST_FAULTS: usize = 5;

pub(super) fn examine(config: &Config) -> Vec<Finding> {
    let home = &config.persist_location;
    let mut findings = Vec::new();
    if !home.exists() {
        if let Some(finding) = cannot_be_made(home) {
            return vec![finding];
        }
        let text = format!("Nothing has been kept yet in {}.", home.display());
        findings.push(found(State::Ok, text));
        findings.extend(room(home));
        return findings;
    }
    findings.extend(writable(home));
    findings.extend(readers(home));
    findings.extend(room(home));
    findings.extend(content(config));
    findings
}

/// True if any command may open the store: its catalog would not be made anew by that.
pub(super) fn is_as_we_left_it(home: &Path) -> bool {
    matches!(glance(&home.join("catalog.db")), Glance::Readable { version: CATALOG_VERSION })
}

fn found(state: State, text: impl Into<String>) -> Finding {
    Finding::new(Area::Store, state, text)
}

/// A home that is not there yet, and cannot be made where it is to be.
fn cannot_be_made(home: &Path) -> Option<Finding> {
    let nearest = home.ancestors().skip(1).find(|path| path.exists())?;
    if nearest.is_dir() && access::can_write(nearest) && access::can_execute(nearest) {
        return None;
    }
    let (path, parent) = (home.display(), nearest.display());
    let text = format!(
        "{path} is not there and cannot be made: {parent} cannot be written. Nothing can be kept."
    );
    Some(found(State::Problem, text).mended_by(format!("chmod u+rwx {}", quoted(nearest))))
}

fn writable(home: &Path) -> Option<Finding> {
    let path = home.display();
    if !home.is_dir() {
        let text = format!("{path} is no directory: nothing can be kept.");
        let mut aside = home.as_os_str().to_owned();
        aside.push(".old");
        let command = format!("mv {} {}", quoted(home), quoted(Path::new(&aside)));
        return Some(found(State::Problem, text).mended_by(command));
    }
    if Store::can_write(home) {
        return None;
    }
    let text = format!(
        "{path} cannot be written: nothing can be kept, and what is there can only be read."
    );
    let is_ours = fs::metadata(home).is_ok_and(|it| ownership::is_ours(&it));
    let command = if is_ours {
        format!("chmod u+rwx {}", quoted(home))
    } else {
        format!("sudo chown -R \"$(id -un)\" {}", quoted(home))
    };
    Some(found(State::Problem, text).mended_by(command))
}

/// Whoever may enter the home may read what is open in it.
fn readers(home: &Path) -> Option<Finding> {
    let open_to_others = |path: &Path| {
        fs::symlink_metadata(path)
            .is_ok_and(|it| !it.is_symlink() && private::is_open_to_others(&it))
    };
    if !open_to_others(home) {
        return None;
    }
    // What is kept, indexed and logged, and logins. Settings have a finding of their own.
    let names = ["datasets", "catalog.db", "search.db", "united", "jobs", "auth", "logs"];
    let open: Vec<PathBuf> =
        names.iter().map(|name| home.join(name)).filter(|path| open_to_others(path)).collect();
    let path = home.display();
    let (state, text) = match open.first() {
        Some(first) => {
            let others = match open.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let first = first.display();
            (State::Problem, format!("Other users of this machine can read {first}{others}."))
        }
        None => {
            (State::Note, format!("Other users can list {path}; they cannot read what was kept."))
        }
    };
    Some(found(state, text).mended_by(format!("chmod -R go= {}", quoted(home))))
}

fn room(home: &Path) -> Option<Finding> {
    let free = disk::space_at(home)?.free_bytes;
    let state = match free {
        ..NO_ROOM => State::Problem,
        NO_ROOM..LITTLE_ROOM => State::Warning,
        LITTLE_ROOM.. => return None,
    };
    let text = format!("The disk of {} has only {} left.", home.display(), size(free));
    Some(found(state, text).mended_by("forebay datasets rm --older-than 7d"))
}

/// What is in it, by its catalog, which is left as it is.
fn content(config: &Config) -> Vec<Finding> {
    let home = &config.persist_location;
    let catalog = match glance(&home.join("catalog.db")) {
        Glance::Readable { version: CATALOG_VERSION } => return kept(config),
        Glance::Missing if !home.join("datasets").exists() => {
            found(State::Ok, format!("Nothing has been kept yet in {}.", home.display()))
        }
        Glance::Missing => found(
            State::Note,
            "There is no catalog; the next command that needs it makes it from the files.",
        )
        .mended_by("forebay datasets list"),
        Glance::Readable { version } if version > CATALOG_VERSION => found(
            State::Warning,
            format!(
                "The catalog is of version {version}, made by a newer Forebay; this one makes it anew, of \
                 version {CATALOG_VERSION}, and the newer one does so again."
            ),
        )
        .advised("Keep one version of Forebay only; `forebay --version` tells which one this is."),
        Glance::Readable { version } => found(
            State::Note,
            format!(
                "The catalog is of version {version}, made by an older Forebay; the next command makes it \
                 anew from the files."
            ),
        )
        .mended_by("forebay datasets list"),
        Glance::Damaged => found(
            State::Problem,
            "The catalog is damaged; what was kept is not, and the catalog is made anew from it.",
        )
        .mended_by(REPAIR),
        Glance::Unreadable(why) => {
            found(State::Problem, ended(&format!("The catalog cannot be read: {why}"))).advised(
                format!("See to it that you can read and write {}.", home.join("catalog.db").display()),
            )
        }
    };
    vec![catalog]
}

fn kept(config: &Config) -> Vec<Finding> {
    let glimpse = assemble::store(config).and_then(|store| Ok(store.glimpse()?));
    let glimpse = match glimpse {
        Ok(glimpse) => glimpse,
        Err(error) => {
            let text = ended(&format!("The store cannot be opened: {error:#}"));
            let advice = format!(
                "See to it that you can read and write what is in {}.",
                config.persist_location.display()
            );
            return vec![found(State::Problem, text).advised(advice)];
        }
    };
    let mut findings = vec![amount(config, &glimpse)];
    let Glimpse { faults, looked_at, set_aside, .. } = glimpse;
    findings.extend(faults.iter().take(MOST_FAULTS).map(|Fault { id, what, .. }| {
        let id = id.as_ref().map_or("the store", |id| id.as_str());
        found(State::Problem, ended(&format!("{id}: {what}"))).mended_by(REPAIR)
    }));
    if let Some(more) = faults.len().checked_sub(MOST_FAULTS + 1) {
        let text = format!("{} more of the newest {looked_at} datasets are damaged.", more + 1);
        findings.push(found(State::Problem, text).mended_by(REPAIR));
    }
    if set_aside > 0 {
        let (files, folder) = (counted(set_aside, "file"), config.persist_location.join("damaged"));
        let text = format!("{files} of damaged datasets were set aside in {}.", folder.display());
        findings.push(found(State::Note, text).mended_by(format!("rm -r {}", quoted(&folder))));
    }
    findings.extend(index(config));
    findings
}

/// How much there is, and how much there may be.
fn amount(config: &Config, glimpse: &Glimpse) -> Finding {
    let Glimpse { datasets, stored_bytes, looked_at, faults, .. } = glimpse;
    let limit = config.retention().max_stored_bytes;
    let is_nearly_full = limit.is_some_and(|limit| *stored_bytes > limit / 10 * 9);
    let mut text = format!(
        "{} in {}: {}{}",
        counted(*datasets, "dataset"),
        config.persist_location.display(),
        size(*stored_bytes),
        limit.map(|limit| format!(" of {}", size(limit))).unwrap_or_default(),
    );
    if is_nearly_full {
        text += "; the oldest that are not pinned make room.";
        return found(State::Note, text).advised(
            "Raise `max_store_bytes` in the settings, or keep what should stay: `forebay datasets pin ID`.",
        );
    }
    match (*looked_at, faults.is_empty()) {
        (0, _) | (_, false) => text += ".",
        (all, true) if all == *datasets => text += "; all are whole.",
        (some, true) => {
            text.push_str("; the newest ");
            text.push_str(&grouped(some));
            text.push_str(" are whole.");
        }
    }
    found(State::Ok, text)
}

/// The index that what was kept is found by.
fn index(config: &Config) -> Option<Finding> {
    if !config.search.is_enabled {
        return Some(found(State::Note, "What is kept is not indexed: `search.enabled` is false."));
    }
    let rebuild = "forebay index rebuild";
    if glance(&config.persist_location.join("search.db")) == Glance::Damaged {
        let text = "The index is damaged: what was kept may not be found by its words and meaning.";
        return Some(found(State::Warning, text).mended_by(rebuild));
    }
    let search = assemble::search(config, &assemble::shelf(config)).ok()??;
    let counts = match search.counts() {
        Ok(counts) => counts,
        Err(error) => {
            let text = ended(&format!("The index cannot be read: {error}"));
            return Some(found(State::Warning, text).mended_by(rebuild));
        }
    };
    let behind = counts.waiting;
    if behind > 0 {
        let text = format!(
            "{} yet to be indexed; a session does it in the background.",
            counted(behind, "dataset")
        );
        return Some(found(State::Note, text).mended_by(rebuild));
    }
    None
}
