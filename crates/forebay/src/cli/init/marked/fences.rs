//! Where a Markdown file shows code: the lines between two fences.

use std::ops::RangeInclusive;

/// A fence: which character it is made of, and how many.
type Fence = (u8, usize);

/// The lines, from 0 on, that stand within fences, the fences included. One that nothing closes is none: what
/// is put in at the end of a file stands outside of it.
pub(super) fn of(file: &[u8]) -> Vec<RangeInclusive<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(Fence, usize)> = None;
    for (number, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let Some((fence, behind)) = fence(line) else { continue };
        match open {
            None if fence.0 == b'`' && behind.contains(&b'`') => {}
            None => open = Some((fence, number)),
            Some(((mark, length), first)) => {
                let closes = fence.0 == mark && fence.1 >= length && behind.is_empty();
                if closes {
                    found.push(first..=number);
                    open = None;
                }
            }
        }
    }
    found
}

/// The fence that a line begins with, and what stands behind it.
fn fence(line: &[u8]) -> Option<(Fence, &[u8])> {
    let indent = line.iter().take_while(|byte| **byte == b' ').count();
    let line = line.get(indent..).filter(|_| indent <= 3)?;
    let mark = *line.first().filter(|byte| matches!(**byte, b'`' | b'~'))?;
    let length = line.iter().take_while(|byte| **byte == mark).count();
    (length >= 3).then(|| ((mark, length), line[length..].trim_ascii()))
}
