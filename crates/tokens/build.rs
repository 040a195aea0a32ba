//! Writes the tables that `src/vocabulary.rs` and `src/pieces.rs` read, as they lie in the program.
//!
//! Both come from the crates that define what is right: the tokens from `bpe-openai`, and the
//! characters of each class from the Unicode tables of the regular expressions that it splits with.

use std::{collections::HashMap, env, error::Error, fs, path::PathBuf};

use regex_syntax::hir::{Class, HirKind};

#[path = "src/layout.rs"]
mod layout;

use layout::{
    MAX_TOKEN_BYTES, OFFSET_BITS, OFFSET_SHIFT, PAGE_CHARACTERS, PLACES, RANK_SHIFT, hash, place,
    set, tag,
};

/// The classes of characters in o200k's pattern, each with its bit.
const SETS: [(u8, &str); 8] = [
    (set::UPPER, r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
    (set::LOWER, r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
    (set::LEAD, r"[^\r\n\p{L}\p{N}]"),
    (set::NUMBER, r"\p{N}"),
    (set::SYMBOL, r"[^\s\p{L}\p{N}]"),
    (set::SPACE, r"\s"),
    (set::BREAK, r"[\r\n]"),
    (set::BREAK_OR_SLASH, r"[\r\n/]"),
];

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/layout.rs");
    write_vocabulary()?;
    write_classes()
}

/// An entry for each token, in a table of open addresses, and the bytes of all tokens. Both are filled
/// by rank: so those that are common lie together, and are not in the way of each other.
fn write_vocabulary() -> Outcome<()> {
    let encoding = &bpe_openai::o200k_base().bpe;
    let mut entries = vec![0; usize::try_from(PLACES)?];
    let mut bytes = Vec::new();
    let mut longest = 0;
    for rank in 0..u32::try_from(encoding.num_tokens())? {
        let token = encoding.token_bytes(rank);
        let hash = hash(token);
        let mut place = place(hash);
        while entries.get(place).is_some_and(|entry| *entry != 0) {
            place += 1;
        }
        entries.resize(entries.len().max(place + 1), 0);
        let offset = bytes.len() as u64;
        entries[place] =
            u64::from(rank) << RANK_SHIFT | offset << OFFSET_SHIFT | tag(hash, token.len());
        bytes.extend(token);
        longest = longest.max(token.len());
    }
    if longest != MAX_TOKEN_BYTES || bytes.len() >> OFFSET_BITS > 0 {
        return Err(format!("tokens have up to {longest} bytes, {} in all", bytes.len()).into());
    }
    entries.push(0);
    write("entries", &entries.iter().flat_map(|entry| entry.to_le_bytes()).collect::<Vec<u8>>())?;
    write("bytes", &bytes)
}

/// The sets of each character, in pages; pages that are equal are written once.
fn write_classes() -> Outcome<()> {
    let mut sets = vec![0; char::MAX as usize + 1];
    for (bit, pattern) in SETS {
        let HirKind::Class(Class::Unicode(class)) = regex_syntax::parse(pattern)?.into_kind()
        else {
            return Err(format!("{pattern} is no class of characters").into());
        };
        for range in class.ranges() {
            for one in &mut sets[range.start() as usize..=range.end() as usize] {
                *one |= bit;
            }
        }
    }
    let mut known = HashMap::new();
    let (mut numbers, mut pages) = (Vec::new(), Vec::new());
    for page in sets.chunks(PAGE_CHARACTERS) {
        let next = known.len();
        let number = *known.entry(page).or_insert_with(|| {
            pages.extend(page);
            next
        });
        numbers.push(u8::try_from(number)?);
    }
    write("page_numbers", &numbers)?;
    write("pages", &pages)
}

fn write(name: &str, bytes: &[u8]) -> Outcome<()> {
    let directory = env::var_os("OUT_DIR").ok_or("there is no OUT_DIR")?;
    Ok(fs::write(PathBuf::from(directory).join(name), bytes)?)
}
