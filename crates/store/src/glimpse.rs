//! Whether what was kept last is whole, as far as that can be told quickly.

use std::fs;

use crate::{Dataset, DatasetId, Fault, Filter, Store, StoreError, layout};

/// So many datasets are looked at, the newest first.
const DATASETS: u64 = 1_000;
/// Payloads are read whole until this much has been read; of the others the size is compared.
const READ_BYTES: u64 = 32 << 20;

/// What a short look at the store shows.
#[derive(Debug, Default)]
pub struct Glimpse {
    /// How many datasets there are.
    pub datasets: u64,
    /// How much of the disk their payloads take.
    pub stored_bytes: u64,
    /// How many of them were looked at.
    pub looked_at: u64,
    /// What is wrong with those.
    pub faults: Vec<Fault>,
    /// How many files of damaged datasets have been set aside.
    pub set_aside: u64,
}

impl Store {
    /// Takes a short look at what was kept. [`Store::verify`] looks at all of it.
    pub fn glimpse(&self) -> Result<Glimpse, StoreError> {
        let set_aside = fs::read_dir(self.layout.damaged()).map_or(0, Iterator::count);
        let mut glimpse = Glimpse {
            datasets: self.total()?,
            stored_bytes: self.stored_bytes()?,
            set_aside: set_aside as u64,
            ..Glimpse::default()
        };
        let filter = Filter { limit: Some(DATASETS), ..Filter::default() };
        let mut left = READ_BYTES;
        for entry in self.list(&filter)? {
            match self.dataset(&entry.id).and_then(|dataset| look_at(&dataset, &mut left)) {
                Ok(()) => {}
                // Removed while we look.
                Err(StoreError::Unknown(_)) => continue,
                Err(error) => glimpse.faults.push(fault(&entry.id, &error)),
            }
            glimpse.looked_at += 1;
        }
        Ok(glimpse)
    }
}

/// Reads the payloads of a dataset while there is something `left` to be read, or compares their sizes.
fn look_at(dataset: &Dataset, left: &mut u64) -> Result<(), StoreError> {
    for (number, part) in dataset.metadata().parts.iter().enumerate() {
        if let Some(rest) = left.checked_sub(part.bytes) {
            *left = rest;
            dataset.verify(number)?;
            continue;
        }
        let plain = dataset.plain_path(number);
        match fs::symlink_metadata(&plain) {
            Ok(file) if file.len() != part.bytes => {
                let how = "it has another size than what was kept";
                return Err(StoreError::Damaged { path: plain, how });
            }
            Ok(_) => {}
            Err(_) if layout::is_there(&layout::compressed(&plain)) => {}
            Err(_) => return Err(StoreError::Missing(plain)),
        }
    }
    Ok(())
}

fn fault(id: &DatasetId, error: &StoreError) -> Fault {
    let what = match error {
        StoreError::File { source, .. } => format!("{error}: {source}"),
        other => other.to_string(),
    };
    Fault { id: Some(id.clone()), what, remedy: None }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use jiff::Timestamp;

    use super::*;
    use crate::{Capture, Description, Durability};

    #[test]
    fn what_was_kept_last_is_read_and_what_is_missing_or_changed_is_told() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Durability::RightAfter).unwrap();
        let keep = |text: &str| {
            let mut capture = Capture::begin(&store, Timestamp::now()).unwrap();
            write!(capture.start_part("txt").unwrap(), "{text}").unwrap();
            let id = capture.commit(Description::default()).unwrap().id().clone();
            store.dataset(&id).unwrap()
        };
        let (one, other, third) = (keep("one"), keep("other"), keep("third"));
        let whole = store.glimpse().unwrap();
        assert_eq!((whole.datasets, whole.looked_at, whole.faults.len()), (3, 3, 0));
        assert!(whole.stored_bytes > 0);
        fs::write(one.path(0), "eno").unwrap();
        fs::remove_file(other.path(0)).unwrap();
        let mut told: Vec<_> = store.glimpse().unwrap().faults;
        told.sort_by_key(|fault| fault.what.contains("missing"));
        let ids: Vec<_> = told.iter().map(|fault| fault.id.clone().unwrap()).collect();
        assert_eq!(ids, [one.id().clone(), other.id().clone()], "{told:?}");
        // Beyond what is read, sizes are compared.
        let mut nothing = 0;
        assert!(look_at(&third, &mut nothing).is_ok());
        assert!(look_at(&one, &mut nothing).is_ok(), "its size is what it was");
        assert!(look_at(&other, &mut nothing).is_err());
        fs::write(third.path(0), "longer").unwrap();
        assert!(look_at(&third, &mut nothing).is_err());
    }
}
