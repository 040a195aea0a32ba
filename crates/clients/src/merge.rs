//! Two changes of one text, both kept: ours taken out again, and what somebody else has written meanwhile.

use crate::diff::{Line, shortest};

/// Longer texts are not compared: the work grows with the square of what differs.
const MAX_TOKENS: usize = 1_500;

/// A stretch of the common text, and what stands there instead.
type Hunk<'a> = (std::ops::Range<usize>, Vec<&'a str>);

/// The text that has both what `one` and what `other` have made of `base`. `None` if both changed the same place.
pub(crate) fn merged(base: &str, one: &str, other: &str) -> Option<String> {
    let (base, one, other) = (tokens(base), tokens(one), tokens(other));
    let mut hunks = hunks(&base, &one)?;
    for hunk in self::hunks(&base, &other)? {
        if !hunks.contains(&hunk) {
            hunks.push(hunk);
        }
    }
    // What is put in before a stretch comes before what takes its place.
    hunks.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut made, mut at) = (Vec::new(), 0);
    let mut last: Option<std::ops::Range<usize>> = None;
    for (range, text) in hunks {
        let is_conflict = last.is_some_and(|last| range.start < last.end || range == last);
        if is_conflict {
            return None;
        }
        made.extend_from_slice(&base[at..range.start]);
        made.extend(text);
        at = range.end;
        last = Some(range);
    }
    made.extend_from_slice(&base[at..]);
    Some(made.concat())
}

/// Lines, with the comma at the end of each for itself: it comes and goes with what follows.
fn tokens(text: &str) -> Vec<&str> {
    let parts = |line| {
        let content = str::trim_end(line);
        let end = &line[content.len()..];
        match content.strip_suffix(',') {
            Some(before) => [before, ",", end],
            None => [content, "", end],
        }
    };
    let all = text.split_inclusive('\n').flat_map(parts);
    all.filter(|token| !token.is_empty()).collect()
}

/// What `new` has made of `old`; `None` if there is too much to compare.
fn hunks<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<Hunk<'a>>> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tails = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = tails.take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if old.len() + new.len() > MAX_TOKENS {
        return None;
    }
    let (mut made, mut at): (Vec<Hunk<'a>>, usize) = (Vec::new(), start);
    let mut is_open = false;
    for line in shortest(old, new) {
        if let Line::Both(_) = line {
            (at, is_open) = (at + 1, false);
            continue;
        }
        if !is_open {
            made.push((at..at, Vec::new()));
            is_open = true;
        }
        let Some((range, text)) = made.last_mut() else { continue };
        match line {
            Line::Old(_) => (at, range.end) = (at + 1, range.end + 1),
            Line::New(token) => text.push(token),
            Line::Both(_) => {}
        }
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_in_different_places_are_both_kept() {
        let base = "{\n  \"ours\": {\n    1\n  }\n}\n";
        let one = "{\n  \"ours\": {\n    1\n  },\n  \"new\": 2\n}\n";
        let other = "{\n  // said\n  \"a\": 1,\n  \"b\": 2\n}\n";
        let want = "{\n  // said\n  \"a\": 1,\n  \"b\": 2,\n  \"new\": 2\n}\n";
        assert_eq!(merged(base, one, other).as_deref(), Some(want));
        assert_eq!(merged(base, base, other).as_deref(), Some(other));
        assert_eq!(merged(base, other, other).as_deref(), Some(other));
        assert_eq!(merged("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"), None);
    }
}
