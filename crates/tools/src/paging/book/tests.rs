use serde_json::json;

use super::*;

fn book(properties: &serde_json::Value) -> Book {
    let settings = PagingSettings::default();
    Book::new(Style::of(&json!({"properties": properties}), &settings), &settings)
}

fn page(numbers: Range<u64>) -> Found {
    let mut text = Vec::new();
    let mut records = Vec::new();
    for number in numbers {
        let start = text.len();
        text.extend_from_slice(number.to_string().as_bytes());
        records.push(start..text.len());
        text.push(b',');
    }
    Found { text, records, ..Found::default() }
}

fn insert(book: &mut Book, place: u64, found: Found) {
    let missing = book.leading_to(place).unwrap();
    book.insert(&missing, found, Instant::now());
}

#[test]
fn a_page_that_reaches_into_the_next_is_kept_up_to_it() {
    let mut book = book(&json!({"offset": {"type": "integer"}}));
    insert(&mut book, 100, page(100..150));
    insert(&mut book, 50, page(50..120));
    assert_eq!(book.records(), 120);
    let lengths: Vec<usize> = book.pages_mut().iter().map(|page| page.records.len()).collect();
    assert_eq!(lengths, [50, 50]);
    assert_eq!(book.slice(&(98..102), b""), [b"98", b"99", &b"100"[..], b"101"]);
    assert!(!book.is_without_gaps(), "the first fifty are missing");
}

#[test]
fn pages_that_were_kept_and_are_gone_are_fetched_again() {
    let mut book = book(&json!({"page": {"type": "integer"}}));
    insert(&mut book, 0, page(0..10));
    insert(&mut book, 10, page(10..20));
    for page in book.pages_mut().into_iter().take(1) {
        page.text = None;
    }
    book.forget_kept();
    let missing = book.missing(&(0..20), Instant::now(), Duration::from_secs(9)).unwrap();
    assert_eq!(missing, Missing { key: 0, step: Step::Page(0) });
    let there = book.missing(&(10..20), Instant::now(), Duration::from_secs(9));
    assert_eq!(there, None);
}

#[test]
fn a_book_takes_the_place_of_another_if_it_has_all_of_it() {
    let of = |places: &[u64], length| {
        let mut book = book(&json!({"page": {"type": "integer", "minimum": 1}}));
        for place in places {
            insert(&mut book, *place, page(*place..place + length));
        }
        book
    };
    assert!(of(&[0], 10).replaces(&of(&[0], 10)));
    assert!(of(&[0, 10], 10).replaces(&of(&[0], 10)));
    assert!(!of(&[0], 10).replaces(&of(&[0, 10], 10)));
    let mut whole = of(&[0], 10);
    insert(&mut whole, 10, page(0..0));
    assert!(whole.replaces(&of(&[0, 10, 20], 10)), "there are fewer now");
}
