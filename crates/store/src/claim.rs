//! A claim on a dataset's name: a file that its process holds locked from before the dataset's first
//! file is made until the dataset is in the catalog, and that says where these files are.
//!
//! All claims lie in one folder. So whatever is new, or was left behind by a process that died, is found
//! by a look at that folder, however much has been kept.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::PathBuf,
};

use forebay_system::private;
use parking_lot::MutexGuard;

use jiff::Timestamp;

use crate::{
    DatasetId, Store, StoreError,
    error::Doing,
    layout::{self, Folder, Layout},
};

/// A claim of our own. Dropped, it stays for whoever looks next, as if we had died.
#[derive(Debug)]
pub(crate) struct Claim {
    layout: Layout,
    folder: Folder,
    id: DatasetId,
    _locked: File,
}

/// A claim that was found.
pub(crate) struct Found {
    pub(crate) id: DatasetId,
    pub(crate) folder: Folder,
    /// Ours from now on, if whoever made it has died.
    pub(crate) left_behind: Option<Claim>,
}

impl Claim {
    /// Makes one; `None` if the name is taken. It says nothing before it is locked, so that nobody takes
    /// it for one that was left behind while we live.
    pub(crate) fn make(
        layout: &Layout,
        folder: &Folder,
        id: &DatasetId,
    ) -> Result<Option<Self>, StoreError> {
        let path = layout.claim(id);
        let file = match layout::create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(layout)?;
                layout::create(&path).doing("create", &path)?
            }
            file => file.doing("create", &path)?,
        };
        if layout::is_there(&layout.metadata(folder, id)) {
            layout::remove(&path)?;
            return Ok(None);
        }
        Self::lock(file, layout, folder, id).map(Some)
    }

    /// Makes one on a dataset that exists and is to change, or takes one over whose process has died; `None`
    /// if another has one.
    pub(crate) fn on_growing(
        layout: &Layout,
        folder: &Folder,
        id: &DatasetId,
    ) -> Result<Option<Self>, StoreError> {
        let path = layout.claim(id);
        let file = match layout::create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Ok(found(layout, id.clone()).and_then(|found| found.left_behind));
            }
            file => file.doing("create", &path)?,
        };
        Self::lock(file, layout, folder, id).map(Some)
    }

    /// Makes a claim of the file that was just made.
    fn lock(
        mut file: File,
        layout: &Layout,
        folder: &Folder,
        id: &DatasetId,
    ) -> Result<Self, StoreError> {
        file.lock()
            .and_then(|()| file.write_all(folder.as_str().as_bytes()))
            .doing("claim", &layout.claim(id))?;
        let (layout, folder, id) = (layout.clone(), folder.clone(), id.clone());
        Ok(Self { layout, folder, id, _locked: file })
    }

    /// The name that it is on.
    pub(crate) fn id(&self) -> &DatasetId {
        &self.id
    }

    /// False if somebody has removed it, and with it perhaps all that is kept.
    pub(crate) fn is_there(&self) -> bool {
        layout::is_there(&self.layout.claim(&self.id))
    }

    /// Makes it a claim on another name, in the same folder; it stays as it is if that is taken.
    fn move_to(mut self, id: DatasetId) -> Result<Self, Self> {
        let (from, to) = (self.layout.claim(&self.id), self.layout.claim(&id));
        let is_free = !layout::is_there(&self.layout.metadata(&self.folder, &id));
        if !is_free || layout::move_to_free(&from, &to).is_err() {
            return Err(self);
        }
        self.id = id;
        Ok(self)
    }

    /// Gives it up: there is nothing left to be found.
    pub(crate) fn end(self) -> Result<(), StoreError> {
        layout::remove(&self.layout.claim(&self.id))
    }
}

impl Store {
    /// A claim on a name that is free.
    pub(crate) fn claim_a_name(&self, folder: &Folder) -> Result<Claim, StoreError> {
        const TRIES: usize = 20;
        self.follow_catalog();
        for _ in 0..TRIES {
            let id = DatasetId::random();
            if matches!(self.catalog().folder(&id), Ok(Some(_))) {
                continue;
            }
            if let Some(claim) = Claim::make(&self.layout, folder, &id)? {
                return Ok(claim);
            }
        }
        Err(StoreError::NoFreeName)
    }

    /// Gives up a claim, or has it claim another name for the next capture: a file that is made takes a
    /// good part of a capture's time, the more if another has just been removed.
    pub(crate) fn end_or_spare(&self, claim: Claim) -> Result<(), StoreError> {
        let mut spare = self.spare_claim();
        let is_wanted = spare.is_none() && claim.folder == Folder::of(Timestamp::now());
        let id = DatasetId::random();
        if !is_wanted || !matches!(self.catalog().folder(&id), Ok(None)) {
            return claim.end();
        }
        match claim.move_to(id) {
            Ok(moved) => *spare = Some(moved),
            Err(claim) => claim.end()?,
        }
        Ok(())
    }

    /// A claim from before, if it is good for this folder.
    pub(crate) fn take_spare_claim(&self, folder: &Folder) -> Option<Claim> {
        let claim = self.spare_claim().take()?;
        if claim.folder == *folder && claim.is_there() {
            return Some(claim);
        }
        let _ = claim.end();
        None
    }

    /// Gives up the claim that nobody needs any more.
    pub(crate) fn drop_spare_claim(&self) {
        if let Some(claim) = self.spare_claim().take() {
            // What is left is removed by the next process that looks.
            let _ = claim.end();
        }
    }

    fn spare_claim(&self) -> MutexGuard<'_, Option<Claim>> {
        self.spare_claim.lock()
    }
}

/// Makes the folder for claims.
pub(crate) fn make_folder(layout: &Layout) -> Result<(), StoreError> {
    let path = layout.claims();
    private::make_folder(&path).doing("create", &path)
}

/// All claims that there are.
pub(crate) fn all(layout: &Layout) -> Vec<Found> {
    let entries = fs::read_dir(layout.claims()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| found(layout, DatasetId::parse(&name)?)).collect()
}

/// Claims that say nothing, because whoever made them died at once.
pub(crate) fn empty(layout: &Layout) -> Vec<PathBuf> {
    let entries = fs::read_dir(layout.claims()).into_iter().flatten().flatten();
    let is_empty = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|file| file.len() == 0);
    let empty = entries.filter(is_empty).map(|entry| entry.path());
    empty.filter(|path| layout::is_abandoned(path)).collect()
}

/// True while a living process captures the dataset.
pub(crate) fn is_held(layout: &Layout, id: &DatasetId) -> bool {
    layout::open(&layout.claim(id)).is_ok_and(|file| file.try_lock().is_err())
}

fn found(layout: &Layout, id: DatasetId) -> Option<Found> {
    let mut file = layout::open(&layout.claim(&id)).ok()?;
    let mut text = String::new();
    let longest = Folder::LENGTH as u64 + 1;
    (&mut file).take(longest).read_to_string(&mut text).ok()?;
    let folder = Folder::parse(&text)?;
    let is_left = file.try_lock().is_ok();
    let left_behind = is_left.then(|| Claim {
        layout: layout.clone(),
        folder: folder.clone(),
        id: id.clone(),
        _locked: file,
    });
    Some(Found { id, folder, left_behind })
}
