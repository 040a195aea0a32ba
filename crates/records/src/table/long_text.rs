//! A text of many megabytes with escapes in it, read piece by piece: decoded whole, it would be in
//! memory a second time.

use forebay_wire::escapes;

use super::distinct::{PIECE, TextHasher};

/// A text that is written in more bytes than this is read in pieces.
pub(super) const MIN_BYTES: usize = 1024 * 1024;

/// What is known of a text that has been read in pieces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LongText {
    pub(super) hash: u64,
    pub(super) bytes: usize,
    /// How it begins.
    pub(super) head: Vec<u8>,
}

/// Reads what stands between the quotes; `None` if it is no text.
pub(super) fn read(written: &[u8]) -> Option<LongText> {
    let mut hasher = TextHasher::default();
    let mut buffer = vec![0; 2 * PIECE + escapes::SLACK];
    let (mut at, mut rest, mut bytes) = (0, 0, 0);
    let mut head = Vec::new();
    while at < written.len() {
        let to_come = &written[at..];
        let most = to_come.len().min(PIECE);
        let (used, decoded) = escapes::decode(to_come, most, &mut buffer[rest..])?;
        (at, rest, bytes) = (at + used, rest + decoded, bytes + decoded);
        if rest >= PIECE {
            if head.is_empty() {
                head.extend_from_slice(&buffer[..PIECE]);
            }
            hasher.piece(&buffer[..PIECE]);
            buffer.copy_within(PIECE..rest, 0);
            rest -= PIECE;
        }
    }
    if head.is_empty() {
        head.extend_from_slice(&buffer[..rest]);
    }
    hasher.piece(&buffer[..rest]);
    Some(LongText { hash: hasher.finish(), bytes, head })
}

#[cfg(test)]
mod tests {
    use super::{super::distinct::hash, *};

    #[test]
    fn a_text_in_pieces_is_the_same_text() {
        for length in [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 5 * PIECE + 17] {
            let text: String = "a\n\"é😀".chars().cycle().take(length).collect();
            let written = serde_json::Value::from(text.as_str()).to_string();
            let long = read(&written.as_bytes()[1..written.len() - 1]).unwrap();
            assert_eq!((long.hash, long.bytes), (hash(text.as_bytes(), true), text.len()));
            assert!(text.as_bytes().starts_with(&long.head));
        }
        assert_eq!(read(br"\ud800"), None);
    }
}
