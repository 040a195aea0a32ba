use super::*;

const SECTION: &str = "<!-- forebay:begin -->\nUse it.\n<!-- forebay:end -->";
const NEWER: &str = "<!-- forebay:begin -->\nUse it\nwell.\n<!-- forebay:end -->";

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn put_in(file: &str) -> String {
    text(with(Some(file.as_bytes()), SECTION).unwrap())
}

/// Every text of up to six of these pieces.
fn short_texts() -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut last = texts.clone();
    for _ in 0..6 {
        let longer =
            |text: &String| ["a", "\n", "\r\n", "\r"].map(|piece| format!("{text}{piece}"));
        last = last.iter().flat_map(longer).collect();
        texts.extend(last.clone());
    }
    texts
}

#[test]
fn whatever_was_put_in_is_taken_out_and_every_byte_is_as_it_was() {
    for start in ["", "\u{feff}", "ü\n\n"] {
        for rest in short_texts() {
            let file = format!("{start}{rest}");
            let marked = put_in(&file);
            assert_eq!(put_in(&marked), marked, "{file:?}: again changes nothing");
            let newer = with(Some(marked.as_bytes()), NEWER).unwrap();
            for marked in [marked.into_bytes(), newer] {
                let rest = without(&marked).unwrap();
                assert_eq!(rest, Without::Rest(file.clone().into_bytes()), "{file:?}");
            }
        }
    }
}

#[test]
fn a_section_is_put_behind_an_empty_line() {
    let shown = ["# A\n", "# A", "# A\r\nb\r\n", "", "\u{feff}"].map(put_in);
    insta::assert_debug_snapshot!(shown, @r##"
    [
        "# A\n\n<!-- forebay:begin -->\nUse it.\n<!-- forebay:end -->\n",
        "# A\n\n<!-- forebay:begin -->\nUse it.\n<!-- forebay:end -->",
        "# A\r\nb\r\n\r\n<!-- forebay:begin -->\r\nUse it.\r\n<!-- forebay:end -->\r\n",
        "<!-- forebay:begin -->\nUse it.\n<!-- forebay:end -->",
        "\u{feff}<!-- forebay:begin -->\nUse it.\n<!-- forebay:end -->",
    ]
    "##);
}

#[test]
fn a_file_that_is_made_for_the_section_has_nothing_without_it() {
    let made = with(None, SECTION).unwrap();
    assert_eq!(text(made.clone()), format!("{SECTION}\n"));
    assert_eq!(without(&made).unwrap(), Without::Nothing);
    assert_eq!(without(b"# A\n").unwrap(), Without::Unmarked);
}

#[test]
fn a_section_stays_where_it_was_moved_to_and_joins_no_lines() {
    let moved = format!("# A\n{SECTION}\nb\n");
    let updated = text(with(Some(moved.as_bytes()), NEWER).unwrap());
    assert_eq!(updated, format!("# A\n{NEWER}\nb\n"));
    assert_eq!(without(updated.as_bytes()).unwrap(), Without::Rest(b"# A\nb\n".to_vec()));
    let first = format!("{SECTION}\n\n# A");
    assert_eq!(without(first.as_bytes()).unwrap(), Without::Rest(b"\n# A".to_vec()));
}

#[test]
fn lines_of_a_section_end_as_those_around_it() {
    let marked = put_in("# A\r\nb\r\n");
    let lone = marked.matches('\n').count() - marked.matches("\r\n").count();
    assert_eq!(lone, 0, "{marked:?}");
    // All that is left is the section, as another has saved it.
    let windows = SECTION.replace('\n', "\r\n");
    let updated = text(with(Some(windows.as_bytes()), NEWER).unwrap());
    assert_eq!(updated, NEWER.replace('\n', "\r\n"));
}

#[test]
fn marks_within_a_line_are_words_and_spaces_around_one_do_not_matter() {
    let told = "The section begins with `<!-- forebay:begin -->`.\n";
    assert_eq!(put_in(told), format!("{told}\n{SECTION}\n"));
    let spaced = format!("  {BEGIN}\nold\n{END} \t\nb\n");
    assert_eq!(put_in(&spaced), format!("{SECTION}\nb\n"));
}

#[test]
fn marks_within_a_fence_are_an_example() {
    for (open, close) in [("```", "```"), ("~~~ md", "~~~~"), ("   ````", "````")] {
        let told = format!("# A\n{open}\n{SECTION}\n{close}\nb\n");
        let marked = put_in(&told);
        assert_eq!(marked, format!("{told}\n{SECTION}\n"));
        assert_eq!(put_in(&marked), marked);
        assert_eq!(without(marked.as_bytes()).unwrap(), Without::Rest(told.into_bytes()));
    }
    // These show no code, or do not end.
    for open in ["``", "    ```", "```", "~~~", "``` a`b"] {
        let told = format!("{open}\n");
        let marked = put_in(&told);
        assert_eq!(put_in(&marked), marked, "{open}");
        assert_eq!(without(marked.as_bytes()).unwrap(), Without::Rest(told.into_bytes()));
    }
}

#[test]
fn marks_that_do_not_fit_together_are_told_with_their_lines() {
    let cases = [
        format!("a\n{BEGIN}\nb\n"),
        format!("a\n{END}\nb\n"),
        format!("{END}\n{BEGIN}\n"),
        format!("{SECTION}\n\n{SECTION}\n"),
        format!("{BEGIN}\n{SECTION}\n"),
    ];
    let told = cases.map(|case| {
        let refusal = with(Some(case.as_bytes()), SECTION).unwrap_err();
        assert_eq!(without(case.as_bytes()).unwrap_err(), refusal);
        refusal.to_string()
    });
    insta::assert_debug_snapshot!(told, @r##"
    [
        "line 2 begins a section that nothing ends; write the line `<!-- forebay:end -->` behind it, or delete line 2",
        "line 2 ends a section that nothing begins; delete that line",
        "it has marks of ours on the lines 1, 2; delete all but one section, from `<!-- forebay:begin -->` to `<!-- forebay:end -->`",
        "it has marks of ours on the lines 1, 3, 5, 7; delete all but one section, from `<!-- forebay:begin -->` to `<!-- forebay:end -->`",
        "it has marks of ours on the lines 1, 2, 4; delete all but one section, from `<!-- forebay:begin -->` to `<!-- forebay:end -->`",
    ]
    "##);
}

#[test]
fn what_is_no_text_is_left_alone() {
    for bytes in [&b"\xff\xfe#\0"[..], b"a\0b", b"\xff"] {
        assert_eq!(with(Some(bytes), SECTION).unwrap_err(), Refusal::NotText);
    }
}
