//! The text of a client's file on its way from what it is to what it is to be, with all that is done to it.

use crate::{
    document::{Edit, Node, Splice},
    form::Form,
    ledger::Change,
    value::Value,
};

/// A text that is changed step by step, and what was done to it.
pub(crate) struct Work {
    pub(crate) text: String,
    /// What is in the text.
    root: Node,
    form: Form,
    pub(crate) changes: Vec<Change>,
}

impl Work {
    pub(crate) fn new(form: Form, text: &str, root: Node) -> Self {
        Self { text: text.to_owned(), root, form, changes: Vec::new() }
    }

    fn value(&self, place: &[String]) -> Option<Value> {
        self.root.at(place).map(Node::value)
    }

    /// Takes a step, if what comes of it can be read.
    fn take(&mut self, place: &[String], splice: Splice) -> bool {
        let before = self.value(place);
        let original = self.text[splice.range.clone()].to_owned();
        let (ours, at) = (splice.text.clone(), splice.range.start);
        let made = splice.into_text(&self.text);
        let Ok(root) = self.form.read(&made) else { return false };
        (self.text, self.root) = (made, root);
        let after = self.value(place);
        let (place, moved) = (place.to_vec(), Vec::new());
        self.changes.push(Change { place, before, after, original, ours, at, moved });
        true
    }

    /// Changes members of an entry. False if it is written in a way that this cannot be done in.
    pub(crate) fn wrap(&mut self, table: &[String], name: &String, edits: &[(&str, Edit)]) -> bool {
        let place = [table, std::slice::from_ref(name)].concat();
        let splice = self.form.edit(&self.text, &place, edits);
        splice.is_some_and(|splice| self.take(&place, splice))
    }

    /// Adds an entry to a table. False if it is written in a way that this cannot be done in.
    pub(crate) fn add(&mut self, table: &[String], key: &str, value: &Value) -> bool {
        let mut place = [table, &[key.to_owned()]].concat();
        // A table that is made for it is ours, too.
        while place.len() > 1 && self.value(&place[..place.len() - 1]).is_none() {
            place.pop();
        }
        let splice = self.form.add(&self.text, table, key, value);
        splice.is_some_and(|splice| self.take(&place, splice))
    }

    /// Takes servers out of a table and puts one in, as one change of the table.
    pub(crate) fn move_all(
        &mut self,
        table: &[String],
        names: &[&String],
        key: &str,
        value: &Value,
    ) -> bool {
        let mut text = self.text.clone();
        for name in names {
            let place = [table, &[(*name).clone()]].concat();
            let Some(splice) = self.form.move_out(&text, &place) else { return false };
            text = splice.into_text(&text);
        }
        let Some(splice) = self.form.add(&text, table, key, value) else { return false };
        text = splice.into_text(&text);
        let Some(splice) = self.between(table, &text) else { return false };
        let is_done = self.take(table, splice);
        if let Some(change) = self.changes.last_mut().filter(|_| is_done) {
            change.moved = names.iter().map(|name| (*name).clone()).collect();
        }
        is_done
    }

    /// The splice that makes `text` of ours. It is the table's own stretch, if all else is the same.
    fn between(&self, table: &[String], text: &str) -> Option<Splice> {
        let (old, new) = (self.form.stretch(&self.text, table)?, self.form.stretch(text, table)?);
        let is_within =
            self.text[..old.start] == text[..new.start] && self.text[old.end..] == text[new.end..];
        if is_within {
            return Some(Splice { range: old, text: text[new].to_owned() });
        }
        let start = common_start(&self.text, text);
        let end = common_end(&self.text[start..], &text[start..]);
        let range = start..self.text.len() - end;
        Some(Splice { range, text: text[start..text.len() - end].to_owned() })
    }
}

/// How many bytes at the start of both are the same.
fn common_start(one: &str, other: &str) -> usize {
    let same = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
    same.last().map_or(0, |((at, a), _)| at + a.len_utf8())
}

/// How many bytes at the end of both are the same.
fn common_end(one: &str, other: &str) -> usize {
    let same = one.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b);
    same.map(|(a, _)| a.len_utf8()).sum()
}
