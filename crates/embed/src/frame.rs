//! What is said between a [`crate::Local`] and its processes: frames of a kind and bytes.

use std::{
    io::{self, Read},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::DIMENSIONS;

/// What a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To a worker, first of all: a [`Setup`] as JSON.
    Setup,
    /// To a worker: texts, as JSON.
    Texts,
    /// Of a worker: the vectors of all texts, as numbers of four bytes, the lowest first.
    Vectors,
    /// Of a worker: why there are none.
    Failure,
}

/// How a worker works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) threads: usize,
    pub(crate) priority: Priority,
    /// How long it waits for something to do before it ends.
    pub(crate) idle: Duration,
}

/// Who goes first when there is much to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Priority {
    /// Somebody waits.
    Normal,
    /// Everything else goes first.
    Low,
}

/// What is said at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

const KINDS: [Kind; 4] = [Kind::Setup, Kind::Texts, Kind::Vectors, Kind::Failure];

/// A kind and a length.
const HEADER_BYTES: usize = 1 + 4;

const NUMBER_BYTES: usize = size_of::<f32>();

/// A frame's bytes, unless they are too many for one.
pub(crate) fn encode(kind: Kind, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let mut frame = Vec::with_capacity(HEADER_BYTES + bytes.len());
    frame.push(kind as u8);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(bytes);
    Ok(frame)
}

/// Reads a frame of at most `max_bytes`; `None` at the end.
pub(crate) fn read(input: &mut dyn Read, max_bytes: usize) -> io::Result<Option<Frame>> {
    let mut header = [0; HEADER_BYTES];
    match input.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let [kind, length @ ..] = header;
    let kind = KINDS.get(usize::from(kind)).copied();
    let kind = kind.ok_or_else(|| io::Error::other("a frame of no known kind"))?;
    let length = u32::from_le_bytes(length);
    if length as usize > max_bytes {
        return Err(io::Error::other("a frame that is too long"));
    }
    // As much as comes: a length alone takes no memory.
    let mut bytes = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() != length as usize {
        return Ok(None);
    }
    Ok(Some(Frame { kind, bytes }))
}

/// Vectors as bytes.
pub(crate) fn vectors_to_bytes(vectors: &[Vec<f32>]) -> Vec<u8> {
    vectors.iter().flatten().flat_map(|number| number.to_le_bytes()).collect()
}

/// So many vectors of bytes.
pub(crate) fn vectors_of(bytes: &[u8], count: usize) -> io::Result<Vec<Vec<f32>>> {
    if bytes.len() != count * DIMENSIONS * NUMBER_BYTES {
        return Err(io::Error::other("vectors of another number or length"));
    }
    let numbers = bytes
        .chunks_exact(NUMBER_BYTES)
        .map(|bytes| bytes.try_into().map(f32::from_le_bytes).map_err(io::Error::other));
    let numbers: Vec<f32> = numbers.collect::<io::Result<_>>()?;
    Ok(numbers.chunks_exact(DIMENSIONS).map(<[f32]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_read_as_it_was_written() {
        let mut out = Vec::new();
        for kind in KINDS {
            out.extend(encode(kind, format!("{kind:?}").as_bytes()).unwrap());
        }
        let mut input = out.as_slice();
        for kind in KINDS {
            let frame = read(&mut input, 100).unwrap().unwrap();
            assert_eq!(frame, Frame { kind, bytes: format!("{kind:?}").into_bytes() });
        }
        assert_eq!(read(&mut input, 100).unwrap(), None);
    }

    #[test]
    fn a_frame_that_is_too_long_or_unknown_is_an_error() {
        let mut out = encode(Kind::Texts, b"12345").unwrap();
        assert!(read(&mut out.as_slice(), 4).is_err());
        assert_eq!(read(&mut &out[..out.len() - 1], 5).unwrap(), None, "it broke off");
        out[0] = 99;
        assert!(read(&mut out.as_slice(), 5).is_err());
    }

    #[test]
    fn vectors_come_back_as_they_were_and_in_their_number() {
        let vectors = vec![vec![0.25; DIMENSIONS], vec![-1.5e-7; DIMENSIONS]];
        let bytes = vectors_to_bytes(&vectors);
        assert_eq!(vectors_of(&bytes, 2).unwrap(), vectors);
        assert!(vectors_of(&bytes, 1).is_err());
        assert!(vectors_of(&bytes[1..], 2).is_err());
    }
}
