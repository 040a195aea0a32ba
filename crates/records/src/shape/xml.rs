//! XML, written anew as JSON: an element is an object of its attributes (`@name` where a child has
//! the same name), its children, those of one name as a list, and its text (`#text`); one with
//! nothing but text is that text.

use std::borrow::Cow;

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use serde_json::to_writer;

const MAX_DEPTH: usize = 100;

/// An element.
#[derive(Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

/// The document as JSON, if `text` is XML and no web page.
pub(super) fn to_json(text: &str) -> Option<Vec<u8>> {
    let start = text.trim_start();
    if !start.starts_with('<') || !start.ends_with('>') && !start.trim_end().ends_with('>') {
        return None;
    }
    let root = parse(start)?;
    if root.name.eq_ignore_ascii_case("html") {
        return None;
    }
    let mut json = Vec::with_capacity(text.len());
    json.push(b'{');
    key(&root.name, &mut json);
    root.write(&mut json);
    json.push(b'}');
    Some(json)
}

fn parse(text: &str) -> Option<Element> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Element> = None;
    loop {
        let closed = match reader.read_event().ok()? {
            Event::Start(tag) => {
                if open.len() == MAX_DEPTH {
                    return None;
                }
                open.push(element(&tag)?);
                None
            }
            Event::Empty(tag) => Some(element(&tag)?),
            Event::End(_) => Some(open.pop()?),
            Event::Text(words) => {
                append(&mut open, &words);
                None
            }
            Event::CData(words) => {
                append(&mut open, &words);
                None
            }
            Event::GeneralRef(reference) => {
                let resolved = match reference.resolve_char_ref().ok()? {
                    Some(character) => Cow::Owned(character.to_string()),
                    None => Cow::Borrowed(quick_xml::escape::resolve_xml_entity(&reference)?),
                };
                append(&mut open, &resolved);
                None
            }
            Event::Eof => return root.filter(|_| open.is_empty()),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_) => None,
        };
        if let Some(element) = closed {
            match open.last_mut() {
                Some(parent) => parent.children.push(element),
                None if root.is_none() => root = Some(element),
                None => return None,
            }
        }
    }
}

fn element(tag: &BytesStart<'_>) -> Option<Element> {
    let name = tag.name().as_ref().to_owned();
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let name = attribute.key.as_ref().to_owned();
        let value = quick_xml::escape::unescape(&attribute.value).ok()?;
        attributes.push((name, value.into_owned()));
    }
    Some(Element { name, attributes, ..Element::default() })
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

impl Element {
    fn write(&self, json: &mut Vec<u8>) {
        let text = self.text.trim();
        if self.attributes.is_empty() && self.children.is_empty() {
            string(text, json);
            return;
        }
        json.push(b'{');
        for (name, value) in &self.attributes {
            let is_taken = self.children.iter().any(|child| child.name == *name);
            key(&if is_taken { format!("@{name}") } else { name.clone() }, json);
            string(value, json);
            json.push(b',');
        }
        let mut names: Vec<&str> = Vec::new();
        for child in &self.children {
            if !names.contains(&child.name.as_str()) {
                names.push(&child.name);
            }
        }
        for name in names {
            key(name, json);
            let same: Vec<&Self> =
                self.children.iter().filter(|child| child.name == name).collect();
            if let [only] = same.as_slice() {
                only.write(json);
            } else {
                json.push(b'[');
                for child in same {
                    child.write(json);
                    json.push(b',');
                }
                json.pop();
                json.push(b']');
            }
            json.push(b',');
        }
        if !text.is_empty() {
            key("#text", json);
            string(text, json);
            json.push(b',');
        }
        json.pop();
        json.push(b'}');
    }
}

fn key(name: &str, json: &mut Vec<u8>) {
    string(name, json);
    json.push(b':');
}

fn string(text: &str, json: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = to_writer(json, text);
}
