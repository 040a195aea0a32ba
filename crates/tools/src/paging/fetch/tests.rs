//! Upstreams of every style, and how many fetches what takes.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use serde_json::{Value, json};

use super::*;
use crate::{
    pages::Part,
    paging::{
        answer::{self, Standing},
        asked::Asked,
        fields::Fields,
        style::Style,
    },
};

type Page = dyn Fn(&Value) -> Value;

/// An upstream whose results are made of their arguments.
struct Fake<'p> {
    page: &'p Page,
    fetches: RefCell<Vec<String>>,
    told: Cell<(u64, Option<u64>)>,
}

impl Upstream for Fake<'_> {
    fn call(&self, arguments: &[u8]) -> Result<Vec<u8>, String> {
        self.fetches.borrow_mut().push(String::from_utf8_lossy(arguments).into_owned());
        let document = (self.page)(&serde_json::from_slice(arguments).unwrap());
        if document.get("content").is_some() {
            return Ok(document.to_string().into_bytes());
        }
        let text = json!({"type": "text", "text": document.to_string()});
        let is_error = document.get("failed").is_some();
        Ok(json!({"content": [text], "isError": is_error}).to_string().into_bytes())
    }

    fn progress(&self, done: u64, total: Option<u64>) {
        self.told.set((done, total));
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A client of such an upstream.
struct Client<'p> {
    upstream: Fake<'p>,
    book: Book,
    settings: PagingSettings,
}

impl<'p> Client<'p> {
    fn new(properties: &Value, page: &'p Page) -> Self {
        Self::with(PagingSettings::default(), properties, page)
    }

    fn with(settings: PagingSettings, properties: &Value, page: &'p Page) -> Self {
        Self::of(settings, &json!({"properties": properties}), page)
    }

    /// Of a tool that cannot be called without its `page`.
    fn required(page: &'p Page) -> Self {
        let schema = json!({"properties": unmarked(), "required": ["page"]});
        Self::of(PagingSettings::default(), &schema, page)
    }

    fn of(settings: PagingSettings, schema: &Value, page: &'p Page) -> Self {
        let style = Style::of(schema, &settings);
        let upstream = Fake { page, fetches: RefCell::default(), told: Cell::default() };
        Self { upstream, book: Book::new(style, &settings), settings }
    }

    fn cover(&mut self, wanted: Range<u64>) -> Result<Progress, Trouble> {
        let fetching = Fetching {
            upstream: &self.upstream,
            arguments: &RawArguments::default(),
            settings: &self.settings,
            started: Instant::now(),
        };
        fetching.cover(&mut self.book, &wanted)
    }

    /// A page as the client sees it.
    fn page(&mut self, page: u64, limit: u64) -> Result<Value, String> {
        self.part(Part::page(page, limit), None)
    }

    fn part(&mut self, part: Part, wanted: Option<Range<u64>>) -> Result<Value, String> {
        let slice = part.offset..part.offset + part.limit;
        let asked = Asked { wants_all: wanted.is_some(), ..Asked::of(part) };
        let progress =
            self.cover(wanted.unwrap_or(slice.clone())).map_err(|it| format!("{it:?}"))?;
        let records = self.book.slice(&slice, b"");
        let standing = Standing {
            asked: &asked,
            book: &self.book,
            progress: &progress,
            kept: b"",
            dataset: None,
            before: None,
        };
        let reply = answer::page(&records, &Fields::new(Vec::new()), &standing);
        let reply = reply.map_err(|error| error.told())?;
        let reply: Value = serde_json::from_slice(&reply.into_json()).unwrap();
        Ok(serde_json::from_str(reply["content"][0]["text"].as_str().unwrap()).unwrap())
    }

    fn all(&mut self) -> Result<Value, String> {
        self.part(Part::default(), Some(0..u64::MAX))
    }

    fn fetches(&self) -> usize {
        self.upstream.fetches.borrow().len()
    }

    fn last_fetch(&self) -> String {
        self.upstream.fetches.borrow().last().unwrap().clone()
    }
}

fn number(arguments: &Value, name: &str, otherwise: u64) -> u64 {
    arguments[name].as_u64().unwrap_or(otherwise)
}

fn records(numbers: Range<u64>) -> Vec<Value> {
    numbers.map(|number| json!({"id": number})).collect()
}

fn ids(page: &Value) -> Vec<u64> {
    page["results"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap()).collect()
}

/// Parameters for numbers that count from 1.
fn integer(names: &[&str]) -> Value {
    let integer = || json!({"type": "integer", "minimum": 1});
    names.iter().map(|name| ((*name).to_owned(), integer())).collect()
}

fn text(name: &str) -> Value {
    json!({name: {"type": "string"}})
}

/// 101,662 records, 10,000 a page, whatever is asked for.
fn public(arguments: &Value) -> Value {
    const ALL: u64 = 101_662;
    let start = (number(arguments, "page_number", 1) - 1) * 10_000;
    json!({"total": ALL, "results": records(start.min(ALL)..(start + 10_000).min(ALL))})
}

#[test]
fn page_500_of_20_takes_one_fetch_and_page_501_the_second() {
    let mut client = Client::new(&integer(&["page_number", "limit"]), &public);
    let page = client.page(500, 20).unwrap();
    assert_eq!(ids(&page), (9_980..10_000).collect::<Vec<_>>());
    assert_eq!(client.fetches(), 1);
    let pagination = json!({
        "total_count": 101_662, "current_page": 500, "page_size": 20, "total_pages": 5_084,
        "has_more": true, "next_page": 501, "upstream": "page_number, limit (guessed)",
    });
    assert_eq!(page["pagination"], pagination);
    assert_eq!(ids(&client.page(501, 20).unwrap()), (10_000..10_020).collect::<Vec<_>>());
    assert_eq!(client.fetches(), 2);
    client.page(502, 20).unwrap();
    client.page(1, 1_000).unwrap();
    assert_eq!(client.fetches(), 2, "what was fetched is not fetched again");
    let last = client.page(5_084, 20).unwrap();
    assert_eq!(
        (ids(&last), &last["pagination"]["has_more"]),
        (vec![101_660, 101_661], &json!(false))
    );
    assert_eq!(client.fetches(), 3, "straight to page 11");
    assert_eq!(client.last_fetch(), r#"{"limit":100,"page_number":11}"#);
    let past = client.page(5_085, 20).unwrap_err();
    assert_eq!(past, "That is past the end: there are 101662 records, which is 5084 pages of 20.");
    assert_eq!(client.fetches(), 3);
}

#[test]
fn a_slice_across_two_upstream_pages_takes_both() {
    let mut client = Client::new(&integer(&["page_number"]), &public);
    let part = Part { offset: 9_990, limit: 20 };
    let page = client.part(part, None).unwrap();
    assert_eq!(ids(&page), (9_990..10_010).collect::<Vec<_>>());
    assert_eq!(page["pagination"]["next_offset"], 10_010);
    assert_eq!(client.fetches(), 2);
}

#[test]
fn all_pages_take_as_many_fetches_as_there_are() {
    let mut client = Client::new(&integer(&["page_number"]), &public);
    client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (101_662, 11));
    assert_eq!(client.upstream.told.get(), (101_662, Some(101_662)));
    client.all().unwrap();
    assert_eq!(client.fetches(), 11);
}

#[test]
fn a_page_is_fetched_again_when_its_lifetime_is_over() {
    let settings =
        PagingSettings { lifetime: Duration::ZERO, max_pages: 1, ..PagingSettings::default() };
    let mut client = Client::with(settings, &integer(&["page_number"]), &public);
    client.cover(0..20).unwrap();
    client.cover(0..20).unwrap();
    assert_eq!(client.fetches(), 2);
}

#[test]
fn offsets_go_straight_to_what_is_wanted() {
    let page = |arguments: &Value| {
        let start = number(arguments, "offset", 0);
        let size = number(arguments, "count", 10).min(50);
        json!({"items": records(start.min(1_000)..(start + size).min(1_000)), "total": 1_000})
    };
    let plain = json!({"offset": {"type": "integer"}, "count": {"type": "integer"}});
    let mut client = Client::new(&plain, &page);
    assert_eq!(ids(&client.page(41, 20).unwrap()), (800..820).collect::<Vec<_>>());
    assert_eq!(
        (client.fetches(), client.last_fetch().as_str()),
        (1, r#"{"count":100,"offset":800}"#)
    );
    assert_eq!(ids(&client.page(42, 20).unwrap()), (820..840).collect::<Vec<_>>());
    assert_eq!(client.fetches(), 1);
    assert_eq!(ids(&client.page(43, 20).unwrap()), (840..860).collect::<Vec<_>>());
    assert_eq!(
        (client.fetches(), client.last_fetch().as_str()),
        (2, r#"{"count":100,"offset":850}"#)
    );
    client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (1_000, 20));
}

#[test]
fn offsets_that_count_from_1_give_each_record_once_at_its_place() {
    let page = |arguments: &Value| {
        // As many clamp what is too small.
        let start = number(arguments, "start", 1).max(1) - 1;
        let end = (start + number(arguments, "num", 10).min(50)).min(120);
        json!({"items": records(start.min(120)..end), "total": 120})
    };
    let mut client = Client::new(&integer(&["start", "num"]), &page);
    assert_eq!(ids(&client.page(1, 20).unwrap()), (0..20).collect::<Vec<_>>());
    assert_eq!(client.last_fetch(), r#"{"num":100,"start":1}"#);
    assert_eq!(ids(&client.page(3, 20).unwrap()), (40..60).collect::<Vec<_>>());
    assert_eq!(client.last_fetch(), r#"{"num":100,"start":51}"#);
    client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (120, 3));
    let all = client.part(Part { offset: 0, limit: 120 }, None).unwrap();
    assert_eq!(ids(&all), (0..120).collect::<Vec<_>>());
}

#[test]
fn cursors_are_followed_in_their_order_and_once() {
    let page = |arguments: &Value| {
        let start: u64 = arguments["cursor"].as_str().map_or(0, |it| it[1..].parse().unwrap());
        let end = (start + 10).min(35);
        let next = (end < 35).then(|| format!("c{end}"));
        json!({"items": records(start..end), "next_cursor": next})
    };
    let mut client = Client::new(&text("cursor"), &page);
    let second = client.page(2, 10).unwrap();
    assert_eq!((ids(&second), client.fetches()), ((10..20).collect(), 2));
    assert_eq!(second["pagination"]["has_more"], true);
    assert_eq!(second["pagination"]["total_count"], Value::Null);
    assert_eq!(second["pagination"]["at_least"], 20);
    assert_eq!(client.page(1, 20).map(|it| ids(&it)), Ok((0..20).collect()));
    assert_eq!(client.fetches(), 2);
    let last = client.page(4, 10).unwrap();
    assert_eq!((ids(&last), client.fetches()), ((30..35).collect(), 4));
    assert_eq!(last["pagination"]["total_count"], 35, "counted, now that all are there");
    assert!(client.page(5, 10).unwrap_err().starts_with("That is past the end: there are 35"));
    assert_eq!(client.fetches(), 4);
}

#[test]
fn next_urls_lead_on_by_their_parameters() {
    let page = |arguments: &Value| {
        let start = number(arguments, "seek", 0);
        let next = (start < 20).then(|| format!("https://api.example.com/x?seek={}", start + 10));
        json!({"data": records(start..start + 10), "links": {"next": next}})
    };
    let mut client = Client::new(&integer(&["seek"]), &page);
    assert_eq!(ids(&client.page(2, 10).unwrap()), (10..20).collect::<Vec<_>>());
    assert_eq!((client.fetches(), client.last_fetch().as_str()), (2, r#"{"seek":10}"#));
    assert_eq!(client.all().unwrap()["pagination"]["total_count"], 30);
    assert_eq!(client.fetches(), 3);
}

#[test]
fn without_a_total_what_is_known_is_told() {
    let page = |arguments: &Value| {
        let start = (number(arguments, "page_number", 1) - 1) * 10;
        json!(records(start.min(30)..(start + 10).min(30)))
    };
    let mut client = Client::new(&integer(&["page_number"]), &page);
    let first = client.page(1, 10).unwrap();
    assert_eq!(first["pagination"]["total_count"], Value::Null);
    assert_eq!(first["pagination"]["has_more"], Value::Null);
    assert_eq!(first["pagination"]["next_page"], 2);
    assert_eq!(client.fetches(), 1, "nothing is fetched to find out");
    let some = client.page(1, 4).unwrap();
    assert_eq!(some["pagination"]["has_more"], true);
    client.page(3, 10).unwrap();
    assert_eq!(client.fetches(), 2, "straight to page 3");
    let past = client.page(4, 10).unwrap_err();
    assert_eq!(past, "That is past the end: there are 30 records, which is 3 pages of 10.");
    assert_eq!(client.fetches(), 3);
    let far = Client::new(&integer(&["page_number"]), &page).page(90, 10).unwrap_err();
    assert_eq!(far, "That is past the end: there are no more than 890 records, and at least 10.");
}

#[test]
fn a_total_that_changes_is_told_as_it_was_told_last() {
    let page = |arguments: &Value| {
        let page = number(arguments, "page_number", 1);
        json!({"total": 99 + page, "items": records((page - 1) * 10..page * 10)})
    };
    let mut client = Client::new(&integer(&["page_number"]), &page);
    assert_eq!(client.page(1, 10).unwrap()["pagination"]["notes"], Value::Null);
    let third = client.page(3, 10).unwrap();
    assert_eq!(third["pagination"]["total_count"], 102);
    let note = third["pagination"]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("The upstream's total has changed from 100 to 102"), "{note}");
}

#[test]
fn what_was_fetched_stays_when_a_page_fails() {
    let page = |arguments: &Value| {
        let page = number(arguments, "page_number", 1);
        if page == 3 {
            return json!({"failed": "backend timeout"});
        }
        json!({"total": 100, "items": records((page - 1) * 10..page * 10)})
    };
    let mut client = Client::new(&integer(&["page_number"]), &page);
    let trouble = client.cover(0..u64::MAX).unwrap_err();
    let told = answer::trouble(&trouble, &client.book, Some("dataset_k3v9x2ma")).into_json();
    let told: Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(told["isError"], true);
    assert_eq!(
        told["content"][0]["text"],
        "The upstream page 3 (page_number = 3) failed: {\"failed\":\"backend timeout\"}. 20 records \
         of 100 have been fetched and need not be again: pages within them can be had. They are in \
         dataset_k3v9x2ma."
    );
    assert_eq!(client.fetches(), 3);
    client.page(2, 10).unwrap();
    assert_eq!(client.fetches(), 3);
    assert_eq!(ids(&client.page(4, 10).unwrap()), (30..40).collect::<Vec<_>>());
    assert_eq!(client.fetches(), 4, "those behind it can be had");
}

#[test]
fn an_upstream_without_pages_is_sliced_here() {
    let page = |_: &Value| json!({"orders": records(0..45)});
    let mut client = Client::new(&json!({"status": {"type": "string"}}), &page);
    let last = client.page(3, 20).unwrap();
    assert_eq!(ids(&last), (40..45).collect::<Vec<_>>());
    assert_eq!(last["pagination"]["total_count"], 45);
    assert_eq!(last["pagination"]["upstream"], "one page (guessed)");
    client.page(1, 20).unwrap();
    assert_eq!(client.fetches(), 1);
}

#[test]
fn a_wrong_guess_ends_where_the_same_page_comes_again() {
    let page = |_: &Value| json!(records(0..10));
    let mut client = Client::new(&integer(&["page"]), &page);
    client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (10, 2));
    let again = client.page(1, 5).unwrap();
    assert!(again["pagination"]["notes"].to_string().contains("the same page"), "{again}");
    assert_eq!(client.fetches(), 2);
}

#[test]
fn pages_of_different_lengths_are_gone_through_in_order() {
    // Half of page 2 is filtered out.
    let page = |arguments: &Value| {
        let page = number(arguments, "page_number", 1);
        let end = if page == 2 { 15 } else { page * 10 };
        json!({"items": records((page - 1) * 10..end), "has_more": page < 4})
    };
    let mut client = Client::new(&integer(&["page_number"]), &page);
    let all = client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (35, 4));
    assert_eq!(all["pagination"]["total_count"], 35);
    assert_eq!(ids(&client.page(2, 10).unwrap()), [10, 11, 12, 13, 14, 20, 21, 22, 23, 24]);
}

#[test]
fn fetching_all_is_bounded_and_goes_on_when_asked_again() {
    let settings = PagingSettings { max_pages: 4, ..PagingSettings::default() };
    let mut client = Client::with(settings, &integer(&["page_number"]), &public);
    let part = client.all().unwrap();
    assert_eq!((client.fetches(), client.book.records()), (4, 40_000));
    let notes = part["pagination"]["notes"].to_string();
    assert!(notes.contains("Fetching ended after 4 pages in one call"), "{notes}");
    client.all().unwrap();
    client.all().unwrap();
    assert_eq!((client.fetches(), client.book.records()), (11, 101_662));
    for (settings, ended) in [
        (
            PagingSettings { max_records: 15_000, ..PagingSettings::default() },
            "Fetching ended at 20000 records (paging max_records is 15000).",
        ),
        (
            PagingSettings { max_bytes: 500_000, ..PagingSettings::default() },
            " bytes (paging max_bytes is 500000).",
        ),
    ] {
        let mut client = Client::with(settings, &integer(&["page_number"]), &public);
        let notes = client.all().unwrap()["pagination"]["notes"].to_string();
        assert!(notes.contains(ended), "{notes}");
        assert!((2..11).contains(&client.fetches()), "{}", client.fetches());
    }
    let settings = PagingSettings { max_time: Duration::ZERO, ..PagingSettings::default() };
    let mut client = Client::with(settings, &integer(&["page_number"]), &public);
    assert_eq!(client.cover(0..9).unwrap().bound, Some(Bound::Seconds(0)));
}

#[test]
fn a_result_without_a_list_says_so() {
    let page = |_: &Value| json!({"status": "fine"});
    let mut client = Client::new(&json!({}), &page);
    assert_eq!(client.cover(0..20), Err(Trouble::NoList));
}

#[test]
fn a_short_page_need_not_be_the_last_one() {
    // As of an upstream that filters after it has divided.
    let lengths = [10, 7, 10, 3, 10];
    let upstream = move |arguments: &Value| {
        let page = usize::try_from(number(arguments, "page", 1) - 1).unwrap();
        let start: u64 = lengths.iter().take(page).sum();
        let length = lengths.get(page).copied().unwrap_or(0);
        json!({ "items": records(start..start + length) })
    };
    let mut client = Client::new(&integer(&["page"]), &upstream);
    let all = client.all().unwrap();
    assert_eq!(all["pagination"]["total_count"], 40, "{all}");
    assert_eq!(client.fetches(), 6, "the last one is empty");
    let middle = client.part(Part { offset: 15, limit: 5 }, None).unwrap();
    assert_eq!(middle["results"], json!(records(15..20)), "{middle}");
    assert_eq!(middle["pagination"].get("notes"), None, "{middle}");
}

#[test]
fn an_upstream_that_gives_its_last_page_again_and_again_ends_there() {
    let upstream = |arguments: &Value| {
        let page = number(arguments, "page", 1).min(4) - 1;
        json!({ "items": records(page * 50..(page + 1) * 50) })
    };
    let mut client = Client::new(&integer(&["page"]), &upstream);
    let all = client.all().unwrap();
    assert_eq!((&all["pagination"]["total_count"], client.fetches()), (&json!(200), 5), "{all}");
    let last = client.part(Part { offset: 190, limit: 20 }, None).unwrap();
    assert_eq!(last["results"], json!(records(190..200)), "{last}");
}

#[test]
fn the_length_of_a_full_page_is_no_total() {
    let upstream = |arguments: &Value| {
        let (page, size) = (number(arguments, "page", 1) - 1, number(arguments, "per_page", 10));
        let items = records(page * size..((page + 1) * size).min(237).max(page * size));
        json!({ "total": items.len(), "items": items })
    };
    let mut client = Client::new(&integer(&["page", "per_page"]), &upstream);
    let all = client.all().unwrap();
    assert_eq!(client.book.records(), 237, "{all}");
}

#[test]
fn a_size_that_is_refused_is_not_asked_for() {
    let upstream = |arguments: &Value| {
        if arguments["per_page"].as_u64().is_some_and(|size| size > 50) {
            return json!({ "failed": "per_page must be <= 50" });
        }
        let page = number(arguments, "page", 1) - 1;
        json!({ "total": 60, "items": records(page * 20..(page + 1) * 20) })
    };
    let mut client = Client::new(&integer(&["page", "per_page"]), &upstream);
    let page = client.page(2, 20).unwrap();
    assert_eq!(page["results"], json!(records(20..40)), "{page}");
    assert_eq!(client.fetches(), 3, "one was refused");
}

#[test]
fn an_answer_that_is_no_page_is_told_with_its_words() {
    let upstream = |arguments: &Value| match number(arguments, "page", 1) {
        1 => json!({ "items": records(0..10) }),
        _ => json!({ "error": "rate limited" }),
    };
    let mut client = Client::new(&integer(&["page"]), &upstream);
    let Err(Trouble::Page { why, .. }) = client.cover(0..20) else { panic!("page 2 is none") };
    assert!(why.contains("rate limited"), "{why}");
}

#[test]
fn a_total_does_not_end_what_says_that_it_goes_on() {
    // The length of a page, or a total of something else.
    for total in [10, 7, 20] {
        let page = move |arguments: &Value| {
            let start: u64 = arguments["cursor"].as_str().map_or(0, |it| it[1..].parse().unwrap());
            let end = (start + 10).min(35);
            let next = (end < 35).then(|| format!("c{end}"));
            json!({"items": records(start..end), "total": total, "next_cursor": next})
        };
        let mut client = Client::new(&text("cursor"), &page);
        if total == 10 {
            let first = client.page(1, 10).unwrap();
            let told = &first["pagination"];
            assert_eq!((&told["total_count"], &told["has_more"]), (&Value::Null, &json!(true)));
            assert!(told["notes"].to_string().contains("a total of 10, which is not believed"));
        }
        let all = client.all().unwrap();
        assert_eq!((client.book.records(), client.fetches()), (35, 4), "{total}");
        assert_eq!(all["pagination"]["total_count"], 35, "counted: {all}");
    }
    let page = |arguments: &Value| {
        let page = number(arguments, "page", 1);
        let items = records((page - 1) * 10..page * 10);
        json!({"items": items, "total": 10, "has_more": page < 3})
    };
    let mut client = Client::new(&integer(&["page"]), &page);
    client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (30, 3));
}

#[test]
fn the_length_of_a_page_of_unknown_size_is_no_total_until_there_is_nothing_behind_it() {
    let page = |arguments: &Value| {
        let start = (number(arguments, "page", 1) - 1) * 10;
        let items = records(start.min(30)..(start + 10).min(30));
        json!({"total": items.len(), "items": items})
    };
    let mut client = Client::new(&integer(&["page"]), &page);
    let first = client.page(1, 10).unwrap();
    let told = &first["pagination"];
    assert_eq!((&told["total_count"], &told["has_more"]), (&Value::Null, &Value::Null), "{told}");
    let all = client.all().unwrap();
    assert_eq!((&all["pagination"]["total_count"], client.fetches()), (&json!(30), 4), "{all}");
    let one = |arguments: &Value| match number(arguments, "page", 1) {
        1 => json!({"total": 7, "items": records(0..7)}),
        _ => json!({"total": 7, "items": []}),
    };
    let mut client = Client::new(&integer(&["page"]), &one);
    assert_eq!(client.page(1, 7).unwrap()["pagination"]["total_count"], Value::Null);
    let all = client.all().unwrap();
    assert_eq!((&all["pagination"]["total_count"], client.fetches()), (&json!(7), 2), "{all}");
    assert_eq!(all["pagination"].get("notes"), None, "{all}");
}

#[test]
fn an_upstream_that_ends_before_its_total_is_told_with_both() {
    let page = |arguments: &Value| {
        let start = (number(arguments, "page", 1) - 1) * 10;
        json!({"total": 57, "items": records(start.min(30)..(start + 10).min(30))})
    };
    let mut client = Client::new(&integer(&["page"]), &page);
    let notes = client.all().unwrap()["pagination"]["notes"].to_string();
    assert!(notes.contains("a total of 57 and gives no more than 30 records"), "{notes}");
}

#[test]
fn a_token_under_the_parameters_own_name_leads_on() {
    let page = |arguments: &Value| {
        let start: u64 = arguments["offset"].as_str().map_or(0, |it| it[3..].parse().unwrap());
        let mut page = json!({"records": records(start..(start + 10).min(25))});
        if start + 10 < 25 {
            page["offset"] = format!("itr{}", start + 10).into();
        }
        page
    };
    let mut client = Client::new(&text("offset"), &page);
    let all = client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (25, 3));
    assert_eq!(all["pagination"]["total_count"], 25, "the last page names no next one: {all}");
}

#[test]
fn an_end_that_nothing_tells_is_not_made_up() {
    let page = |_: &Value| json!({"items": records(0..10), "onward": "x"});
    let mut client = Client::new(&text("cursor"), &page);
    let told = client.all().unwrap()["pagination"].take();
    assert_eq!((&told["total_count"], &told["has_more"]), (&Value::Null, &Value::Null), "{told}");
    assert_eq!((&told["next_page"], &told["at_least"]), (&Value::Null, &json!(10)));
    assert!(told["notes"].to_string().contains("names nothing that leads on"), "{told}");
    assert_eq!(client.fetches(), 1);
}

#[test]
fn an_empty_page_that_names_a_next_one_is_not_the_last() {
    let page = |arguments: &Value| {
        let place = arguments["cursor"].as_str().map_or(0, |it| it.parse().unwrap());
        let items = if place == 2 { records(0..0) } else { records(place * 5..place * 5 + 5) };
        json!({"items": items, "next_cursor": (place < 4).then(|| (place + 1).to_string())})
    };
    let mut client = Client::new(&text("cursor"), &page);
    client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (20, 5));
}

#[test]
fn a_short_page_that_comes_after_later_ones_moves_them_and_all_can_be_had() {
    let lengths = [10, 7, 10, 3, 10];
    let upstream = move |arguments: &Value| {
        let page = usize::try_from(number(arguments, "page", 1) - 1).unwrap();
        let start: u64 = lengths.iter().take(page).sum();
        let length = lengths.get(page).copied().unwrap_or(0);
        json!({ "items": records(start..start + length) })
    };
    let mut client = Client::new(&integer(&["page"]), &upstream);
    client.page(1, 10).unwrap();
    client.page(3, 10).unwrap();
    let second = client.page(2, 10).unwrap();
    assert_eq!(second["results"], json!(records(10..20)), "{second}");
    assert!(second["pagination"]["notes"].to_string().contains("differ in length"), "{second}");
    let after = client.part(Part { offset: 17, limit: 5 }, None).unwrap();
    assert_eq!(after["results"], json!(records(17..22)), "{after}");
    assert_eq!(client.fetches(), 3);
    let all = client.all().unwrap();
    assert_eq!((&all["pagination"]["total_count"], client.fetches()), (&json!(40), 6), "{all}");
}

/// The parameter for a page whose first number nothing tells.
fn unmarked() -> Value {
    json!({"page": {"type": "integer"}})
}

/// Pages of ten, the first of which has this number, with these members.
fn counted(first: u64, all: u64, members: Value) -> impl Fn(&Value) -> Value {
    move |arguments: &Value| {
        let page = number(arguments, "page", first).max(first) - first;
        let mut document = members.clone();
        document["items"] = records((page * 10).min(all)..(page * 10 + 10).min(all)).into();
        document
    }
}

#[test]
fn pages_that_are_counted_from_0_are_all_there() {
    let total = json!({"total": 35});
    for (first, members, fetches) in [
        // Without a total, the page that is called 1 is compared with the first one.
        (0, json!({}), 5),
        (1, json!({}), 6),
        // With one, the end shows it.
        (0, total.clone(), 5),
        (1, total, 4),
        // What the first page says of itself.
        (1, json!({"current_page": 1}), 5),
        (0, json!({"total": 35, "meta": {"page": 0}}), 4),
        // Some say 0 where no number was given.
        (1, json!({"total": 35, "page": 0}), 5),
    ] {
        let page = counted(first, 35, members.clone());
        let mut client = Client::new(&unmarked(), &page);
        let all = client.all().unwrap();
        assert_eq!(client.book.records(), 35, "{first} {members}");
        assert_eq!(all["pagination"]["total_count"], 35, "{first} {members}");
        assert_eq!(client.fetches(), fetches, "{first} {members}");
        let numbers = client.part(Part { offset: 0, limit: 35 }, None).unwrap();
        assert_eq!(ids(&numbers), (0..35).collect::<Vec<_>>(), "{first} {members}");
    }
    let page = counted(0, 35, json!({}));
    let mut client = Client::new(&unmarked(), &page);
    assert_eq!(ids(&client.page(2, 10).unwrap()), (10..20).collect::<Vec<_>>());
    assert_eq!(client.fetches(), 2, "the page that is called 1 is the second");
}

#[test]
fn a_presumed_number_costs_no_fetch_where_there_is_a_total_and_is_told() {
    let page = counted(1, 35, json!({"total": 35}));
    let mut client = Client::new(&unmarked(), &page);
    let first = client.page(1, 10).unwrap();
    assert_eq!((first["pagination"].get("notes"), client.last_fetch().as_str()), (None, "{}"));
    let second = client.page(2, 10).unwrap();
    assert_eq!((ids(&second), client.fetches()), ((10..20).collect(), 2));
    assert!(second["pagination"]["notes"].to_string().contains("from 1 is presumed"), "{second}");
    let last = client.page(4, 10).unwrap();
    assert_eq!((ids(&last), client.fetches()), ((30..35).collect(), 3));
    assert!(!last["pagination"]["notes"].to_string().contains("presumed"), "{last}");
}

#[test]
fn a_call_without_a_page_that_gives_all_is_no_first_page() {
    let page = |arguments: &Value| match arguments["page"].as_u64() {
        None => json!(records(0..35)),
        Some(page) => json!(records(((page - 1) * 10).min(35)..(page * 10).min(35))),
    };
    let mut client = Client::new(&unmarked(), &page);
    assert_eq!(client.all().unwrap()["pagination"]["total_count"], 35);
    assert_eq!(client.book.records(), 35);
}

#[test]
fn a_page_that_must_be_named_is_looked_for_under_0_and_1() {
    let total = json!({"total": 35});
    for (first, members, fetches) in [(0, json!({}), 5), (0, total.clone(), 4)] {
        let page = counted(first, 35, members.clone());
        let mut client = Client::required(&page);
        let all = client.all().unwrap();
        assert_eq!((client.book.records(), client.fetches()), (35, fetches), "{members}");
        assert_eq!(all["pagination"]["total_count"], 35, "{members}");
        let notes = all["pagination"]["notes"].to_string();
        let is_confirmed = members.get("total").is_some();
        assert_eq!(notes.contains("from 0 is presumed"), !is_confirmed, "{members} {notes}");
        let numbers = client.part(Part { offset: 0, limit: 35 }, None).unwrap();
        assert_eq!(ids(&numbers), (0..35).collect::<Vec<_>>(), "{members}");
        let mut client = Client::required(&page);
        assert_eq!(ids(&client.page(1, 10).unwrap()), (0..10).collect::<Vec<_>>());
        assert_eq!(client.last_fetch(), r#"{"page":0}"#, "no other is needed for it");
    }
    // 0 is nothing, or the same as 1, or an error.
    for (at_0, fetches) in [("nothing", 5), ("the first", 5), ("an error", 5), ("no list", 5)] {
        let counted = counted(1, 35, total.clone());
        let page = move |arguments: &Value| match (at_0, number(arguments, "page", 9)) {
            ("nothing", 0) => json!({"total": 35, "items": []}),
            ("an error", 0) => json!({"failed": "page must be positive"}),
            ("no list", 0) => json!({"page": "none"}),
            _ => counted(arguments),
        };
        let mut client = Client::required(&page);
        let all = client.all().unwrap();
        assert_eq!((client.book.records(), client.fetches()), (35, fetches), "{at_0}");
        assert_eq!(all["pagination"]["total_count"], 35, "{at_0}");
        let notes = all["pagination"]["notes"].to_string();
        let is_presumed = matches!(at_0, "an error" | "no list");
        assert_eq!(notes.contains("from 1 is presumed"), is_presumed, "{at_0} {notes}");
        let numbers = client.part(Part { offset: 0, limit: 35 }, None).unwrap();
        assert_eq!(ids(&numbers), (0..35).collect::<Vec<_>>(), "{at_0}");
    }
    let away = |_: &Value| json!({"failed": "away"});
    let mut client = Client::required(&away);
    assert!(matches!(client.cover(0..20), Err(Trouble::Page { .. })));
    assert_eq!(client.fetches(), 2);
    let none = |_: &Value| json!({"items": []});
    assert_eq!(Client::required(&none).all().unwrap()["pagination"]["total_count"], 0);
}

#[test]
fn a_page_0_that_nothing_confirms_is_told() {
    // What Python gives for a slice that begins before the list.
    let page = |arguments: &Value| match number(arguments, "page", 9) {
        0 => json!({"total": 35, "items": records(25..34)}),
        page => {
            json!({"total": 35, "items": records(((page - 1) * 10).min(35)..(page * 10).min(35))})
        }
    };
    let mut client = Client::required(&page);
    let first = client.page(1, 9).unwrap();
    let presumes_0 = |page: &Value| {
        page["pagination"]["notes"]
            .to_string()
            .contains("from 0 is presumed, since page 0 was tried")
    };
    assert!(presumes_0(&first), "{first}");
    let all = client.all().unwrap();
    assert!(client.book.records() > 35 && presumes_0(&all), "{all}");
}

/// Pages of fifty, each record of which is a text block.
fn blocks(all: u64) -> impl Fn(&Value) -> Value {
    move |arguments: &Value| {
        let start = (number(arguments, "page", 1) - 1) * 50;
        let records = records(start.min(all)..(start + 50).min(all));
        let blocks = records.iter().map(|it| json!({"type": "text", "text": it.to_string()}));
        json!({"content": blocks.collect::<Vec<_>>(), "_meta": {"a": "b"}})
    }
}

#[test]
fn pages_of_blocks_may_have_one_record_or_none() {
    for (all, fetches) in [(120, 4), (101, 4), (100, 3), (0, 1)] {
        let page = blocks(all);
        let mut client = Client::new(&integer(&["page"]), &page);
        let told = client.all().unwrap();
        assert_eq!((client.book.records(), client.fetches()), (all, fetches), "{all}");
        assert_eq!(told["pagination"]["total_count"], all, "{told}");
    }
    let page = blocks(101);
    let mut client = Client::new(&integer(&["page"]), &page);
    client.page(1, 50).unwrap();
    assert_eq!(ids(&client.page(101, 1).unwrap()), [100], "and not those between them");
    assert_eq!(client.fetches(), 2);
}

#[test]
fn what_is_no_page_is_told_without_what_is_around_it() {
    let page = |arguments: &Value| match number(arguments, "page", 1) {
        1 => json!({"items": records(0..10)}),
        _ => json!({"content": [{"type": "text", "text": "<b>502</b>"}], "_meta": {"a": "b"}}),
    };
    let mut client = Client::new(&integer(&["page"]), &page);
    let Err(Trouble::Page { why, .. }) = client.cover(0..20) else { panic!("page 2 is none") };
    assert_eq!(why, "its result holds no list: <b>502</b>");
}

#[test]
fn a_cursor_may_be_a_number() {
    let page = |arguments: &Value| {
        let start = number(arguments, "cursor", 0);
        let next = (start + 50 < 120).then_some(start + 50);
        json!({"items": records(start..(start + 50).min(120)), "next_cursor": next})
    };
    let or_null = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
    for property in [json!({"type": "integer", "default": 0}), or_null] {
        let mut client = Client::new(&json!({ "cursor": property }), &page);
        let all = client.all().unwrap();
        assert_eq!((client.book.records(), client.fetches()), (120, 3), "{property}");
        assert_eq!(all["pagination"]["upstream"], "cursor (guessed)");
        assert_eq!(all["pagination"]["total_count"], 120);
        assert_eq!(client.last_fetch(), r#"{"cursor":100}"#);
    }
    // As a text it is written as the parameter takes it, and the other way round.
    let as_text = |arguments: &Value| {
        let start = number(arguments, "cursor", 0);
        let next = (start + 50 < 120).then(|| (start + 50).to_string());
        json!({"items": records(start..(start + 50).min(120)), "next_cursor": next})
    };
    let mut client = Client::new(&json!({"cursor": {"type": "integer"}}), &as_text);
    client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (120, 3));
    // A number of that name that nothing leads on by may be anything.
    let whole = |_: &Value| json!({"items": records(0..30)});
    let mut client = Client::new(&json!({"after": {"type": "integer"}}), &whole);
    assert_eq!(client.all().unwrap()["pagination"]["total_count"], 30);
}

#[test]
fn the_url_of_the_next_page_is_given_to_what_takes_a_url() {
    let page = |arguments: &Value| {
        let url = arguments["url"].as_str().or(arguments["link"].as_str());
        let start = url.map_or(0, |url| url.split_once("from=").unwrap().1.parse().unwrap());
        let end = (start + 100).min(777);
        let next = (end < 777).then(|| format!("https://api.example.com/x?q=a&from={end}"));
        json!({"data": records(start..end), "next": next})
    };
    for name in ["url", "link"] {
        let text = || json!({"type": "string"});
        let mut client = Client::new(&json!({name: text(), "q": text()}), &page);
        let all = client.all().unwrap();
        assert_eq!((client.book.records(), client.fetches()), (777, 8), "{name}");
        assert_eq!(all["pagination"]["upstream"], format!("{name} (guessed)"));
    }
}

#[test]
fn pages_that_come_again_end_it_and_what_came_before_stays() {
    // The cursor leads to the page that it comes with.
    let page = |arguments: &Value| {
        let start = if arguments["cursor"].is_null() { 0 } else { 10 };
        json!({"items": records(start..start + 10), "next_cursor": "same"})
    };
    let mut client = Client::new(&text("cursor"), &page);
    let far = client.page(10, 20).unwrap_err();
    assert!(far.starts_with("The upstream gives no way to record 180: 20 records"), "{far}");
    assert!(far.contains("is one that it gave before"), "{far}");
    assert_eq!((client.book.records(), client.fetches()), (20, 2));
    // After three pages the first one comes again.
    let page = |arguments: &Value| {
        let place: u64 = arguments["cursor"].as_str().map_or(0, |it| it.parse().unwrap());
        let start = place % 3 * 10;
        json!({"items": records(start..start + 10), "next_cursor": (place + 1).to_string()})
    };
    let mut client = Client::new(&text("cursor"), &page);
    let all = client.all().unwrap();
    assert_eq!((client.book.records(), client.fetches()), (30, 4));
    assert!(all["pagination"]["notes"].to_string().contains("gave before"), "{all}");
    // The same page whatever is asked for.
    let page = |_: &Value| json!({"results": records(0..100)});
    let mut client = Client::new(&integer(&["page_number"]), &page);
    let far = client.page(10, 20).unwrap_err();
    assert!(far.contains("The upstream gives the same page whatever it is asked for"), "{far}");
}
