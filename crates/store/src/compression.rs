//! Payloads, compressed once they are old and unpacked when somebody wants the file.
//!
//! At every moment there is a whole one, plain or compressed; for a moment there may be both.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use crate::{Dataset, StoreError, error::Doing, layout};

const LEVEL: i32 = 3;

/// Puts a compressed file in the place of a plain one, unless it would be longer.
pub(crate) fn compress(path: &Path) -> Result<bool, StoreError> {
    let target = layout::compressed(path);
    let partial = layout::hidden(&target);
    layout::remove(&partial)?;
    let written = (|| -> io::Result<u64> {
        let mut source = layout::open(path)?;
        let mut encoder = zstd::Encoder::new(layout::create(&partial)?, LEVEL)?;
        io::copy(&mut source, &mut encoder)?;
        let file = encoder.finish()?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    })();
    let saves = match &written {
        Ok(bytes) => fs::symlink_metadata(path).is_ok_and(|plain| *bytes < plain.len()),
        Err(_) => false,
    };
    if !saves {
        layout::remove(&partial)?;
        return written.doing("compress", path).map(|_| false);
    }
    fs::rename(&partial, &target).doing("rename", &partial)?;
    layout::remove(path)?;
    Ok(true)
}

/// Puts a twin's compressed file in the place of a plain one; `false` if that cannot be done.
pub(crate) fn share_compressed(twin: &Path, path: &Path) -> Result<bool, StoreError> {
    let is_shared = layout::link_over(twin, &layout::compressed(path)).is_ok();
    if is_shared {
        layout::remove(path)?;
    }
    Ok(is_shared)
}

/// Puts a plain file in the place of a compressed one, which must be what was kept.
pub(crate) fn unpack(dataset: &Dataset, part: usize) -> Result<(), StoreError> {
    let plain = dataset.plain_path(part);
    write(dataset, part, &plain, dataset.open_compressed(part)?)?;
    layout::remove(&layout::compressed(&plain))
}

/// Writes a payload to `target`, at once, whatever form it has.
pub(crate) fn copy(dataset: &Dataset, part: usize, target: &Path) -> Result<(), StoreError> {
    write(dataset, part, target, dataset.open(part)?)
}

/// Puts what a payload holds at `target`, at once. As long as it is open, nobody removes it.
fn write(
    dataset: &Dataset,
    part: usize,
    target: &Path,
    mut payload: Box<dyn Read + Send>,
) -> Result<(), StoreError> {
    // Others may be unpacking the same: each has its own, and the last one to be put in place is as
    // good as the first.
    let partial = layout::hidden_alone(target);
    let written = layout::create(&partial).and_then(|mut file| {
        io::copy(&mut payload, &mut file)?;
        file.sync_all()?;
        fs::rename(&partial, target)
    });
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.map_err(|error| StoreError::of_reading(error, &dataset.path(part)))
}
