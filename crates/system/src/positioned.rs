//! Reading and writing at a place in a file, whose own position does not move.

use std::{fs::File, io, os::unix::fs::FileExt};

/// Reads some bytes from `offset` on, and says how many; 0 at the end.
pub fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Fills the buffer with what lies from `offset` on; an error if there is less.
pub fn read_exact(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Writes all of this, from `offset` on.
pub fn write_all(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_at_a_place_is_read_there() {
        let file = tempfile::tempfile().unwrap();
        write_all(&file, b"hello", 3).unwrap();
        let mut buffer = [b'x'; 5];
        read_exact(&file, &mut buffer, 3).unwrap();
        assert_eq!(&buffer, b"hello");
        assert_eq!(read(&file, &mut buffer, 6).unwrap(), 2);
        assert_eq!(read(&file, &mut buffer, 8).unwrap(), 0);
        assert!(read_exact(&file, &mut buffer, 4).is_err());
    }
}
