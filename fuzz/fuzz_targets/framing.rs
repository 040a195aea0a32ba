//! Any bytes in any portions come out of a line buffer as the lines that they are.
#![no_main]

use forebay_wire::framing::{LineBuffer, Piece, lines};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>, Vec<u8>)| {
    let (capacity, portions, bytes) = input;
    let mut buffer = LineBuffer::new(usize::from(capacity) + 1);
    let mut portions = portions.iter().map(|size| usize::from(*size) + 1).chain(std::iter::repeat(7));
    let (mut found, mut line, mut left) = (Vec::new(), Vec::new(), bytes.as_slice());
    loop {
        while let Piece::Last(piece) = buffer.piece() {
            line.extend_from_slice(piece);
            let count = piece.len();
            found.push(std::mem::take(&mut line));
            buffer.consume(count);
        }
        if buffer.is_stuck() {
            let count = buffer.unfinished().len();
            line.extend_from_slice(buffer.unfinished());
            buffer.consume(count);
        }
        if left.is_empty() {
            break;
        }
        let room = buffer.room();
        let count = portions.next().unwrap_or(1).min(room.len()).min(left.len());
        room[..count].copy_from_slice(&left[..count]);
        buffer.filled(count);
        left = &left[count..];
    }
    line.extend_from_slice(buffer.unfinished());
    if !line.is_empty() {
        found.push(line);
    }
    assert!(found.iter().map(Vec::as_slice).eq(lines(&bytes)));
});
