//! Everything is as `bpe-openai` has it: the pieces, the tokens and their number.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bpe_openai::o200k_base;
use proptest::{prelude::*, sample::select};

use crate::{count, count_up_to, merge::Merger, pieces::Pieces, vocabulary};

/// What words, numbers and symbols are made of, of all kinds that the pattern tells apart.
const VISIBLE: &str = "a b word camelCase HTTPServer XMLHttp Title UPPER I x iPhone don't 's 'S 't 're 'RE \
    'vE 'm 'll 'LL 'd '\u{17f} ' '' 'l 'r 'x 0 7 42 123 1234 1234567890 ٣ ٤٢ Ⅷ ½ ² ९ / // \\ \" { } [ ] : , . \
    ... - -- _ __ = ===== # < > | ~ ` $ % & * + @ ! ? \",\" \": },{ </p> \0 \u{1b} \u{200b} \u{200d} \u{feff} \
    \u{fffd} é e\u{301} \u{301} \u{300}\u{301} \u{20dd} ß ﬁ ʰ ª ˈ Ǆ ǅ ǆ ᾈ Ж ж Ёлка СССР İ ı Ω ω א שָׁלוֹם عربي \
    हिन्दी ไทย ้ 中 中文字 日本語 ひらがな 한국어 ა 😀 👍🏽 👨‍👩‍👧 🇩🇪 € → — “ ” 𝔸 𐐀 𐐨 \u{10ffff}";
/// White space of all kinds, some of it more than once.
const SPACES: &str = " | | |  |    |\t|\t\t|\n|\n|\n\n|\r|\r\n|\u{b}|\u{c}|\u{85}|\u{a0}|\u{1680}|\u{2003}|\
    \u{2028}|\u{2029}|\u{202f}|\u{3000}";

fn fragments() -> Vec<&'static str> {
    VISIBLE.split(' ').chain(SPACES.split('|')).collect()
}

/// Fails unless the pieces and counts of `text` are right.
fn check(text: &str) {
    let expected: Vec<&[u8]> = o200k_base().split(text).map(str::as_bytes).collect();
    assert!(Pieces::of(text).eq(expected.iter().copied()), "pieces of {:?}", shortened(text));
    let expected = o200k_base().count(text) as u64;
    assert_eq!(count(text), expected, "{:?}", shortened(text));
    assert_eq!(count_up_to(expected, text), Some(expected), "{:?}", shortened(text));
    if expected > 0 {
        assert_eq!(count_up_to(expected - 1, text), None, "{:?}", shortened(text));
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(500).collect()
}

fn token(rank: u32) -> &'static [u8] {
    o200k_base().bpe.token_bytes(rank)
}

fn ranks() -> std::ops::Range<u32> {
    0..u32::try_from(o200k_base().bpe.num_tokens()).unwrap()
}

/// Numbers that are the same in every run, and look random.
fn numbers() -> impl Iterator<Item = usize> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap()
    })
}

/// A text of `length` of these characters, in no order.
fn mixed(characters: &str, length: usize) -> String {
    let characters: Vec<char> = characters.chars().collect();
    numbers().map(|number| characters[number % characters.len()]).take(length).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn fragments_of_all_kinds_are_counted(parts in prop::collection::vec(select(fragments()), 0..40)) {
        check(&parts.concat());
    }

    #[test]
    fn any_characters_are_counted(text in prop::collection::vec(any::<char>(), 0..60)) {
        check(&text.into_iter().collect::<String>());
    }

    #[test]
    fn bytes_that_are_no_text_are_counted(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn printable_ascii_is_counted(bytes in prop::collection::vec(b' '..=b'~', 0..200)) {
        check(&String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn tokens_in_any_order_are_counted(chosen in prop::collection::vec(ranks(), 0..30)) {
        let bytes: Vec<u8> = chosen.into_iter().flat_map(token).copied().collect();
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn long_words_are_counted(word in prop::collection::vec(select(&b"etaoinshrdlu"[..]), 0..600)) {
        check(&String::from_utf8(word).unwrap());
    }
}

#[test]
fn the_empty_text_has_no_tokens() {
    check("");
    assert_eq!(count_up_to(0, ""), Some(0));
}

#[test]
fn every_token_has_its_rank() {
    for rank in ranks() {
        assert_eq!(vocabulary::rank(token(rank)), Some(rank), "{:?}", token(rank));
    }
}

#[test]
fn what_is_no_token_has_no_rank() {
    let lookup = |bytes: &[u8]| {
        let id = o200k_base().bpe.encode_via_backtracking(bytes);
        if let [rank] = id[..] { Some(rank) } else { None }
    };
    for rank in ranks().step_by(7) {
        let mut bytes = token(rank).to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(vocabulary::rank(&bytes), lookup(&bytes), "{bytes:?}");
        bytes.push(b'q');
        assert_eq!(vocabulary::rank(&bytes), lookup(&bytes), "{bytes:?}");
    }
    assert_eq!(vocabulary::rank(b""), None);
    assert_eq!(vocabulary::rank(&[b' '; 129]), None);
}

#[test]
fn every_token_is_counted_as_a_text() {
    for text in ranks().filter_map(|rank| std::str::from_utf8(token(rank)).ok()) {
        assert_eq!(count(text), o200k_base().count(text) as u64, "{text:?}");
    }
}

#[test]
fn every_character_is_counted_alone() {
    for character in '\0'..=char::MAX {
        let text = character.to_string();
        let expected = o200k_base().bpe.count(text.as_bytes()) as u64;
        assert_eq!(count(&text), expected, "{character:?}");
    }
}

#[test]
fn every_character_is_counted_among_others() {
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for characters in all.chunks(1_000) {
        let text: String = characters.iter().flat_map(|one| [*one, 'a', *one, '1']).collect();
        check(&text);
    }
    // Beyond the planes that are in use, all are alike.
    let used: Vec<char> = ('\0'..'\u{20000}').chain('\u{e0000}'..'\u{e0200}').collect();
    for characters in used.chunks(1_000) {
        let text: String = characters
            .iter()
            .flat_map(|one| ['!', *one, ' ', *one, '\n', *one, 'A', *one, '\''])
            .collect();
        check(&text);
    }
}

#[test]
fn long_runs_are_counted() {
    for run in [
        "a", "A", "z", " ", "\n", "\t", "=", "-", "/", "0", "ab", "aA", "\r\n", "é", "中",
        "\u{301}", "😀",
    ] {
        check(&run.repeat(100_000 / run.len()));
    }
    check(&format!("{}x", " ".repeat(100_000)));
}

#[test]
fn long_words_of_mixed_letters_are_counted() {
    for letters in
        ["ab", "ACGT", "etaoinshrdlu", "abcdefghijklmnopqrstuvwxyz", "中国人的一是在", "-=#*"]
    {
        check(&mixed(letters, 100_000));
    }
}

#[test]
fn windows_of_any_length_give_the_same_count_or_none() {
    let mut merger = Merger::default();
    let (mut joined, mut too_short) = (0, 0);
    let mut lengths = numbers();
    for letters in ["ab", "ACGT", "etaoinshrdlu", "=-", "a"] {
        let text = mixed(letters, 20_000);
        for piece in text.as_bytes().chunks(400) {
            let window = 8 + lengths.next().unwrap() % 64;
            match merger.count_in_windows(piece, window) {
                Some(count) => {
                    joined += 1;
                    assert_eq!(count, o200k_base().bpe.count(piece), "{window}: {piece:?}");
                }
                None => too_short += 1,
            }
        }
    }
    assert!(joined > 0 && too_short > 0, "{joined} joined, {too_short} too short");
}

#[test]
fn a_limit_holds_within_a_long_piece() {
    let word = mixed("etaoinshrdlu", 10_000);
    let whole = count(&word);
    for limit in [0, 1, 100, whole - 1] {
        assert_eq!(count_up_to(limit, &word), None, "{limit}");
    }
    assert_eq!(count_up_to(whole, &word), Some(whole));
}

#[test]
fn records_are_counted() {
    let numbers: Vec<usize> = numbers().take(3_000).collect();
    let rows = numbers.chunks(3).map(|row| format!("{},0.{},\"{:x}\"\n", row[0], row[1], row[2]));
    check(&rows.collect::<String>());
    let records = numbers.chunks(3).map(|row| {
        format!(
            r#"{{"id":{},"name":"User {:x}","created_at":"2026-01-{:02}T08:15:00Z"}},"#,
            row[0],
            row[1],
            row[2] % 28
        )
    });
    check(&format!("[{}]", records.collect::<String>()));
}

#[test]
fn the_files_of_this_repository_are_counted() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = ["README.md", "CHANGELOG.md", "Cargo.lock", "Cargo.toml"]
        .iter()
        .map(|name| repository.join(name))
        .collect();
    for directory in ["docs", "crates"] {
        add_files(&repository.join(directory), &mut files);
    }
    let mut endings = [("md", 0), ("rs", 0), ("toml", 0), ("json", 0), ("py", 0), ("snap", 0)];
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        check(&text);
        for (ending, number) in &mut endings {
            *number += usize::from(file.extension().is_some_and(|one| one == *ending));
        }
    }
    assert!(endings.iter().all(|(_, number)| *number > 0), "{endings:?}");
}

fn add_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_files(&path, files);
        } else {
            files.push(path);
        }
    }
}

#[test]
fn pieces_are_never_more_than_tokens() {
    let text =
        "A proxy's {\"id\":100000,\"name\":\"Ödön van Horváth\"} 漢字 😀\n\n  end".repeat(20);
    let (pieces, count) = (Pieces::of(&text).count() as u64, crate::count(&text));
    assert!(pieces > count / 3 && pieces <= count, "{pieces} {count}");
    for limit in [0, 1, pieces - 1, pieces, count - 1, count, count + 1] {
        assert_eq!(crate::count_up_to(limit, &text).is_none(), count > limit, "{limit}");
    }
}
