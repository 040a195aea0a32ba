//! One upstream of a group, as the switchboard knows it.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::lists::{Item, Kind, List};
use crate::{protocol::Era, router::UpstreamName};

/// What holds for an upstream of a group.
#[derive(Clone)]
pub struct MemberSettings {
    /// Its name.
    pub name: UpstreamName,
    /// It is started when it is first needed, if its lists are known from before.
    pub is_lazy: bool,
    /// A call that nothing has been heard of for this long is given up.
    pub call_timeout: Duration,
    /// It may take this long until it can be asked something.
    pub start_timeout: Duration,
    /// Which of its tools are offered, by the names that they have there.
    pub offers: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

/// What becomes of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody has needed it yet.
    Idle,
    /// It is being started.
    Starting,
    /// It can be asked.
    Open,
    /// It has ended, or could not be started.
    Down,
}

impl State {
    /// All of them, in words.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Idle, "not started"),
        (Self::Starting, "starting"),
        (Self::Open, "open"),
        (Self::Down, "down"),
    ];

    /// It in words.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// An upstream as it stands, for people to look at.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Its name.
    pub name: UpstreamName,
    /// What has become of it.
    pub state: State,
    /// The revision of the protocol that is spoken with it, once it can be asked.
    pub revision: Option<String>,
    /// How many tools of it are offered, once that is known.
    pub tools: Option<usize>,
    /// Why it has ended last, or could not be started.
    pub last_error: Option<String>,
}

/// How the error begins of one that took too long.
pub(super) const LATE: &str = "did not open within";

impl Standing {
    /// True if it was given up because it took too long to open.
    pub fn is_late(&self) -> bool {
        self.last_error.as_deref().is_some_and(|why| why.starts_with(LATE))
    }
}

/// A tool of an upstream's, as clients are offered it.
#[derive(Debug, Clone)]
pub struct OfferedTool {
    /// What clients call it.
    pub name: String,
    /// The upstream that has it.
    pub server: UpstreamName,
    /// What it is called there.
    pub own: Arc<str>,
    /// How it is listed: JSON.
    pub definition: Vec<u8>,
}

/// After how many failures in a row an upstream is started only when it is needed.
const ATTEMPTS: u32 = 5;
/// An upstream that has been open for this long has not failed to start.
const SOUND: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(super) struct Member {
    pub(super) settings: MemberSettings,
    /// It is not one of the group any more. Its place stays, so that all others keep theirs.
    pub(super) is_removed: bool,
    pub(super) state: State,
    /// How often it has been started. What one process says last is not taken for the next one's.
    pub(super) run: u64,
    pub(super) era: Era,
    pub(super) revision: Option<String>,
    pub(super) capabilities: Value,
    pub(super) info: Value,
    pub(super) instructions: Option<String>,
    /// Requests that wait until it can be asked, by their aliases.
    pub(super) waiting: Vec<u64>,
    /// Our subscription to what changes there, in the modern era.
    pub(super) listening: Option<u64>,
    /// How often in a row that has ended before it was acknowledged.
    pub(super) unheard: u32,
    /// The resources whose changes somebody wants to hear of.
    pub(super) watched: BTreeSet<String>,
    pub(super) last_error: Option<String>,
    /// What it has answered to the modern opening after it was asked for the legacy one, too: it holds if that
    /// is refused.
    pub(super) discovered: Option<Value>,
    lists: [List; 4],
    /// The pages that have come of a list that is being read, and whether it has changed meanwhile.
    reading: [Option<(Vec<Item>, bool)>; 4],
    /// The upstream says that it has another list.
    is_announced: [bool; 4],
    /// Why it has not opened as legacy servers do, while it may yet open as modern ones.
    pub(super) refusal: Option<String>,
    /// When it is given up, if it is being started.
    pub(super) opens_by: Option<Instant>,
    opened: Option<Instant>,
    failures: u32,
    /// Not to be started before this.
    pub(super) down_until: Option<Instant>,
}

/// What follows from a page of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// The next page is to be asked for.
    More,
    /// The list is whole; it is what it was.
    Same,
    /// The list is whole, and new, or said to be.
    New,
    /// It has changed while it was read.
    Again,
}

impl Member {
    pub(super) fn new(settings: MemberSettings) -> Self {
        Self {
            settings,
            is_removed: false,
            state: State::Idle,
            run: 0,
            era: Era::Unknown,
            revision: None,
            capabilities: Value::Null,
            info: Value::Null,
            instructions: None,
            waiting: Vec::new(),
            listening: None,
            unheard: 0,
            watched: BTreeSet::new(),
            last_error: None,
            discovered: None,
            lists: [const { None }; 4],
            reading: [const { None }; 4],
            is_announced: [false; 4],
            refusal: None,
            opens_by: None,
            opened: None,
            failures: 0,
            down_until: None,
        }
    }

    pub(super) fn has(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|it| !it.is_null())
    }

    pub(super) fn list(&self, kind: Kind) -> Option<&[Item]> {
        self.lists[kind as usize].as_deref()
    }

    pub(super) fn item(&self, kind: Kind, own: &str) -> Option<&Item> {
        self.list(kind)?.iter().find(|item| &*item.own == own)
    }

    /// A list that is known from before.
    pub(super) fn remember(&mut self, kind: Kind, items: Vec<Item>) {
        self.lists[kind as usize] = Some(self.offered(kind, items));
    }

    /// True if the list of this kind will not be another soon.
    pub(super) fn is_settled(&self, kind: Option<Kind>) -> bool {
        if self.is_removed {
            return true;
        }
        match (self.state, kind) {
            (State::Down, _) => true,
            (State::Idle, kind) => kind.is_none_or(|kind| self.list(kind).is_some()),
            (State::Starting, kind) => kind.is_some_and(|kind| self.list(kind).is_some()),
            (State::Open, None) => true,
            (State::Open, Some(kind)) => self.list(kind).is_some() || !self.has(kind.capability()),
        }
    }

    /// Begins to read a list; `false` if that is under way, and is to be done again.
    pub(super) fn begins_to_read(&mut self, kind: Kind) -> bool {
        match &mut self.reading[kind as usize] {
            Some((_, is_stale)) => {
                *is_stale = true;
                false
            }
            nothing => {
                *nothing = Some((Vec::new(), false));
                true
            }
        }
    }

    /// The upstream says that this list is another, whatever is found in it.
    pub(super) fn announces(&mut self, kind: Kind) {
        self.is_announced[kind as usize] = true;
    }

    /// Takes a page of a list.
    pub(super) fn has_read(&mut self, kind: Kind, items: Vec<Item>, is_last: bool) -> Read {
        let offered = self.offered(kind, items);
        let Some((read, _)) = &mut self.reading[kind as usize] else { return Read::Same };
        read.extend(offered);
        if !is_last {
            return Read::More;
        }
        let Some((read, is_stale)) = self.reading[kind as usize].take() else { return Read::Same };
        if is_stale {
            return Read::Again;
        }
        let is_announced = std::mem::take(&mut self.is_announced[kind as usize]);
        let is_new = self.lists[kind as usize].as_ref() != Some(&read);
        self.lists[kind as usize] = Some(read);
        if is_new || is_announced { Read::New } else { Read::Same }
    }

    /// A list cannot be read, and is what it was if it is known.
    pub(super) fn cannot_read(&mut self, kind: Kind) {
        self.reading[kind as usize] = None;
        self.lists[kind as usize].get_or_insert_default();
    }

    fn offered(&self, kind: Kind, mut items: Vec<Item>) -> Vec<Item> {
        if kind == Kind::Tools {
            items.retain(|item| (self.settings.offers)(&item.own));
        }
        items
    }

    /// It can be asked from now on.
    pub(super) fn has_opened(&mut self, era: Era, revision: &str, told: &Value, now: Instant) {
        self.state = State::Open;
        self.era = era;
        self.revision = Some(revision.to_owned());
        self.capabilities = told["capabilities"].clone();
        let info = match era {
            Era::Modern => &told["_meta"]["io.modelcontextprotocol/serverInfo"],
            Era::Unknown | Era::Legacy => &told["serverInfo"],
        };
        self.info = info.clone();
        self.instructions = told["instructions"].as_str().map(str::to_owned);
        self.opened = Some(now);
        self.last_error = None;
    }

    /// It has ended, or could not be started. Says when to try again by itself, if it is to be.
    pub(super) fn has_ended(&mut self, how: &str, now: Instant) -> Option<Instant> {
        let was_sound = self.opened.take().is_some_and(|opened| now - opened >= SOUND);
        self.failures = if was_sound { 1 } else { self.failures + 1 };
        self.state = State::Down;
        self.discovered = None;
        self.listening = None;
        self.unheard = 0;
        self.reading = [const { None }; 4];
        self.last_error = Some(how.to_owned());
        let doublings = self.failures.saturating_sub(1).min(10);
        let pause = (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE);
        self.down_until = Some(now + pause);
        let is_given_up = self.failures >= ATTEMPTS;
        if is_given_up {
            self.lists = [const { None }; 4];
        }
        (!is_given_up && !self.settings.is_lazy).then_some(now + pause)
    }

    /// It is started anew, and has not failed.
    pub(super) fn is_restarted(&mut self) {
        self.failures = 0;
        self.down_until = None;
    }

    /// It is not one of the group any more.
    pub(super) fn is_taken_out(&mut self) {
        self.is_removed = true;
        self.lists = [const { None }; 4];
        self.capabilities = Value::Null;
        self.instructions = None;
    }

    pub(super) fn standing(&self) -> Standing {
        Standing {
            name: self.settings.name.clone(),
            state: self.state,
            revision: self.revision.clone().filter(|_| self.state == State::Open),
            tools: self.list(Kind::Tools).map(<[Item]>::len),
            last_error: self.last_error.clone(),
        }
    }
}
