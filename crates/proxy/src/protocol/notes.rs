//! What interceptors note about a call, for themselves and for each other, until it is over.

use std::{any::Any, fmt, sync::Arc};

use parking_lot::Mutex;

/// Values of different types, one of each. What they are is known to who has noted them.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Notes {
    /// Adds a value, in the place of one of its type.
    pub(crate) fn set<T: Any + Send + Sync>(&self, value: T) {
        let mut notes = self.0.lock();
        notes.retain(|note| !note.is::<T>());
        notes.push(Arc::new(value));
    }

    /// The value of this type.
    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.lock().iter().find_map(|note| note.clone().downcast().ok())
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} notes", self.0.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_note_of_each_type() {
        let notes = Notes::default();
        assert!(notes.get::<u8>().is_none());
        notes.set(1_u8);
        notes.set("text");
        notes.set(2_u8);
        assert_eq!(
            (notes.get::<u8>().as_deref(), notes.get::<&str>().as_deref()),
            (Some(&2), Some(&"text"))
        );
        assert_eq!(format!("{notes:?}"), "2 notes");
    }
}
