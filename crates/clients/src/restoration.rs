//! Members of an entry in the words that they had: comments, lines and quotes of what was changed come back with it.

use crate::{
    document::{Splice, newline},
    form::Form,
    ledger::Change,
};

/// The text with the member `key` of what is at `place` written as it was before a change, as far as that is known and
/// says the same.
pub(crate) fn in_its_words(
    form: Form,
    text: String,
    place: &[String],
    key: &str,
    change: &Change,
) -> String {
    let restored = || {
        let root = form.read(&text).ok()?;
        let mut range = root.at(&inside(place, key))?.span.clone();
        let words = words(form, change, key)?;
        // In YAML, what has lines of its own begins right behind the colon.
        if words.starts_with(char::is_whitespace) {
            range.start = text[..range.start].trim_end_matches(' ').len();
        }
        let words = words.replace("\r\n", "\n").replace('\n', newline(&text));
        let made = Splice { range, text: words }.into_text(&text);
        let says_the_same = form.read(&made).ok()?.value().says_the_same_as(&root.value());
        says_the_same.then_some(made)
    };
    restored().unwrap_or(text)
}

/// How a member was written before a change.
fn words(form: Form, change: &Change, key: &str) -> Option<String> {
    let before = change.before.as_ref()?.get(key)?;
    let part = match form {
        Form::Json => format!("{{{}}}", change.original),
        Form::Toml | Form::Yaml => change.original.clone(),
    };
    let root = form.read(&part).ok()?;
    // What was kept is a part of the file, in which names that lead to it may be missing.
    let nodes = (0..=change.place.len())
        .filter_map(|skipped| root.at(&inside(&change.place[skipped..], key)));
    let node = nodes.into_iter().find(|node| node.value().says_the_same_as(before))?;
    Some(part[node.span.clone()].to_owned())
}

fn inside(place: &[String], key: &str) -> Vec<String> {
    [place, &[key.to_owned()]].concat()
}
