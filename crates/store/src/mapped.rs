//! A payload as a slice of memory, however long it is.

use std::{io, ops::Deref, path::Path};

use memmap2::{Mmap, UncheckedAdvice};

use crate::layout;

/// A file's bytes, mapped, or those that are about to be a file. Payloads are never changed in place,
/// only replaced or removed, and a mapping keeps the bytes that it began with.
#[derive(Debug)]
pub struct Mapped(Bytes);

#[derive(Debug)]
enum Bytes {
    File(Mmap),
    Memory(Vec<u8>),
}

impl From<Vec<u8>> for Mapped {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Bytes::Memory(bytes))
    }
}

impl Mapped {
    /// Maps a file that nobody changes in place.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = layout::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Vec::new().into());
        }
        #[expect(unsafe_code, reason = "sound as long as nobody changes the file; nobody does")]
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self(Bytes::File(map)))
    }

    /// Gives the memory of everything before `offset` back; it is read again if it is needed.
    pub fn release_before(&self, offset: usize) {
        const PAGE: usize = 64 * 1024;
        let length = offset.min(self.len()) / PAGE * PAGE;
        if let (Bytes::File(map), true) = (&self.0, length > 0) {
            #[expect(unsafe_code, reason = "a file's own pages lose nothing by being dropped")]
            let advised =
                unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, 0, length) };
            // It is advice: if it is not taken, more memory stays in use.
            let _ = advised;
        }
    }

    /// [`Self::release_before`] where `rest` begins, if it is a part of this.
    pub fn release_before_slice(&self, rest: &[u8]) {
        let offset = rest.as_ptr().addr().wrapping_sub(self.as_ptr().addr());
        if offset < self.len() {
            self.release_before(offset);
        }
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::File(map) => map,
            Bytes::Memory(bytes) => bytes,
        }
    }
}
