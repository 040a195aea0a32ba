//! The rows of many results in a few files, so that a tool's history is read at once.
//!
//! The results of a tool that were kept for one project lie together: whoever sees the project's sees
//! all of them. Each file of theirs is a *segment*. A list beside them says which results are in which
//! segment, and has the hash of each. What the rows look like, the store does not know.
//!
//! They can be made again at any time, and nothing depends on them; so they do not count among what is
//! stored. A segment of which a result has been removed is removed with it. Only who makes segments
//! writes the list, and lets nobody else do so meanwhile; what it names may be gone.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use forebay_system::private;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    DatasetId, Principal, Store, StoreError,
    error::Doing,
    events, integrity,
    layout::{self, Layout},
};

/// Whose results lie together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// For whom they were kept.
    pub principal: Principal,
    /// The upstream.
    pub server: String,
    /// The tool that gave them.
    pub tool: String,
    /// The project for which they were kept; empty if that is not known.
    pub project: String,
}

/// What has been made of the results of a tool.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct United {
    /// The files with their rows.
    pub segments: Vec<Segment>,
    /// The results that are left alone.
    pub apart: BTreeSet<DatasetId>,
}

/// A file with the rows of several results.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Segment {
    blake3: String,
    /// The results.
    pub datasets: Vec<DatasetId>,
    /// What whoever made it has to say of it.
    pub about: Value,
    /// Whether another has its rows, too. Somebody may still be reading it; it is removed once it is old.
    #[serde(default)]
    is_replaced: bool,
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
}

/// The ending of the list of segments.
const LIST: &str = "segments";

/// More than any list has.
const MAX_LIST_BYTES: u64 = 256 << 20;

impl Origin {
    /// A name for its files.
    fn key(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // Those of whoever uses this machine had no name before there were others.
        let principal = (!self.principal.is_local()).then_some(self.principal.as_str());
        for name in [&self.server, &self.tool, &self.project]
            .map(String::as_str)
            .into_iter()
            .chain(principal)
        {
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

impl Store {
    /// The list of a tool's segments; it need not be there.
    pub fn united_list(&self, origin: &Origin) -> PathBuf {
        self.layout.united().join(format!("{}.{LIST}", origin.key()))
    }

    /// What has been made of the results of a tool and is as it was made. `exists` says which results
    /// are known to exist; of the others the catalog is asked.
    pub fn united(
        &self,
        origin: &Origin,
        exists: &dyn Fn(&DatasetId) -> bool,
    ) -> Result<United, StoreError> {
        let mut united = read(&self.united_list(origin)).unwrap_or_default();
        let mut segments = Vec::new();
        // If two have made the same at once, one of them is enough.
        let mut taken = HashSet::new();
        for segment in united.segments {
            if segment.is_replaced || !layout::is_there(&segment.path) {
                continue;
            }
            let is_gone = |id: &DatasetId| -> Result<bool, StoreError> {
                Ok(!exists(id) && self.ask_as_it_is(|catalog| catalog.folder(id))?.is_none())
            };
            if any(&segment.datasets, is_gone)? {
                self.discard(&segment)?;
            } else if self.sound.check(&segment.path, || check(&segment)).is_err() {
                events::rows_damaged(&segment.path);
                self.discard(&segment)?;
            } else if segment.datasets.iter().all(|id| !taken.contains(id)) {
                taken.extend(segment.datasets.iter().cloned());
                segments.push(segment);
            }
        }
        united.segments = segments;
        Ok(united)
    }

    fn discard(&self, segment: &Segment) -> Result<(), StoreError> {
        if self.is_writable() { layout::remove(&segment.path) } else { Ok(()) }
    }

    /// Puts a file with the rows of `datasets` in its place, which is made from other segments or from
    /// none. If one of the datasets has been removed meanwhile, there is no such segment.
    pub fn put_segment(
        &self,
        origin: &Origin,
        file: &Path,
        datasets: Vec<DatasetId>,
        about: Value,
        made_from: &[PathBuf],
    ) -> Result<(), StoreError> {
        let list = self.united_list(origin);
        let blake3 = integrity::hash(file).doing("read", file)?;
        let path = segment_path(&list, &blake3);
        fs::rename(file, &path).doing("rename", file)?;
        self.sound.note(&path);
        let new = Segment { blake3, datasets, about, is_replaced: false, path };
        let mut united = read(&list).unwrap_or_default();
        united.segments.retain(|segment| layout::is_there(&segment.path));
        for segment in &mut united.segments {
            segment.is_replaced |= made_from.contains(&segment.path);
        }
        united.segments.push(new.clone());
        write(&list, &united)?;
        // Whoever removes a dataset looks for segments after that, and we look for it after this.
        if new.datasets.iter().any(|id| self.dataset_folder(id).is_err()) {
            layout::remove(&new.path)?;
        }
        Ok(())
    }

    /// Notes that results are left alone.
    pub fn set_apart(&self, origin: &Origin, datasets: Vec<DatasetId>) -> Result<(), StoreError> {
        let list = self.united_list(origin);
        let mut united = read(&list).unwrap_or_default();
        united.apart.retain(|id| self.dataset_folder(id).is_ok());
        united.apart.extend(datasets);
        write(&list, &united)
    }

    /// Makes the folder for segments.
    pub fn make_united_folder(&self) -> Result<(), StoreError> {
        let folder = self.layout.united();
        private::make_folder(&folder).doing("create", &folder)?;
        if layout::is_folder(&folder) {
            Ok(())
        } else {
            Err(layout::is_link()).doing("use", &folder)
        }
    }
}

/// Removes the segments with the rows of a dataset that does not exist any more, but is in the catalog.
pub(crate) fn forget(store: &Store, id: &DatasetId) -> Result<(), StoreError> {
    let Some(origin) = store.ask_as_it_is(|catalog| catalog.origin(id))? else { return Ok(()) };
    let list = store.united_list(&origin);
    if !layout::is_there(&list) {
        return Ok(());
    }
    let Some(united) = read(&list) else {
        // Any of them may have its rows.
        let key = format!("{}_", origin.key());
        let of_origin = files(&store.layout).into_iter().filter(|path| is_named(path, &key));
        return of_origin.chain([list]).try_for_each(|path| layout::remove(&path));
    };
    let with_it = united.segments.iter().filter(|segment| segment.datasets.contains(id));
    with_it.map(|segment| &segment.path).try_for_each(|path| layout::remove(path))
}

/// Removes segments with rows of what no longer exists, and files that belong to none and are old.
pub(crate) fn sweep(store: &Store) -> Result<(), StoreError> {
    let all = files(&store.layout);
    let mut named = HashSet::new();
    for list in all.iter().filter(|path| is_list(path)) {
        let Some(united) = read(list) else { continue };
        let is_gone = |id: &DatasetId| -> Result<bool, StoreError> {
            Ok(store.ask_as_it_is(|catalog| catalog.folder(id))?.is_none())
        };
        for segment in united.segments {
            if any(&segment.datasets, is_gone)?
                || segment.is_replaced && layout::is_abandoned(&segment.path)
            {
                layout::remove(&segment.path)?;
            } else if layout::is_there(&segment.path) {
                named.insert(segment.path);
                named.insert(list.clone());
            }
        }
    }
    let is_left = |path: &&PathBuf| !named.contains(*path) && layout::is_abandoned(path);
    all.iter().filter(is_left).try_for_each(|path| layout::remove(path))
}

/// The segments that are not as they were made, and the lists that cannot be read, with what is wrong.
pub(crate) fn faults(layout: &Layout) -> Vec<(PathBuf, StoreError)> {
    let mut faults = Vec::new();
    for list in files(layout).into_iter().filter(|path| is_list(path)) {
        let Some(united) = read(&list) else {
            if layout::is_there(&list) {
                faults.push((list.clone(), not_as_made(&list)));
            }
            continue;
        };
        for segment in united.segments {
            if let Err(error) = check(&segment)
                && layout::is_there(&segment.path)
            {
                faults.push((segment.path, error));
            }
        }
    }
    faults
}

fn check(segment: &Segment) -> Result<(), StoreError> {
    let hash = integrity::hash(&segment.path).doing("read", &segment.path)?;
    if hash == segment.blake3 { Ok(()) } else { Err(not_as_made(&segment.path)) }
}

fn not_as_made(path: &Path) -> StoreError {
    StoreError::Damaged { path: path.to_owned(), how: "it is not as it was made" }
}

fn any(
    ids: &[DatasetId],
    is: impl Fn(&DatasetId) -> Result<bool, StoreError>,
) -> Result<bool, StoreError> {
    for id in ids {
        if is(id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a list; `None` if there is none, or it is damaged. Its last line is the hash of the first.
fn read(list: &Path) -> Option<United> {
    // A link could lead out of the store.
    list.parent().filter(|folder| layout::is_folder(folder))?;
    let mut text = String::new();
    layout::open(list).ok()?.take(MAX_LIST_BYTES).read_to_string(&mut text).ok()?;
    let (json, hash) = text.split_once('\n')?;
    if blake3::hash(json.as_bytes()).to_hex().as_str() != hash {
        return None;
    }
    let mut united: United = serde_json::from_str(json).ok()?;
    for segment in &mut united.segments {
        segment.path = segment_path(list, &segment.blake3);
    }
    Some(united)
}

fn write(list: &Path, united: &United) -> Result<(), StoreError> {
    let mut text = serde_json::to_string(united)
        .map_err(|source| StoreError::Metadata { path: list.to_owned(), source })?;
    let hash = blake3::hash(text.as_bytes()).to_hex();
    text.push('\n');
    text.push_str(&hash);
    layout::write_by_rename(list, text.as_bytes()).map(drop)
}

/// The file of a segment is named by what it holds: the name never stands for anything else.
fn segment_path(list: &Path, blake3: &str) -> PathBuf {
    let key = list.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = blake3.chars().filter(char::is_ascii_hexdigit).take(32).collect();
    list.with_file_name(format!("{key}_{name}.parquet"))
}

fn files(layout: &Layout) -> Vec<PathBuf> {
    if !layout::is_folder(&layout.united()) {
        return Vec::new();
    }
    let entries = fs::read_dir(layout.united()).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| entry.path()).collect()
}

fn is_list(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == LIST) && !is_named(path, ".")
}

fn is_named(path: &Path, beginning: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning))
}

#[cfg(test)]
mod tests;
