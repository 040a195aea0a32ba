use serde_json::json;

use super::*;

fn structured(document: &Value) -> Value {
    json!({"content": [], "structuredContent": document})
}

fn as_text(document: &str) -> Value {
    json!({"content": [{"type": "text", "text": document}]})
}

fn of(result: &Value) -> Result<Found, NoPage> {
    sent(result, Sent::default())
}

fn sent(result: &Value, sent: Sent<'_>) -> Result<Found, NoPage> {
    read(result.to_string().as_bytes(), &PagingSettings::default(), sent, Layout::Document)
}

fn records(found: &Found) -> Vec<String> {
    let text =
        |span: &Range<usize>| String::from_utf8_lossy(&found.text[span.clone()]).into_owned();
    found.records.iter().map(text).collect()
}

#[test]
fn the_list_is_found_wherever_it_is() {
    for document in [
        json!([1, 2]),
        json!({"items": [1, 2], "tags": ["x", "y", "z"]}),
        json!({"errors": [], "orders": [1, 2]}),
        json!({"data": {"items": [1, 2]}, "took": 3}),
        json!({"hits": {"total": {"value": 2}, "hits": [1, 2]}}),
        json!({"result": [1, 2]}),
        json!({"a": {"b": {"c": [1, 2]}}}),
    ] {
        for result in [structured(&document), as_text(&document.to_string())] {
            assert_eq!(records(&of(&result).unwrap()), ["1", "2"], "{document}");
        }
    }
    let blocks = json!({"content": [{"type": "text", "text": "{\"a\":1}"}, {"type": "text", "text": "{\"a\":2}"}]});
    assert_eq!(records(&of(&blocks).unwrap()), [r#"{"a":1}"#, r#"{"a":2}"#]);
}

#[test]
fn records_may_be_blocks_of_their_own() {
    let blocks = |texts: &[&str]| {
        let blocks = texts.iter().map(|text| json!({"type": "text", "text": text}));
        json!({"content": blocks.collect::<Vec<_>>(), "_meta": {"a": "b"}})
    };
    let read = |texts: &[&str], layout| {
        let result = blocks(texts).to_string();
        read(result.as_bytes(), &PagingSettings::default(), Sent::default(), layout)
    };
    // Lists in them are their own.
    let (one, other) = ("{\"id\": 1, \"tags\": [7, 8]}", "{\"id\": 2, \"tags\": [9]}");
    for layout in [Layout::Document, Layout::Blocks] {
        let found = read(&[one, other], layout).unwrap();
        assert_eq!(
            (records(&found), found.layout),
            (vec![one.into(), other.into()], Layout::Blocks)
        );
        assert_eq!(records(&read(&[], layout).unwrap()), Vec::<String>::new());
        assert_eq!(read(&["none"], layout), Err(NoPage::NoList("none".to_owned())));
    }
    assert_eq!(records(&read(&[one], Layout::Blocks).unwrap()), [one]);
    assert_eq!(records(&read(&[one], Layout::Document).unwrap()), ["7", "8"], "as far as is known");
    let apart = read(&["{\"items\": [1]}", "{\"total\": 9}"], Layout::Document).unwrap();
    assert_eq!(records(&apart), ["1"]);
}

#[test]
fn records_keep_their_bytes() {
    let text =
        r#"{"results": [ {"b": 123456789012345678901234567890, "a": 1.50} , {"b":"\u00e9"}]}"#;
    assert_eq!(
        records(&of(&as_text(text)).unwrap()),
        [r#"{"b": 123456789012345678901234567890, "a": 1.50}"#, r#"{"b":"\u00e9"}"#]
    );
}

#[test]
fn what_is_no_page_says_why() {
    let error = json!({"isError": true, "content": [{"type": "text", "text": "no such table"}]});
    assert_eq!(of(&error), Err(NoPage::Failed("no such table".to_owned())));
    let no_list = |said: &str| Err(NoPage::NoList(said.to_owned()));
    assert_eq!(of(&as_text("hello")), no_list("hello"));
    assert_eq!(of(&structured(&json!({"a": 1}))), no_list("{\"a\":1}"));
    assert_eq!(of(&json!({"resultType": "input_required"})), Err(NoPage::Unfinished));
    assert_eq!(of(&json!({"task": {"taskId": "1"}})), Err(NoPage::Unfinished));
}

#[test]
fn what_is_said_of_the_other_pages_is_read() {
    let told = |document: Value| of(&structured(&document)).unwrap().told;
    let token = |token: &str| Some(Next::Token(token.into()));
    assert_eq!(told(json!({"items": [1], "total": 7})).total, Some(7));
    assert_eq!(told(json!({"items": [1], "meta": {"totalCount": "7"}})).total, Some(7));
    assert_eq!(told(json!({"items": [1], "count": 1})).total, None, "of this page, perhaps");
    assert_eq!(told(json!({"results": [1], "count": 9})).total, Some(9));
    assert_eq!(told(json!({"hits": {"total": {"value": 5}, "hits": []}})).total, Some(5));
    let first = told(json!({"items": [1], "next_cursor": "x"}));
    assert_eq!((first.next, first.has_more), (token("x"), Some(true)));
    let last = told(json!({"items": [1], "next_cursor": null}));
    assert_eq!((last.next, last.has_more), (None, Some(false)));
    let page = json!({"nodes": [1], "pageInfo": {"hasNextPage": false, "endCursor": "x"}});
    assert_eq!((told(page.clone()).next, told(page).has_more), (None, Some(false)));
    let url = Some(Next::Url("https://h/?p=2".to_owned()));
    assert_eq!(told(json!({"data": [1], "links": {"next": "https://h/?p=2"}})).next, url);
    assert_eq!(
        told(json!({"data": [1], "_links": {"next": {"href": "https://h/?p=2"}}})).next,
        url
    );
    assert_eq!(told(json!({"items": [1], "isLast": true})).has_more, Some(false));
    assert_eq!(told(json!([1])), Told::default());
}

#[test]
fn a_cursor_of_minus_1_is_the_end() {
    let told = |document: Value| of(&structured(&document)).unwrap().told;
    for end in [json!(-1), json!("-1"), json!("")] {
        let last = told(json!({"items": [1], "next_cursor": end}));
        assert_eq!((last.next, last.has_more), (None, Some(false)), "{end}");
        let own = sent(
            &structured(&json!({"items": [1], "cursor": end})),
            Sent { parameter: Some("cursor"), cursor: Some(b"20") },
        );
        let own = own.unwrap().told;
        assert_eq!((own.next, own.has_more), (None, Some(false)), "{end}");
    }
}

#[test]
fn the_policy_says_where_things_are() {
    let settings = PagingSettings {
        records: Some("/a~1b/0".to_owned()),
        total: Some("/n".to_owned()),
        next: Some("/to".to_owned()),
        ..PagingSettings::default()
    };
    let document = json!({"a/b": [[1, 2]], "items": [], "n": 2, "total": 9, "to": 4});
    let read = |result: Value| {
        read(result.to_string().as_bytes(), &settings, Sent::default(), Layout::Document)
    };
    let found = read(structured(&document)).unwrap();
    assert_eq!(records(&found), ["1", "2"]);
    assert_eq!((found.told.total, found.told.next), (Some(2), Some(Next::Token(4.into()))));
    let elsewhere = read(structured(&json!({"items": [1]})));
    assert_eq!(elsewhere, Err(NoPage::NoList("{\"items\":[1]}".to_owned())));
    let nothing = read(json!({"content": []}));
    assert_eq!(nothing, Err(NoPage::NoList(String::new())), "it is to be there");
}

#[test]
fn a_total_of_something_else_is_none_of_records() {
    let total = |document: Value| of(&structured(&document)).unwrap().told.total;
    assert_eq!(total(json!({"items": [1], "usage": {"total": 57}})), None);
    assert_eq!(total(json!({"items": [1], "invoice": {"sum": {"total": 57}}})), None);
    assert_eq!(total(json!({"items": [1], "page_info": {"total": 57}})), Some(57));
    assert_eq!(total(json!({"data": {"total": 57, "items": [1]}})), Some(57));
    assert_eq!(total(json!({"total": 57, "data": {"items": [1]}})), Some(57));
    assert_eq!(total(json!({"items": [1], "a": {"total": 5}, "_meta": {"total": 7}})), Some(7));
}

#[test]
fn a_token_under_the_name_of_the_parameter_is_found() {
    let told = |document: &Value, parameter, cursor: Option<&str>| {
        let cursor = cursor.map(str::as_bytes);
        let sent = super::Sent { parameter: Some(parameter), cursor };
        let told = self::sent(&structured(document), sent).unwrap().told;
        (told.next.map(|next| next.value()), told.has_more)
    };
    let airtable = json!({"records": [1], "offset": "itr1/rec1"});
    assert_eq!(told(&airtable, "offset", None), (Some("itr1/rec1".into()), Some(true)));
    let kubernetes = json!({"items": [1], "metadata": {"continue": "abc"}});
    assert_eq!(told(&kubernetes, "continue", None), (Some("abc".into()), Some(true)));
    let last = json!({"items": [1], "metadata": {"continue": ""}});
    assert_eq!(told(&last, "continue", Some("\"abc\"")), (None, Some(false)));
    let hubspot = json!({"results": [1], "paging": {"next": {"after": "7", "link": "?after=7"}}});
    assert_eq!(told(&hubspot, "after", None), (Some("7".into()), Some(true)));
    // What was sent, told again, leads nowhere and tells nothing.
    assert_eq!(told(&airtable, "offset", Some("\"itr1/rec1\"")), (None, None));
    assert_eq!(told(&json!({"items": [1], "page": 1}), "page", None), (None, None));
    // What is called the next goes before.
    let both = json!({"items": [1], "cursor": "a", "next_cursor": "b"});
    assert_eq!(told(&both, "cursor", Some("\"a\"")), (Some("b".into()), Some(true)));
    let end = json!({"items": [1], "cursor": "a", "next_cursor": null});
    assert_eq!(told(&end, "cursor", None), (None, Some(false)));
}

#[test]
fn links_are_read_however_they_are_written() {
    let told = |document: &Value| {
        let told = of(&structured(document)).unwrap().told;
        (told.next.map(|next| next.value()), told.has_more)
    };
    let next = (Some("https://h/?p=2".into()), Some(true));
    let own = json!({"rel": "self", "href": "https://h/?p=1"});
    let stac = json!({"features": [1], "links": [own, {"rel": "next", "href": "https://h/?p=2"}]});
    assert_eq!(told(&stac), next);
    let link = json!([{"relation": "next", "url": "https://h/?p=2"}]);
    assert_eq!(told(&json!({"entry": [1], "link": link})), next);
    let header = "<https://h/?p=2>; rel=\"next\", <https://h/?p=9>; rel=\"last\"";
    assert_eq!(told(&json!({"items": [1], "headers": {"Link": header}})), next);
    let back = json!({"items": [1], "links": [{"rel": "prev", "href": "https://h/?p=1"}]});
    assert_eq!(told(&back), (None, Some(false)));
    assert_eq!(told(&json!({"items": [1], "links": [own]})), (None, None), "of anything, perhaps");
    let unread = json!({"items": [1], "next": {"page": 2}});
    assert_eq!(told(&unread), (None, Some(true)), "there is a next one, and no way to it");
}
