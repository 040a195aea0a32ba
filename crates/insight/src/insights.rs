//! Has results read by a model, as long as there is time.
//!
//! Whoever waits for a result waits no longer than the deadline. The question itself may take longer: it is
//! asked on a thread of its own, and what comes late is kept with the dataset, where it is found later.

use std::{
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use forebay_embed::Embedder;
use forebay_intercept::{Asked, Reader, Reading};
use forebay_proxy::chain::Sampling;
use forebay_services::{Client, Url};
use forebay_store::{Dataset, DatasetId, Insight, InsightMetadata, Shelf};
use parking_lot::Mutex;

use crate::{
    breaker::{Breaker, Permit},
    cache::{Again, Cache, Kin, Rules, Sought},
    check::{Known, Lines, model_name},
    events,
    failure::Failure,
    input::{self, Prompt},
    provider::{Key, Provider, Said},
    providers::{self, Choice},
    tallies::Tallies,
};

/// A description is compared with others for this part of the time that there is, at most.
const SHARE_FOR_COMPARING: u32 = 4;
/// So many hundredths of the deadline are for waiting; in the rest what is said is written down and sent.
const SHARE_FOR_WAITING: u32 = 90;
/// Counts wait so long for others to be written with.
const MOMENT: Duration = Duration::from_millis(200);

/// What holds for reading results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// A result whose texts have more bytes than this is read.
    pub threshold_bytes: u64,
    /// How long a result may wait for what is said of it, from its arrival.
    pub deadline: Duration,
    /// How long a question may take, whether or not anybody waits for it.
    pub patience: Duration,
    /// How many tokens of a result a model is shown.
    pub input_tokens: u64,
    /// How many questions are asked at once.
    pub max_running: usize,
    /// When what was said of another result is said again.
    pub reuse: Rules,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threshold_bytes: 2_048,
            deadline: Duration::from_secs(2),
            patience: Duration::from_secs(30),
            input_tokens: 4_000,
            max_running: 4,
            reuse: Rules { similarity: 0.9, age: Duration::from_secs(3 * 60 * 60) },
        }
    }
}

/// Who is asked, and how.
pub struct Setup {
    /// Which provider.
    pub choice: Choice,
    /// Where it is; `None` is where it usually is.
    pub base: Option<Url>,
    /// Which of its models; `None` is the usual one.
    pub model: Option<String>,
    /// What lets us in.
    pub key: Option<Key>,
    /// Makes the requests.
    pub client: Client,
    /// What tells which results are nearly the same; without it none are.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// Has results read by a model.
pub struct Insights(Arc<Shared>);

struct Shared {
    provider: Box<dyn Provider>,
    settings: Settings,
    breaker: Arc<Breaker>,
    cache: Option<Cache>,
    shelf: Arc<Shelf>,
    tallies: Tallies,
    /// How many questions are open; `None` once nobody hears an answer any more.
    open: Mutex<Option<u64>>,
}

impl Insights {
    /// Has results that are kept on `shelf` read; `None` if others could read the key on its way.
    pub fn new(setup: Setup, settings: Settings, shelf: Arc<Shelf>) -> Option<Self> {
        let Setup { choice, base, model, key, client, embedder } = setup;
        let model = model.unwrap_or_else(|| choice.usual_model().to_owned());
        let provider = providers::of(choice, client, base, model, key)?;
        let tallies = Tallies::of(provider.name());
        let cache = embedder.map(|embedder| Cache::new(embedder, settings.reuse));
        let breaker = Breaker::new(settings.max_running);
        let open = Mutex::new(Some(0));
        Some(Self(Arc::new(Shared { provider, settings, breaker, cache, shelf, tallies, open })))
    }

    /// To be called last: questions that are open have come to nothing, and what has been counted is written
    /// down.
    pub fn end(&self) {
        self.0.give_up();
        self.0.tallies.write_down(&self.0.shelf);
    }
}

impl Reader for Insights {
    fn threshold_bytes(&self) -> u64 {
        self.0.settings.threshold_bytes
    }

    fn read(&self, asked: &Asked<'_>) -> Reading {
        let begun = Instant::now();
        let reading = self.0.clone().read(asked);
        let tallies = &self.0.tallies;
        tallies.waited(begun.elapsed());
        tallies.count(if reading.insight.is_some() { "given" } else { "not_given" });
        self.0.write_down_soon();
        reading
    }
}

impl Shared {
    fn read(self: Arc<Self>, asked: &Asked<'_>) -> Reading {
        let sampling = asked.caller.sampling().cloned();
        if self.provider.needs_client() && sampling.is_none() {
            self.tallies.count("not_offered");
            return Reading::nothing();
        }
        let known = Known::of(asked.dataset, asked.payload);
        let compared = self.compare(asked, &known);
        let again = compared.as_ref().and_then(|it| self.say_again(it, asked, &known));
        if let Some(reading) = again {
            return reading;
        }
        let permit = match self.breaker.admit(Instant::now()) {
            Ok(permit) => permit,
            Err(barred) => {
                events::not_asked(self.provider.name(), asked.call, barred);
                self.tallies.count(barred.kind());
                return Reading::nothing();
            }
        };
        let likeness = compared.or_else(|| self.likeness(asked));
        let prompt = input::prompt(asked, self.settings.input_tokens);
        let metadata = InsightMetadata::of(asked.dataset);
        let deadline = asked.arrived + self.settings.deadline / 100 * SHARE_FOR_WAITING;
        self.ask(Question { prompt, sampling, known, metadata, likeness, permit }, deadline)
    }

    /// What was said of a result that is nearly the same, as far as it is true of this one.
    fn say_again(
        self: &Arc<Self>,
        likeness: &Likeness,
        asked: &Asked<'_>,
        known: &Known,
    ) -> Option<Reading> {
        let (cache, vector) = (self.cache.as_ref()?, likeness.vector.as_ref()?);
        let sought = Sought { of: &likeness.of, known, viewer: asked.viewer };
        let is_kept = |id: &DatasetId| self.shelf.store().is_ok_and(|it| it.dataset(id).is_ok());
        let Again { insight: before, is_of_same } =
            cache.find(sought, vector, Instant::now(), is_kept)?;
        let lines = Lines {
            key_findings: before.key_findings,
            actionable_insights: before.actionable_insights,
        };
        let checked = if is_of_same {
            lines.without_contradictions(known)
        } else {
            lines.without_what_is_not_known(known)
        };
        let lines = self.left(checked, asked.dataset.id())?;
        self.tallies.count("reused");
        let insight = Insight {
            key_findings: lines.key_findings,
            actionable_insights: lines.actionable_insights,
            metadata: InsightMetadata::of(asked.dataset),
            model: before.model,
            reused: before.reused,
        };
        let (shared, again) = (self.clone(), insight.clone());
        let then = Box::new(move |dataset: &Dataset| {
            let dataset = dataset.clone();
            in_background("findings", move || shared.keep(&dataset, &again));
        });
        Some(Reading { insight: Some(insight), then })
    }

    /// Asks on a thread of its own, and waits until `deadline` for what is said.
    fn ask(self: Arc<Self>, question: Question, deadline: Instant) -> Reading {
        let (deliver, delivered) = mpsc::sync_channel::<Option<Insight>>(1);
        let (tell_kept, hear_kept) = mpsc::sync_channel::<Dataset>(1);
        let shared = self.clone();
        in_background("ask-model", move || {
            let id = question.metadata.artifact_id.clone();
            let (likeness, known) = (question.likeness.clone(), question.known.clone());
            let insight = shared.answer(question);
            let is_late = deliver.send(insight.clone()).is_err();
            if let Some(insight) = insight {
                if is_late {
                    events::late(shared.provider.name(), &id);
                    shared.tallies.count("late");
                }
                // Until the dataset exists, or it is clear that it never will.
                if let Ok(dataset) = hear_kept.recv() {
                    shared.remember(likeness, known, &insight);
                    shared.keep(&dataset, &insight);
                }
            }
            shared.write_down_soon();
        });
        let patience = deadline.saturating_duration_since(Instant::now());
        let insight = match delivered.recv_timeout(patience) {
            Ok(insight) => insight,
            Err(RecvTimeoutError::Timeout) => {
                self.tallies.count("timed_out");
                None
            }
            Err(RecvTimeoutError::Disconnected) => None,
        };
        // From here on what is said is late.
        drop(delivered);
        let then = Box::new(move |dataset: &Dataset| drop(tell_kept.send(dataset.clone())));
        Reading { insight, then }
    }

    /// What the provider answers to a question, if it can be used.
    fn answer(&self, question: Question) -> Option<Insight> {
        let Question { prompt, sampling, known, metadata, likeness: _, permit } = question;
        if !self.open_one() {
            return None;
        }
        let deadline = Instant::now() + self.settings.patience;
        let said = self.provider.ask(&prompt, sampling.as_ref(), deadline);
        if !self.close_one() {
            return None;
        }
        let read = said.and_then(|said| {
            self.tallies.add("input_tokens", said.input_tokens);
            self.tallies.add("output_tokens", said.output_tokens);
            Ok((Lines::read(&said.answer)?, said))
        });
        match read {
            Ok((lines, said)) => {
                permit.answered();
                self.tallies.count("answers");
                let checked = lines.without_contradictions(&known);
                let lines = self.left(checked, &metadata.artifact_id)?;
                Some(self.insight(lines, said, metadata))
            }
            Err(failure) => {
                self.failed(&metadata.artifact_id, &failure);
                None
            }
        }
    }

    /// Counts a question that is about to be asked; `false` if nobody would hear the answer.
    fn open_one(&self) -> bool {
        let mut open = self.open.lock();
        let Some(open) = open.as_mut() else { return false };
        *open += 1;
        self.tallies.count("calls");
        true
    }

    /// A question is open no more; `false` if it has been given up, and is counted.
    fn close_one(&self) -> bool {
        let mut open = self.open.lock();
        let Some(open) = open.as_mut() else { return false };
        *open -= 1;
        true
    }

    /// Counts the questions that are open as failures. What they have cost, only their answers would tell.
    fn give_up(&self) {
        let given_up = self.open.lock().take().unwrap_or_default();
        if given_up > 0 {
            events::given_up(self.provider.name(), given_up);
            self.tallies.add("failures", given_up);
            self.tallies.add("failed_given_up", given_up);
        }
    }

    fn insight(&self, lines: Lines, said: Said, metadata: InsightMetadata) -> Insight {
        let model = self.provider.model().map(str::to_owned).or(said.model);
        let model = model.map(|name| model_name(&name)).filter(|name| !name.is_empty());
        Insight {
            key_findings: lines.key_findings,
            actionable_insights: lines.actionable_insights,
            metadata,
            model: model.unwrap_or_else(|| "the client's model".to_owned()),
            reused: None,
        }
    }

    fn failed(&self, dataset: &DatasetId, failure: &Failure) {
        events::nothing_said(self.provider.name(), dataset, failure);
        self.tallies.count("failures");
        self.tallies.count(failure.kind());
    }

    /// The lines that are left, if a finding is among them. Those that were dropped are counted.
    fn left(&self, (left, dropped): (Option<Lines>, u64), dataset: &DatasetId) -> Option<Lines> {
        if dropped > 0 {
            events::dropped(self.provider.name(), dataset, dropped);
            self.tallies.add("dropped_lines", dropped);
        }
        left
    }

    /// What a result is compared with others by, and its vector if it is there in time; `None` if there is
    /// nothing that it could be compared with.
    fn compare(&self, asked: &Asked<'_>, known: &Known) -> Option<Likeness> {
        let cache = self.cache.as_ref()?;
        self.tallies.count("compared");
        let sought = Sought { of: &Kin::of(asked.dataset), known, viewer: asked.viewer };
        if !cache.may_have(sought, Instant::now()) {
            return None;
        }
        let likeness = self.likeness(asked)?;
        let deadline = Instant::now() + self.settings.deadline / SHARE_FOR_COMPARING;
        let vector = cache.vector(likeness.text.clone(), deadline);
        Some(Likeness { vector, ..likeness })
    }

    /// What later results are compared with this one by; its vector is made when nobody waits.
    fn likeness(&self, asked: &Asked<'_>) -> Option<Likeness> {
        self.cache.as_ref()?;
        let text = input::likeness(asked);
        Some(Likeness { of: Kin::of(asked.dataset), text, vector: None })
    }

    /// Remembers what was said. Nobody waits for this: a vector that was not there in time is made now.
    fn remember(&self, likeness: Option<Likeness>, known: Known, insight: &Insight) {
        let (Some(cache), Some(Likeness { of, text, vector })) = (&self.cache, likeness) else {
            return;
        };
        let now = Instant::now();
        if let Some(vector) = vector.or_else(|| cache.vector(text, now + self.settings.patience)) {
            cache.remember(of, known, vector, insight, now);
        }
    }

    /// Keeps what was said with the dataset.
    fn keep(&self, dataset: &Dataset, insight: &Insight) {
        let kept = self.shelf.store().and_then(|store| store.put_findings(dataset, insight));
        if let Err(error) = kept {
            events::not_kept(dataset.id(), &error);
        }
    }

    /// Writes down what has been counted, when the result is on its way.
    fn write_down_soon(self: &Arc<Self>) {
        let shared = self.clone();
        in_background("count-model", move || {
            thread::sleep(MOMENT);
            shared.tallies.write_down(&shared.shelf);
        });
    }
}

/// A question that may be asked.
struct Question {
    prompt: Prompt,
    sampling: Option<Sampling>,
    known: Known,
    metadata: InsightMetadata,
    likeness: Option<Likeness>,
    permit: Permit,
}

/// What a result is compared with others by.
#[derive(Clone)]
struct Likeness {
    of: Kin,
    text: String,
    /// If it was there in time.
    vector: Option<Vec<f32>>,
}

fn in_background(name: &str, work: impl FnOnce() + Send + 'static) {
    // Without a thread nothing is said.
    let _ = thread::Builder::new().name(name.to_owned()).spawn(work);
}

#[cfg(test)]
mod tests;
