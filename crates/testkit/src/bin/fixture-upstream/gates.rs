//! Gates that calls wait at, by name.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

#[derive(Default)]
pub(crate) struct Gates(Mutex<HashMap<String, watch::Sender<bool>>>);

impl Gates {
    /// Opens the gate of that name for good.
    pub(crate) fn release(&self, name: &str) {
        self.lock().entry(name.to_owned()).or_default().send_replace(true);
    }

    /// Waits at the gate of that name.
    pub(crate) async fn released(&self, name: &str) {
        let mut gate = self.lock().entry(name.to_owned()).or_default().subscribe();
        let _ = gate.wait_for(|is_open| *is_open).await;
    }

    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.lock().get(name).is_some_and(|gate| *gate.borrow())
    }

    /// The names that someone waits for.
    pub(crate) fn held(&self) -> Vec<String> {
        let gates = self.lock();
        let held = gates.iter().filter(|(_, gate)| gate.receiver_count() > 0 && !*gate.borrow());
        let mut names: Vec<String> = held.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<bool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
