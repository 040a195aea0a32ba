//! The calls that became tasks: other conversations may ask for their results.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};

use super::call::Call;

use crate::limits;

/// The calls that became tasks. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks(Arc<Mutex<Inner>>);

/// By the task's id, and in the order in which they did.
#[derive(Debug, Default)]
struct Inner {
    calls: HashMap<String, Arc<Call>>,
    order: VecDeque<String>,
}

impl Tasks {
    /// The call that became this task.
    pub(crate) fn origin(&self, task_id: &str) -> Option<Arc<Call>> {
        self.lock().calls.get(task_id).cloned()
    }

    pub(crate) fn remember(&self, task_id: String, call: Arc<Call>) {
        let mut tasks = self.lock();
        if tasks.calls.insert(task_id.clone(), call).is_none() {
            tasks.order.push_back(task_id);
        }
        if tasks.order.len() > limits::TASKS
            && let Some(oldest) = tasks.order.pop_front()
        {
            tasks.calls.remove(&oldest);
        }
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.lock().calls.len()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock()
    }
}
