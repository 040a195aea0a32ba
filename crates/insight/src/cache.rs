//! What was said of a result that is nearly the same as a new one, so that a model need not be asked again.
//!
//! Nearly the same are two results of one tool, kept for the same principal and project, whose descriptions
//! lie near each other, and of which the same is known: a vector hardly tells `passed` from `failed`.
//! Whoever has the second must be allowed to see the first, and that must still be kept. What was said of the
//! first is held against the facts of the second before it is used, and says where it comes from. In memory,
//! for as long as the process runs.

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use forebay_embed::Embedder;
use forebay_store::{Dataset, DatasetId, Insight, Principal, Reused, Viewer};
use parking_lot::Mutex;

use crate::check::Known;

/// So many are remembered; the oldest go first.
const MAX_ENTRIES: usize = 512;

/// What was said lately, by what it was said of.
pub(crate) struct Cache {
    embedder: Arc<dyn Embedder>,
    rules: Rules,
    entries: Mutex<VecDeque<Entry>>,
}

/// When two results are the same, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// The cosine of the angle between them is more than this.
    pub similarity: f32,
    /// No more time lies between them.
    pub age: Duration,
}

struct Entry {
    of: Kin,
    known: Known,
    vector: Vec<f32>,
    insight: Insight,
    said: Instant,
}

/// Between which results something may be said again: whose they are.
#[derive(Debug, Clone)]
pub(crate) struct Kin {
    server: String,
    tool: String,
    principal: Principal,
    project: Option<String>,
    session: Option<String>,
}

/// A result of which something may have been said already.
#[derive(Clone, Copy)]
pub(crate) struct Sought<'s> {
    pub(crate) of: &'s Kin,
    pub(crate) known: &'s Known,
    /// Whoever has it.
    pub(crate) viewer: &'s Viewer,
}

/// What was said of a result, to be said of another.
#[derive(Debug)]
pub(crate) struct Again {
    pub(crate) insight: Insight,
    /// Both hold the same, byte for byte.
    pub(crate) is_of_same: bool,
}

impl Kin {
    pub(crate) fn of(dataset: &Dataset) -> Self {
        let metadata = dataset.metadata();
        Self {
            server: metadata.description.server.clone(),
            tool: metadata.description.tool.clone(),
            principal: metadata.principal().clone(),
            project: metadata.project().map(str::to_owned),
            session: metadata.session().map(str::to_owned),
        }
    }
}

impl Sought<'_> {
    /// True if what was said of another result may be said of this one, too, if they are near each other.
    fn is_kin_of(&self, other: &Entry) -> bool {
        let Kin { server, tool, principal, project, session } = &other.of;
        let of = self.of;
        (&of.server, &of.tool, &of.principal, &of.project) == (server, tool, principal, project)
            && self.viewer.sees_what_is_of(principal, session.as_deref(), project.as_deref())
            && other.known.is_alike(self.known)
    }
}

impl Cache {
    pub(crate) fn new(embedder: Arc<dyn Embedder>, rules: Rules) -> Self {
        Self { embedder, rules, entries: Mutex::default() }
    }

    /// The vector of a description, if it can be had by then.
    pub(crate) fn vector(&self, likeness: String, deadline: Instant) -> Option<Vec<f32>> {
        let (deliver, delivered) = mpsc::sync_channel(1);
        let embedder = self.embedder.clone();
        // What makes vectors may have to be started, and that may take longer than there is time.
        let thread = thread::Builder::new().name("likeness".to_owned()).spawn(move || {
            let _ = deliver.send(embedder.embed(&[&likeness]));
        });
        thread.ok()?;
        let patience = deadline.saturating_duration_since(Instant::now());
        delivered.recv_timeout(patience).ok()?.ok()?.pop()
    }

    /// True if something was said of a result that this one may be nearly the same as.
    pub(crate) fn may_have(&self, sought: Sought<'_>, now: Instant) -> bool {
        let is_recent = |entry: &Entry| now.saturating_duration_since(entry.said) <= self.rules.age;
        let entries = self.entries.lock();
        entries.iter().any(|entry| is_recent(entry) && sought.is_kin_of(entry))
    }

    /// What was said of the nearest result that is kept, if it is near enough. What was said of results that
    /// are kept no more is forgotten.
    pub(crate) fn find(
        &self,
        sought: Sought<'_>,
        vector: &[f32],
        now: Instant,
        is_kept: impl Fn(&DatasetId) -> bool,
    ) -> Option<Again> {
        let mut entries = self.entries.lock();
        entries.retain(|entry| now.saturating_duration_since(entry.said) <= self.rules.age);
        loop {
            let kin = entries.iter().enumerate().filter(|(_, entry)| sought.is_kin_of(entry));
            let near = kin.map(|(place, entry)| (cosine(&entry.vector, vector), place));
            let nearest = near.max_by(|(one, _), (other, _)| one.total_cmp(other));
            let (similarity, place) = nearest.filter(|(it, _)| *it > self.rules.similarity)?;
            let Entry { insight, said, known, .. } = entries.get(place)?;
            let from = insight.metadata.artifact_id.clone();
            if !is_kept(&from) {
                entries.remove(place);
                continue;
            }
            let age_seconds = now.saturating_duration_since(*said).as_secs();
            // No more digits than tell something.
            let similarity = (similarity * 1_000.0).round() / 1_000.0;
            let reused = Some(Reused { from, similarity, age_seconds });
            let is_of_same = known.is_same(sought.known);
            return Some(Again { insight: Insight { reused, ..insight.clone() }, is_of_same });
        }
    }

    /// Remembers what was said of a result.
    pub(crate) fn remember(
        &self,
        of: Kin,
        known: Known,
        vector: Vec<f32>,
        insight: &Insight,
        now: Instant,
    ) {
        let mut entries = self.entries.lock();
        if entries.len() == MAX_ENTRIES {
            entries.pop_front();
        }
        entries.push_back(Entry { of, known, vector, insight: insight.clone(), said: now });
    }
}

/// The cosine of the angle between two vectors of length one, about: it is never more than one.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>().clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use forebay_embed::EmbedError;
    use forebay_store::{InsightMetadata, Scope};

    use super::*;

    struct Nobody;

    impl Embedder for Nobody {
        fn model(&self) -> &'static str {
            "nobody"
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
        }
    }

    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn cache() -> Cache {
        Cache::new(Arc::new(Nobody), Rules { similarity: 0.9, age: 3 * HOUR })
    }

    /// The results of a tool in a session of a principal, and who has them.
    fn kin(tool: &str, principal: &str, session: &str, scope: Scope) -> (Kin, Viewer) {
        let (principal, session) = (Principal::new(principal), Some(session.to_owned()));
        let project = Some("/work".to_owned());
        let viewer = Viewer {
            principal: principal.clone(),
            session: session.clone(),
            project: project.clone(),
            scope,
        };
        let (server, tool) = ("shop".to_owned(), tool.to_owned());
        (Kin { server, tool, principal, project, session }, viewer)
    }

    /// What is found for such a result.
    fn found(
        cache: &Cache,
        (of, viewer): &(Kin, Viewer),
        vector: &[f32],
        now: Instant,
    ) -> Option<Insight> {
        let sought = Sought { of, known: &Known::default(), viewer };
        cache.find(sought, vector, now, |_| true).map(|again| again.insight)
    }

    fn said() -> Insight {
        Insight {
            key_findings: vec!["Something".to_owned()],
            actionable_insights: Vec::new(),
            metadata: InsightMetadata {
                tool_name: "list".to_owned(),
                server_id: "shop".to_owned(),
                timestamp: "2026-11-18T10:00:00Z".parse().unwrap(),
                artifact_id: DatasetId::parse("dataset_k3v9x2ma").unwrap(),
            },
            model: "a-model".to_owned(),
            reused: None,
        }
    }

    #[test]
    fn what_was_said_of_a_near_result_is_said_again_with_where_it_comes_from() {
        let (cache, now) = (cache(), Instant::now());
        let of = kin("list", "local", "a", Scope::Project);
        assert_eq!(found(&cache, &of, &[1.0, 0.0], now), None);
        cache.remember(of.0.clone(), Known::default(), vec![1.0, 0.0], &said(), now);
        let again = found(&cache, &of, &[0.95, 0.312], now + HOUR).unwrap();
        let reused = again.reused.unwrap();
        assert_eq!((reused.from.as_str(), reused.age_seconds), ("dataset_k3v9x2ma", 3_600));
        assert!((reused.similarity - 0.95).abs() < 1e-6);
        let same = found(&cache, &of, &[1.000_000_3, 0.0], now).unwrap();
        assert!((same.reused.unwrap().similarity - 1.0).abs() < f32::EPSILON, "no more than one");
        assert_eq!(found(&cache, &of, &[0.89, 0.456], now), None, "that is not near enough");
        assert_eq!(found(&cache, &of, &[1.0], now), None, "of another model");
        for (tool, principal) in [("other", "local"), ("list", "someone")] {
            let other = kin(tool, principal, "a", Scope::All);
            assert_eq!(found(&cache, &other, &[1.0, 0.0], now), None, "{tool} of {principal}");
        }
        assert_eq!(found(&cache, &of, &[1.0, 0.0], now + 4 * HOUR), None, "that is too old");
        assert_eq!(cache.entries.lock().len(), 0);
    }

    #[test]
    fn a_session_hears_of_another_as_far_as_its_scope_reaches() {
        let (cache, now) = (cache(), Instant::now());
        let (of, _) = kin("list", "local", "a", Scope::Session);
        cache.remember(of, Known::default(), vec![1.0, 0.0], &said(), now);
        for (session, scope, is_told) in [
            ("a", Scope::Session, true),
            ("b", Scope::Session, false),
            ("b", Scope::Project, true),
            ("b", Scope::All, true),
        ] {
            let sought = kin("list", "local", session, scope);
            let (of, viewer) = &sought;
            let may_have = cache.may_have(Sought { of, known: &Known::default(), viewer }, now);
            let again = found(&cache, &sought, &[1.0, 0.0], now);
            assert_eq!((may_have, again.is_some()), (is_told, is_told), "{session} {scope:?}");
        }
    }

    #[test]
    fn what_was_said_of_a_result_that_is_kept_no_more_is_forgotten() {
        let (cache, now) = (cache(), Instant::now());
        let (of, viewer) = &kin("list", "local", "a", Scope::Session);
        let remember = |id: &str, vector: &[f32]| {
            let mut said = said();
            said.metadata.artifact_id = DatasetId::parse(id).unwrap();
            cache.remember(of.clone(), Known::default(), vector.to_vec(), &said, now);
        };
        remember("dataset_k3v9x2ma", &[1.0, 0.0]);
        remember("dataset_22222222", &[0.95, 0.312]);
        let sought = Sought { of, known: &Known::default(), viewer };
        let find = |gone: &str| {
            let found = cache.find(sought, &[1.0, 0.0], now, |id| id.as_str() != gone);
            found.map(|it| it.insight.reused.unwrap().from.to_string())
        };
        assert_eq!(find("").as_deref(), Some("dataset_k3v9x2ma"));
        assert_eq!(find("dataset_k3v9x2ma").as_deref(), Some("dataset_22222222"));
        assert_eq!(cache.entries.lock().len(), 1);
        assert_eq!(find("dataset_22222222"), None);
        assert_eq!(cache.entries.lock().len(), 0);
    }

    #[test]
    fn only_so_much_is_remembered_and_a_vector_is_there_in_time_or_not() {
        let (cache, now) = (cache(), Instant::now());
        for _ in 0..MAX_ENTRIES + 3 {
            let (of, _) = kin("list", "local", "a", Scope::Project);
            cache.remember(of, Known::default(), vec![1.0, 0.0], &said(), now);
        }
        assert_eq!(cache.entries.lock().len(), MAX_ENTRIES);
        let soon = now + Duration::from_secs(60);
        assert_eq!(cache.vector("a".to_owned(), soon), Some(vec![1.0, 0.0]));
    }
}
