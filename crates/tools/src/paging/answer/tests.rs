use serde_json::json;

use super::*;
use crate::paging::{settings::PagingSettings, style::Style};

#[test]
fn a_list_that_is_empty_is_a_page_with_nothing_on_it() {
    let settings = PagingSettings::default();
    let book = Book::new(Style::of(&json!({}), &settings), &settings);
    let progress = Progress::default();
    let asked = Asked::of(Part::default());
    let standing = Standing {
        asked: &asked,
        book: &book,
        progress: &progress,
        kept: b"",
        dataset: None,
        before: None,
    };
    let reply = page(&[], &Fields::new(Vec::new()), &standing).unwrap().into_json();
    assert!(String::from_utf8(reply).unwrap().contains(r#"{\"results\":[],\"pagination\""#));
}
