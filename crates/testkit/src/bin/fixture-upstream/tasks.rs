//! Calls whose result comes later, under an id of its own.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{gates::Gates, json::Json, request::Era};

#[derive(Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Task>>);

#[derive(Clone)]
pub(crate) struct Task {
    id: String,
    result: Json,
    /// The gate that it waits at.
    pub(crate) hold: Option<String>,
    era: Era,
    is_cancelled: bool,
}

impl Tasks {
    /// Starts a task that has `result` once `hold` is released, and gives the result that tells so.
    pub(crate) fn start(&self, result: Json, hold: Option<String>, era: Era) -> Json {
        static TASKS: AtomicU64 = AtomicU64::new(1);
        let id = format!("task-{}-{}", std::process::id(), TASKS.fetch_add(1, Ordering::Relaxed));
        let task = Task { id: id.clone(), result, hold, era, is_cancelled: false };
        let facts = task.facts("working");
        self.lock().insert(id, task);
        Json::whole(match era {
            Era::Legacy => format!(r#"{{"task":{{{facts}}}}}"#),
            Era::Modern => format!(r#"{{"resultType":"task",{facts}}}"#),
        })
    }

    pub(crate) fn get(&self, id: &str) -> Option<Task> {
        self.lock().get(id).cloned()
    }

    pub(crate) fn cancel(&self, id: &str) {
        if let Some(task) = self.lock().get_mut(id) {
            task.is_cancelled = true;
        }
    }

    /// The ids of the tasks that wait at that gate.
    pub(crate) fn held_by(&self, name: &str) -> Vec<String> {
        let tasks = self.lock();
        let held = tasks.values().filter(|task| task.hold.as_deref() == Some(name));
        held.map(|task| task.id.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    /// The task as it is now: an object, in the modern era with the result of a task that is done.
    pub(crate) fn state(&self, gates: &Gates) -> Json {
        let is_held = self.hold.as_ref().is_some_and(|name| !gates.is_open(name));
        let status = match (self.is_cancelled, is_held) {
            (true, _) => "cancelled",
            (false, true) => "working",
            (false, false) => "completed",
        };
        let facts = self.facts(status);
        match self.era {
            Era::Modern if status == "completed" => {
                self.result.clone().within(&format!(r#"{{{facts},"result":"#), "}")
            }
            Era::Modern | Era::Legacy => Json::whole(format!("{{{facts}}}")),
        }
    }

    /// The call's result, as `tasks/result` gives it.
    pub(crate) fn result(&self) -> Json {
        let id = &self.id;
        self.result.clone().with_member(&format!(
            r#""_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}}}"#
        ))
    }

    fn facts(&self, status: &str) -> String {
        let id = &self.id;
        let ends = match self.era {
            Era::Legacy => r#""ttl":60000,"pollInterval":10"#,
            Era::Modern => r#""ttlMs":60000,"pollIntervalMs":10"#,
        };
        format!(
            r#""taskId":"{id}","status":"{status}","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z",{ends}"#
        )
    }
}
