//! Lists of files without a header: `ls -l`, also of several folders, and `du`.

use std::borrow::Cow;

use super::{
    Found, Layout,
    line::{self, lines, without_end},
};
use crate::{
    shape::times::{self, Time},
    table::{Raw, Records, has_form},
};

const LOOKED_AT: usize = 100;
const MIN_FILES: usize = 2;
const MIN_SIZES: usize = 3;

/// Which program printed the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    Ls,
    Du,
}

/// A file in the list of `ls -l`.
struct File<'a> {
    mode: &'a [u8],
    links: &'a [u8],
    owner: &'a [u8],
    group: &'a [u8],
    size: &'a [u8],
    /// Of a device, in place of its size.
    device: Option<&'a [u8]>,
    modified: Cow<'a, [u8]>,
    name: &'a [u8],
}

/// A line of a list.
enum Entry<'a> {
    File(File<'a>),
    /// `total 123`.
    Total,
    /// `./folder:`.
    Folder(&'a [u8]),
    Blank,
}

/// The list that begins at the front of a text, `line` lines into a paragraph.
pub(super) fn at(text: &[u8], line: usize) -> Option<Found<'_>> {
    let first = without_end(&text[..line::length(text)]);
    match entry(first) {
        Some(Entry::File(_) | Entry::Total | Entry::Folder(_)) => of_ls(text),
        // All of this one is read to tell it.
        None if line == 0 => of_du(text),
        Some(Entry::Blank) | None => None,
    }
}

fn of_ls(text: &[u8]) -> Option<Found<'_>> {
    let entries = || lines(text).take(LOOKED_AT).map_while(|(_, line)| entry(line));
    let files = entries().filter(|entry| matches!(entry, Entry::File(_))).count();
    (files >= MIN_FILES && files * 2 >= entries().count()).then_some(())?;
    // Lines that do not fit are skipped, unless nothing follows that does.
    let mut end = 0;
    let mut misses = 0;
    for (start, line) in lines(text) {
        match entry(line) {
            Some(Entry::File(_) | Entry::Total | Entry::Folder(_)) => {
                end = start + line::length(&text[start..]);
                misses = 0;
            }
            Some(Entry::Blank) => {}
            None if misses == LOOKED_AT => break,
            None => misses += 1,
        }
    }
    Some(Found { layout: Layout::Files(Files::Ls), body: &text[..end], end, note: None })
}

/// The list of `du`, in which the last folder holds all others.
fn of_du(text: &[u8]) -> Option<Found<'_>> {
    let sizes = || lines(text).map_while(|(start, line)| Some((start, size_and_path(line)?)));
    let (_, (_, root)) = sizes().last()?;
    let is_within = |path: &[u8]| {
        let below = path.strip_prefix(root);
        below.is_some_and(|below| below.is_empty() || root == b"/" || below.starts_with(b"/"))
    };
    let fits = sizes().all(|(_, (_, path))| is_within(path)) && sizes().count() >= MIN_SIZES;
    let (last, _) = sizes().last()?;
    let end = last + line::length(&text[last..]);
    fits.then_some(Found { layout: Layout::Files(Files::Du), body: &text[..end], end, note: None })
}

fn size_and_path(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let tab = memchr::memchr(b'\t', &line[..line.len().min(30)])?;
    let (size, path) = (&line[..tab], &line[tab + 1..]);
    let digits = size.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let has_unit = matches!(&size[digits..], b"" | b"K" | b"M" | b"G" | b"T" | b"P");
    (digits > 0 && has_unit && !path.is_empty()).then_some((size, path))
}

fn entry(line: &[u8]) -> Option<Entry<'_>> {
    if line.trim_ascii().is_empty() {
        return Some(Entry::Blank);
    }
    if let Some(total) = line.strip_prefix(b"total ") {
        return total.first()?.is_ascii_digit().then_some(Entry::Total);
    }
    if let Some(file) = file(line) {
        return Some(Entry::File(file));
    }
    let folder = line.strip_suffix(b":")?;
    matches!(folder.first()?, b'.' | b'/').then_some(Entry::Folder(folder))
}

fn file(line: &[u8]) -> Option<File<'_>> {
    let mut rest = line;
    let mut next = || {
        rest = rest.trim_ascii_start();
        let (word, after) = rest.split_at(memchr::memchr(b' ', rest)?);
        rest = after;
        Some(word)
    };
    let mode = next()?;
    let is_mode = (10..=11).contains(&mode.len())
        && b"-dlbcpsDC".contains(&mode[0])
        && mode[1..10].iter().all(|byte| b"rwxsStTlL-".contains(byte));
    is_mode.then_some(())?;
    let (links, owner, group, size) = (next()?, next()?, next()?, next()?);
    links.iter().all(u8::is_ascii_digit).then_some(())?;
    let device = if size.ends_with(b",") {
        let minor = next()?;
        let start = size.as_ptr().addr() - line.as_ptr().addr();
        let end = minor.as_ptr().addr() + minor.len() - line.as_ptr().addr();
        Some(&line[start..end])
    } else {
        size[0].is_ascii_digit().then_some(())?;
        None
    };
    let rest = rest.trim_ascii_start();
    let Time { text: modified, length } = time(rest)?;
    let name = rest[length..].strip_prefix(b" ")?;
    (!name.is_empty()).then_some(File { mode, links, owner, group, size, device, modified, name })
}

/// A time in a list: `Nov 15 05:27`, `Nov 15  2025` or `2026-11-15 05:27`.
fn time(text: &[u8]) -> Option<Time<'_>> {
    let has_day = has_form(text, b"aaa 99 ") || has_form(text, b"aaa  9 ");
    if !has_day {
        return times::numeric(text);
    }
    let rest = &text[7..];
    let length = 12;
    (has_form(rest, b"99:99 ") || has_form(rest, b" 9999 "))
        .then(|| Time { text: Cow::Borrowed(&text[..length]), length })
}

impl Files {
    pub(super) fn records<'a>(self, body: &'a [u8], sink: &mut impl Records<'a>) {
        let mut folder: Option<&[u8]> = None;
        for (_, line) in lines(body) {
            match self {
                Self::Du => {
                    if let Some((size, path)) = size_and_path(line)
                        && sink.record(line)
                    {
                        sink.field(0, b"size", Raw::Cell(size));
                        sink.field(1, b"path", Raw::Text(path));
                    }
                }
                Self::Ls => match entry(line) {
                    Some(Entry::File(file)) => {
                        if sink.record(line) {
                            file.tell(folder, sink);
                        }
                    }
                    Some(Entry::Folder(path)) => folder = Some(path),
                    Some(Entry::Total | Entry::Blank) => {}
                    None => sink.skip(),
                },
            }
        }
    }
}

impl File<'_> {
    fn tell<'r>(&self, folder: Option<&[u8]>, sink: &mut impl Records<'r>) {
        let plain = line::cell(self.name);
        // Blanks belong to a name.
        let name: &[u8] = if plain.len() + 2 < self.name.len() { &plain } else { self.name };
        let arrow = memchr::memmem::find_iter(name, b" -> ").collect::<Vec<_>>();
        let (name, target) = match arrow[..] {
            [only] if self.mode[0] == b'l' => (&name[..only], Some(&name[only + 4..])),
            _ => (name, None),
        };
        sink.field(0, b"mode", Raw::Text(self.mode));
        sink.field(1, b"links", Raw::Cell(self.links));
        sink.field(2, b"owner", Raw::Text(self.owner));
        sink.field(3, b"group", Raw::Text(self.group));
        let size = if self.device.is_some() { Raw::Json(b"null") } else { Raw::Cell(self.size) };
        sink.field(4, b"size", size);
        sink.field(5, b"modified", Raw::Text(&self.modified));
        sink.field(6, b"name", Raw::Text(name));
        let more = [(b"target".as_slice(), target), (b"device", self.device), (b"folder", folder)];
        for (place, (name, text)) in
            more.into_iter().filter_map(|(name, text)| Some((name, text?))).enumerate()
        {
            sink.field(7 + place, name, Raw::Text(text));
        }
    }
}
