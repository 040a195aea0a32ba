//! The books that have been opened: one for each call that differs, for whoever may see it.

use std::{collections::HashMap, sync::Arc, time::Instant};

use forebay_store::{Scope, Viewer};
use parking_lot::Mutex;

use super::{book::Book, keep::Kept, raw::RawArguments};

/// How many are remembered; those that were not used for the longest time go.
const MAX_BOOKS: usize = 64;

/// Which book it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    principal: String,
    /// Whoever shares what was kept.
    sharing: String,
    server: String,
    tool: String,
    arguments: Vec<u8>,
}

impl Key {
    pub(crate) fn new(viewer: &Viewer, server: &str, tool: &str, arguments: &RawArguments) -> Self {
        let session = || viewer.session.clone().unwrap_or_default();
        let sharing = match (viewer.scope, &viewer.project) {
            (Scope::All, _) => String::new(),
            (Scope::Project, Some(project)) => format!("project {project}"),
            (Scope::Project, None) | (Scope::Session, _) => format!("session {}", session()),
        };
        Self {
            principal: viewer.principal.as_str().to_owned(),
            sharing,
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.canonical(),
        }
    }
}

/// A book in use, with the dataset that has its records.
#[derive(Debug, Default)]
pub(crate) struct Open {
    pub(crate) book: Option<Book>,
    pub(crate) kept: Option<Kept>,
}

/// All books.
#[derive(Debug, Default)]
pub(crate) struct Books(Mutex<HashMap<Key, Used>>);

#[derive(Debug)]
struct Used {
    at: Instant,
    open: Arc<Mutex<Open>>,
}

impl Books {
    /// The book of a call, for one at a time.
    pub(crate) fn of(&self, key: &Key) -> Arc<Mutex<Open>> {
        let now = Instant::now();
        let mut books = self.0.lock();
        if let Some(used) = books.get_mut(key) {
            used.at = now;
            return used.open.clone();
        }
        if books.len() >= MAX_BOOKS
            && let Some(oldest) =
                books.iter().min_by_key(|(_, used)| used.at).map(|(key, _)| key.clone())
        {
            books.remove(&oldest);
        }
        let open: Arc<Mutex<Open>> = Arc::default();
        books.insert(key.clone(), Used { at: now, open: open.clone() });
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(viewer: &Viewer, arguments: &str) -> Key {
        Key::new(viewer, "s", "t", &RawArguments::read(arguments.as_bytes()))
    }

    #[test]
    fn the_same_call_has_the_same_book_and_others_have_others() {
        let books = Books::default();
        let viewer = Viewer::default();
        let one = books.of(&key(&viewer, r#"{"a": 1, "b": 2}"#));
        assert!(Arc::ptr_eq(&one, &books.of(&key(&viewer, r#"{"b":2,"a":1}"#))));
        assert!(!Arc::ptr_eq(&one, &books.of(&key(&viewer, r#"{"a":1}"#))));
        let session = |name: &str| Viewer {
            session: Some(name.to_owned()),
            scope: Scope::Session,
            ..Viewer::default()
        };
        assert_ne!(key(&session("x"), "{}"), key(&session("y"), "{}"));
        for number in 0..2 * MAX_BOOKS {
            books.of(&key(&viewer, &format!(r#"{{"n":{number}}}"#)));
        }
        assert_eq!(books.0.lock().len(), MAX_BOOKS);
    }
}
