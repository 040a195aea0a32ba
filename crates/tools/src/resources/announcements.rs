//! Who is told that there is more to list: each session that has listed, once, until it lists again.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Weak},
    thread,
};

use forebay_proxy::chain::ToClient;
use parking_lot::Mutex;

/// The notification, as a line.
const CHANGED: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}\n";

/// The sessions that know the list as it is.
#[derive(Default)]
pub(super) struct Announcements(Mutex<HashMap<Arc<str>, Weak<dyn ToClient>>>);

impl Announcements {
    /// A session has listed what there is.
    pub(super) fn has_listed(&self, session: &Arc<str>, client: Option<Weak<dyn ToClient>>) {
        let mut sessions = self.0.lock();
        sessions.retain(|_, client| client.strong_count() > 0);
        if let Some(client) = client {
            sessions.insert(session.clone(), client);
        }
    }

    /// Something was kept.
    pub(super) fn list_has_changed(&self) {
        let sessions = mem::take(&mut *self.0.lock());
        if sessions.is_empty() {
            return;
        }
        // A client may not be reading. Without a thread nobody hears of it, and lists when it wants to.
        let _ = thread::Builder::new().name("announce".to_owned()).spawn(move || {
            for client in sessions.values().filter_map(Weak::upgrade) {
                client.tell(CHANGED);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn whoever_has_listed_is_told_once() {
        let announcements = Announcements::default();
        let (tell, told) = mpsc::channel();
        let client: Arc<dyn ToClient> = Arc::new(move |line: &[u8]| {
            tell.send(line.to_vec()).unwrap();
        });
        announcements.list_has_changed();
        announcements.has_listed(&"s".into(), Some(Arc::downgrade(&client)));
        announcements.list_has_changed();
        announcements.list_has_changed();
        assert_eq!(told.recv().unwrap(), CHANGED);
        announcements.has_listed(&"s".into(), Some(Arc::downgrade(&client)));
        announcements.list_has_changed();
        assert_eq!(told.recv().unwrap(), CHANGED);
        drop(client);
        assert!(told.recv().is_err(), "that was all");
    }
}
