//! Who looks at datasets, and which of them they may see.

use rusqlite::types::Value;
use serde::{Deserialize, Serialize};

use crate::{Description, Metadata, Principal};

/// Whoever looks. By default that is a person at this machine, who sees everything that was kept here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewer {
    /// For whom it looks.
    #[serde(default)]
    pub principal: Principal,
    /// The conversation that it looks for; what was kept in it can always be seen.
    pub session: Option<String>,
    /// The project that the conversation is about, if that is known.
    pub project: Option<String>,
    /// How far it may look.
    pub scope: Scope,
}

/// How far a viewer may look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// What was kept in its own session.
    Session,
    /// That, and what was kept in other sessions of its project.
    Project,
    /// Everything.
    #[default]
    All,
}

impl Viewer {
    /// Whether a dataset may be seen. One that names no project was kept by an older version: only
    /// those see it that see everything.
    pub fn sees(&self, metadata: &Metadata) -> bool {
        self.sees_what_is_of(metadata.principal(), metadata.session(), metadata.project())
    }

    /// The same, of whatever belongs to a principal, a session and a project.
    pub fn sees_what_is_of(
        &self,
        principal: &Principal,
        session: Option<&str>,
        project: Option<&str>,
    ) -> bool {
        let is_own = |own: &Option<String>, theirs: Option<&str>| {
            own.as_deref().is_some_and(|own| theirs == Some(own))
        };
        if self.principal != *principal {
            return false;
        }
        match self.scope {
            Scope::All => true,
            Scope::Project => is_own(&self.session, session) || is_own(&self.project, project),
            Scope::Session => is_own(&self.session, session),
        }
    }

    /// The same viewer, looking only at what was kept in its own session.
    #[must_use]
    pub fn in_session(&self) -> Self {
        Self { scope: Scope::Session, ..self.clone() }
    }

    /// [`Self::sees`] as conditions on the catalog, with their values: a dataset fits if one set of them
    /// holds.
    pub(crate) fn ways(&self) -> Vec<Vec<(&'static str, Value)>> {
        let principal = ("principal = ?", self.own_name());
        let session = vec![principal.clone(), ("session = ?", self.own_session())];
        match self.scope {
            Scope::All => vec![vec![principal]],
            Scope::Project => {
                vec![session, vec![principal, ("project = ?", self.own_project())]]
            }
            Scope::Session => vec![session],
        }
    }

    /// The principal's name in the catalog.
    pub(crate) fn own_name(&self) -> Value {
        Value::Text(self.principal.as_str().to_owned())
    }

    /// The session's name in the catalog.
    pub(crate) fn own_session(&self) -> Value {
        own(self.session.as_deref())
    }

    /// The project's name in the catalog.
    pub(crate) fn own_project(&self) -> Value {
        own(self.project.as_deref())
    }
}

/// What an older version has kept has neither, and must not be found by an empty name.
fn own(name: Option<&str>) -> Value {
    match name {
        None | Some("") => Value::Null,
        Some(name) => Value::Text(name.to_owned()),
    }
}

impl Description {
    /// Notes for whom it was kept, in which session, and for which project.
    pub fn set_origin(&mut self, viewer: &Viewer) {
        self.facts.principal.clone_from(&viewer.principal);
        self.facts.session.clone_from(&viewer.session);
        self.facts.project.clone_from(&viewer.project);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::{Description, Durability, Filter, Store};

    fn viewer(session: &str, project: &str, scope: Scope) -> Viewer {
        let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        let principal = Principal::default();
        Viewer { principal, session: named(session), project: named(project), scope }
    }

    #[test]
    fn the_catalog_lists_what_a_viewer_sees() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Durability::default()).unwrap();
        let mut kept = Vec::new();
        for (session, project) in [("1", "/a"), ("2", "/a"), ("3", "/b"), ("4", ""), ("", "")] {
            let mut capture = store.capture().unwrap();
            capture.start_part("txt").unwrap().write_all(session.as_bytes()).unwrap();
            let mut description =
                Description { tool: format!("of {session}"), ..Description::default() };
            description.set_origin(&viewer(session, project, Scope::All));
            kept.push(capture.commit(description).unwrap());
        }
        let seen = |viewer: Viewer| {
            let filter = Filter { viewer: viewer.clone(), ..Filter::default() };
            let listed = store.list(&filter).unwrap();
            let of_viewer = kept.iter().filter(|dataset| viewer.sees(dataset.metadata())).count();
            assert_eq!(listed.len(), of_viewer, "{viewer:?}");
            assert_eq!(store.count(&filter).unwrap(), of_viewer as u64);
            assert_eq!(store.origins(&viewer).unwrap().len(), of_viewer);
            of_viewer
        };
        assert_eq!(seen(Viewer::default()), 5);
        assert_eq!(seen(viewer("1", "/a", Scope::Session)), 1);
        assert_eq!(seen(viewer("1", "/a", Scope::Project)), 2);
        assert_eq!(seen(viewer("3", "/a", Scope::Project)), 3, "its own, wherever it was");
        assert_eq!(seen(viewer("4", "", Scope::Project)), 1, "no project is none to share");
        assert_eq!(seen(viewer("", "", Scope::Project)), 0);
        assert_eq!(seen(viewer("", "", Scope::Session)), 0);
    }

    #[test]
    fn nobody_sees_what_was_kept_for_another() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path(), Durability::default()).unwrap();
        let of = |name: &str| Viewer {
            principal: Principal::new(name),
            ..viewer("1", "/shared", Scope::All)
        };
        for name in ["ada", "ada", "grace"] {
            let mut capture = store.capture().unwrap();
            capture.start_part("txt").unwrap().write_all(name.as_bytes()).unwrap();
            let mut description = Description { tool: "list".into(), ..Description::default() };
            description.set_origin(&of(name));
            capture.commit(description).unwrap();
        }
        for (name, count) in [("ada", 2), ("grace", 1), ("local", 0), ("", 0)] {
            for scope in [Scope::All, Scope::Project, Scope::Session] {
                let filter = Filter { viewer: Viewer { scope, ..of(name) }, ..Filter::default() };
                let listed = store.list(&filter).unwrap();
                assert_eq!(listed.len(), count, "{name} {scope:?}");
                assert_eq!(store.count(&filter).unwrap(), count as u64, "{name} {scope:?}");
                let tool = Filter { tool: Some("list".to_owned()), ..filter };
                assert_eq!(store.count(&tool).unwrap(), count as u64, "{name} {scope:?}");
                let origins = store.origins(&tool.viewer).unwrap();
                assert_eq!(origins.len(), count.min(1), "{name} {scope:?}");
                for entry in listed {
                    let kept = store.dataset(&entry.id).unwrap();
                    assert_eq!(kept.metadata().principal().as_str(), name);
                    assert!(tool.viewer.sees(kept.metadata()), "{name} {scope:?}");
                    let other =
                        Viewer { principal: Principal::new("other"), ..tool.viewer.clone() };
                    assert!(!other.sees(kept.metadata()));
                }
            }
        }
    }
}
