use super::*;
use crate::font::Fonts;

const STYLE: (f64, Weight) = (12.0, Weight::Regular);

#[test]
fn what_cannot_be_seen_is_gone() {
    assert_eq!(clean("  a\u{0}b\tc\r\nd  "), "a b c d");
    assert_eq!(clean("user\u{202e}gpj.exe\u{2066}\u{200b}\u{feff}"), "usergpj.exe");
    assert_eq!(clean("\u{ffff}\u{e0041}"), "");
    assert_eq!(clean("a\u{9f}b"), "a b");
    assert_eq!(clean(&"x".repeat(1_000_000)).chars().count(), MAX_LETTERS + 1);
}

#[test]
fn empty_and_missing_names_differ() {
    assert_eq!(name(None), "(null)");
    assert_eq!((name(Some("")).as_str(), name(Some(" \n")).as_str()), ("(empty)", "(blank)"));
    assert_eq!(name(Some("null")), "null");
}

#[test]
fn a_text_is_shortened_to_its_room_and_not_more() {
    let fonts = Fonts::load().unwrap();
    let text = "https://example.com/one/two/three/index.html";
    let whole = fonts.width(text, 12.0, Weight::Regular);
    assert_eq!(shorten(&fonts, text, STYLE, whole, Cut::Middle), text);
    for room in [200.0, 100.0, 40.0, 20.0] {
        for cut in [Cut::Middle, Cut::End] {
            let short = shorten(&fonts, text, STYLE, room, cut);
            let width = fonts.width(&short, 12.0, Weight::Regular);
            assert!(width <= room && width > room - 14.0, "{short} in {room}");
        }
    }
    assert_eq!(shorten(&fonts, text, STYLE, 110.0, Cut::Middle), "https://exa…x.html");
    assert_eq!(shorten(&fonts, text, STYLE, 110.0, Cut::End), "https://example.c…");
    assert_eq!(shorten(&fonts, text, STYLE, 0.0, Cut::Middle), "…");
}
