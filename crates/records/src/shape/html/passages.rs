//! The text of a page whose lines tell nothing, since all of it stands on a few: passage by passage,
//! each with the element that holds it.

use super::{
    Table, begins_like_a_page, collapsed, is_inline,
    tokens::{Token, tokens},
};

/// Lines that are longer than this on average are no lines of a text.
const LONG_LINE_BYTES: usize = 400;
const MIN_PASSAGES: usize = 5;

/// The passages of a page as a table of elements and texts; `None` if it is none, or has lines to read.
pub(in crate::shape) fn passages(text: &str) -> Option<Table> {
    if !begins_like_a_page(text) {
        return None;
    }
    let lines = 1 + memchr::memchr_iter(b'\n', text.trim().as_bytes()).count();
    if text.len() / lines < LONG_LINE_BYTES {
        return None;
    }
    let mut rows = Vec::new();
    let (mut element, mut words) = (String::new(), String::new());
    let mut finish = |element: &str, words: &mut String| {
        let passage = collapsed(&std::mem::take(words));
        if !passage.is_empty() {
            let written = serde_json::json!({"element": element, "text": passage}).to_string();
            rows.push((written, vec![element.to_owned(), passage]));
        }
    };
    for token in tokens(text) {
        match token {
            Token::Text(text) => words.push_str(&text),
            Token::Start(tag) if !is_inline(&tag.name) => {
                finish(&element, &mut words);
                element.clone_from(&tag.name);
            }
            Token::End(name) if !is_inline(&name) => {
                finish(&element, &mut words);
                // What follows belongs to what is around it, which is not known by name.
                "text".clone_into(&mut element);
            }
            Token::Start(_) | Token::End(_) => {}
        }
    }
    finish(&element, &mut words);
    let names = vec![b"element".to_vec(), b"text".to_vec()];
    (rows.len() >= MIN_PASSAGES).then_some(Table { names, rows, skipped: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_on_one_line_is_read_by_its_passages() {
        let item = "<li>An <b>item</b> of&nbsp;the list &amp; more</li>".repeat(20);
        let page = format!(
            "<!doctype html><html><head><title>News</title><script>var x = '<p>no</p>';</script></head>\
             <body><h1>Today</h1><p>It rains.</p><ul>{item}</ul></body></html>"
        );
        let table = passages(&page).unwrap();
        let cells = |row: usize| table.rows[row].1.join(": ");
        assert_eq!((cells(0).as_str(), cells(1).as_str()), ("title: News", "h1: Today"));
        assert_eq!(
            (cells(2).as_str(), cells(3).as_str()),
            ("p: It rains.", "li: An item of the list & more")
        );
        assert_eq!(table.rows.len(), 23);
        assert!(
            passages(&page.replace("<li>", "\n<li>")).is_none(),
            "lines can be read as they are"
        );
        assert!(passages(&"<a>1</a>".repeat(100)).is_none());
    }
}
