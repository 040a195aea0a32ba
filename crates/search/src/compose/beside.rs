//! Pieces of what stands beside the tables of a JSON text, such as the body of an issue beside the list of its
//! comments. What is short and little is told with the whole.

use std::fmt::Write as _;

use forebay_records::text_of;
use forebay_store::Mapped;
use forebay_wire::walk::{self, Type};

use super::{
    Pieces,
    records::{Gathered, Places},
};

/// No more than this is told with the whole, of a value and of all together.
const TOLD_BYTES: usize = 200;
const ALL_TOLD_BYTES: usize = 1_000;
/// Nobody writes values that lie deeper.
const MAX_DEPTH: usize = 64;

/// The pieces of all values that are in no record; `None` if nobody knows where all records are.
pub(super) fn pieces(payload: &Mapped, places: Places, max_bytes: usize) -> Option<Pieces> {
    if places.are_partly_unknown {
        return None;
    }
    let mut beside =
        Beside { payload, places, values: Vec::new(), left_bytes: max_bytes, passed_over_bytes: 0 };
    let mut rest: &[u8] = payload;
    while let Some((value, behind)) = walk::value(rest.trim_ascii_start()) {
        beside.look("", value, 0);
        rest = behind;
    }
    let is_told = beside.values.iter().all(|(_, text)| text.len() <= TOLD_BYTES)
        && beside.values.iter().map(|(_, text)| text.len()).sum::<usize>() <= ALL_TOLD_BYTES;
    if is_told {
        return None;
    }
    let mut gathered = Gathered::new(payload);
    for (at, text) in &beside.values {
        gathered.add(text, Some(*at));
    }
    let left_out = beside.passed_over_bytes / ALL_TOLD_BYTES;
    Some(Pieces { passages: gathered.passages(), left_out: left_out as u64 })
}

/// The values that are in no record.
struct Beside<'a> {
    payload: &'a [u8],
    places: Places,
    /// Where each stands, and what it is called and says.
    values: Vec<(usize, String)>,
    left_bytes: usize,
    passed_over_bytes: usize,
}

impl Beside<'_> {
    fn look(&mut self, name: &str, json: &[u8], depth: usize) {
        let at = json.as_ptr().addr() - self.payload.as_ptr().addr();
        if depth > MAX_DEPTH || self.places.records.contains(&at) {
            return;
        }
        match walk::type_of(json) {
            Some(Type::Object) => {
                for (key, value) in walk::members(json).into_iter().flatten() {
                    self.look(&String::from_utf8_lossy(key), value, depth + 1);
                }
            }
            Some(Type::Array) => {
                for element in walk::elements(json).into_iter().flatten() {
                    self.look(name, element, depth + 1);
                }
            }
            Some(Type::String) => self.note(at, name, &String::from_utf8_lossy(&text_of(json))),
            Some(Type::Number | Type::Boolean) => {
                self.note(at, name, &String::from_utf8_lossy(json));
            }
            Some(Type::Null) | None => {}
        }
    }

    fn note(&mut self, at: usize, name: &str, said: &str) {
        if said.len() > self.left_bytes {
            self.left_bytes = 0;
            self.passed_over_bytes += said.len();
            return;
        }
        self.left_bytes -= said.len();
        let mut text = String::with_capacity(name.len() + said.len() + 2);
        if !name.is_empty() {
            let _ = write!(text, "{name}: ");
        }
        text.push_str(said);
        self.values.push((at, text));
    }
}
