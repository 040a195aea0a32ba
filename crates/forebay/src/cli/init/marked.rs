//! A section between two marks in somebody else's file: put in, brought up to date, taken out.
//!
//! Pure: bytes in, bytes out. Nothing outside the section changes, and what was put in can be taken out again
//! so that every byte is as it was.

mod fences;

use std::ops::Range;

/// The line that a section begins with.
pub(super) const BEGIN: &str = "<!-- forebay:begin -->";
/// The line that it ends with.
pub(super) const END: &str = "<!-- forebay:end -->";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a file is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// A section that goes on to the end, as far as can be seen.
    #[error(
        "line {0} begins a section that nothing ends; write the line `{END}` behind it, or delete line {0}"
    )]
    NoEnd(usize),
    #[error("line {0} ends a section that nothing begins; delete that line")]
    NoBegin(usize),
    /// It is not known which is meant.
    #[error("it has marks of ours on the lines {}; delete all but one section, from `{BEGIN}` to `{END}`", numbers(.0))]
    Several(Vec<usize>),
    /// Bytes that are put in would not be text there.
    #[error("it is not UTF-8 text; save it as that, or name another file with `--file`")]
    NotText,
}

/// What a file is without the section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Without {
    /// There was no section.
    Unmarked,
    /// All else.
    Rest(Vec<u8>),
    /// There is nothing else: it was made for the section.
    Nothing,
}

/// The file with the section in it; a file that is not there becomes one. The lines of `section` end with `\n`,
/// but for the last.
pub(super) fn with(file: Option<&[u8]>, section: &str) -> Result<Vec<u8>, Refusal> {
    let Some(file) = file else { return Ok(format!("{section}\n").into_bytes()) };
    if let Some(place) = find(file)? {
        let (before, after) = (&file[..place.start], &file[place.end..]);
        let newline = usual_newline(&[before, after]).unwrap_or(newline_of(&file[place]));
        return Ok([before, written(section, newline).as_bytes(), after].concat());
    }
    let newline = usual_newline(&[file]).unwrap_or("\n");
    let section = written(section, newline);
    let (section, newline) = (section.as_bytes(), newline.as_bytes());
    // Where the last line ends with nothing, it goes on to do so: thereby it is known later what was put in.
    Ok(match file {
        b"" | BYTE_ORDER_MARK => [file, section].concat(),
        [.., b'\n'] => [file, newline, section, newline].concat(),
        _ => [file, newline, newline, section].concat(),
    })
}

/// The file as it was before the section was put in.
pub(super) fn without(file: &[u8]) -> Result<Without, Refusal> {
    let Some(place) = find(file)? else { return Ok(Without::Unmarked) };
    let newline = newline_of(&file[place.clone()]).as_bytes();
    let (before, after) = (&file[..place.start], &file[place.end..]);
    let shortened = |text: &'_ [u8]| text.strip_suffix(newline).map(<[u8]>::to_vec);
    if after.is_empty() {
        let once = shortened(before).unwrap_or_else(|| before.to_vec());
        return Ok(Without::Rest(shortened(&once).unwrap_or(once)));
    }
    let after = after.strip_prefix(b"\r").unwrap_or(after);
    let after = after.strip_prefix(b"\n").unwrap_or(after);
    if before.is_empty() && after.is_empty() {
        return Ok(Without::Nothing);
    }
    // An empty line was put in with it. If it is gone, the end of the line before stays where it is.
    let is_line_end = |text: &Vec<u8>| text.is_empty() || text.ends_with(b"\n");
    let before = shortened(before).filter(is_line_end).unwrap_or_else(|| before.to_vec());
    Ok(Without::Rest([&before, after].concat()))
}

/// True if there is a section.
pub(super) fn is_marked(file: &[u8]) -> bool {
    find(file).is_ok_and(|place| place.is_some())
}

/// From the first byte of the line that begins it to the last one of the line that ends it.
fn find(file: &[u8]) -> Result<Option<Range<usize>>, Refusal> {
    if file.contains(&0) || std::str::from_utf8(file).is_err() {
        return Err(Refusal::NotText);
    }
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    let fenced = fences::of(file);
    let mut start = if file.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    for (number, line) in file[start..].split(|byte| *byte == b'\n').enumerate() {
        let stop = start + line.strip_suffix(b"\r").unwrap_or(line).len();
        let marks = match line.trim_ascii() {
            words if words == BEGIN.as_bytes() => Some(&mut begins),
            words if words == END.as_bytes() => Some(&mut ends),
            _ => None,
        };
        // What is shown as an example is none of ours.
        let is_fenced = fenced.iter().any(|lines| lines.contains(&number));
        if let Some(marks) = marks.filter(|_| !is_fenced) {
            marks.push((number + 1, start..stop));
        }
        start += line.len() + 1;
    }
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([(_, begin)], [(_, end)]) if begin.end < end.start => Ok(Some(begin.start..end.end)),
        ([(line, _)], []) => Err(Refusal::NoEnd(*line)),
        ([], [(line, _)]) => Err(Refusal::NoBegin(*line)),
        _ => {
            let mut lines: Vec<usize> = begins.iter().chain(&ends).map(|(line, _)| *line).collect();
            lines.sort_unstable();
            Err(Refusal::Several(lines))
        }
    }
}

/// What most of the lines end with, if there are any.
fn usual_newline(texts: &[&[u8]]) -> Option<&'static str> {
    let pairs = texts.iter().flat_map(|text| text.windows(2)).filter(|it| *it == b"\r\n").count();
    let all = texts.iter().flat_map(|text| text.iter()).filter(|byte| **byte == b'\n').count();
    match all {
        0 => None,
        all if pairs * 2 > all => Some("\r\n"),
        _ => Some("\n"),
    }
}

/// What the lines of a section end with.
fn newline_of(section: &[u8]) -> &'static str {
    let first = section.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.ends_with(b"\r") { "\r\n" } else { "\n" }
}

fn written(section: &str, newline: &str) -> String {
    section.replace('\n', newline)
}

fn numbers(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
