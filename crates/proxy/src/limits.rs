//! How much, how many and how long: what bounds one client, or all of them together, in one place.
//!
//! A hook's deadline is a setting ([`crate::chain::Deadlines`]), as is how many sessions there may be. Lengths
//! that only make something quick stand where they are used.

use std::time::Duration;

// What is in the chain at once.

/// Hooks of one interceptor that may run at once, those that are late included.
pub(crate) const HOOKS_OF_AN_INTERCEPTOR: usize = 32;
/// Calls of a client on stdio that may be in the chain; further ones are turned away.
pub(crate) const CALLS_ON_STDIO: usize = 32;
/// Results of such a client that may be in the chain, and answers that may wait for it to read.
pub(crate) const COURIERS: usize = 16;
/// Calls, or answers, of all clients over HTTP that may be in the chain; the others wait, and none
/// takes all. An interceptor takes as many of both together before it calls itself busy.
pub(crate) const TURNS: usize = 16;
/// Results of one child that may be in the chain.
pub(crate) const RESULTS_OF_A_CHILD: usize = 16;

// What a client may send.

/// A message of a client's over HTTP may be this long.
pub(crate) const CLIENT_MESSAGE_BYTES: u64 = 64 * 1024 * 1024;
/// The head of a request may be this long.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;
/// How long a client may take to send a head, and between pieces of a body.
pub(crate) const CLIENT_PATIENCE: Duration = Duration::from_secs(30);
/// An id that a client names may be this long. Servers make far shorter ones.
pub(crate) const SESSION_ID_BYTES: usize = 1024;

// What waits for somebody to read it.

/// Messages that may wait for a child to read them.
pub(crate) const MESSAGES_TO_A_CHILD: usize = 64;
/// Messages of a group's upstreams that may wait for the client to read them.
pub(crate) const MESSAGES_OF_A_GROUP: usize = 64;
/// Lines of an upstream that groups share which may wait for one of them; beyond that it gets answers alone.
pub(crate) const LINES_OF_A_SHARED_UPSTREAM: usize = 1_024;
/// Changes of a group's settings that it may take notice of later.
pub(crate) const CHANGES_OF_A_GROUP: usize = 16;
/// Pieces of events that may wait for the client to read them.
pub(crate) const PIECES_OF_EVENTS: usize = 16;
/// Lines of progress that may wait for the client to read them.
pub(crate) const LINES_OF_PROGRESS: usize = 16;
/// What the shared child has said and a client has not read; what is said besides answers is dropped
/// beyond that.
pub(crate) const BYTES_FROM_THE_SHARED_CHILD: u64 = 8 * 1024 * 1024;
/// What may wait for a client of a session that is there, before whoever sends has to.
pub(crate) const WAITING_BYTES: u64 = 4 * 1024 * 1024;
/// The same in events.
pub(crate) const WAITING_EVENTS: usize = 256;

// What is remembered.

/// Tasks whose result may still come, at most; the oldest ones are forgotten first.
pub(crate) const TASKS: usize = 1_000;
/// Cancelled requests that the shared child may still log for, at most; from then on there is no telling
/// them apart.
pub(crate) const CANCELLED_REQUESTS: usize = 1_000;
/// Calls of hooks that an upstream may still answer, at most, those that were cancelled included.
pub(crate) const INNER_CALLS: usize = 10_000;
/// Tools whose arguments in headers are known, at most.
pub(crate) const TOOLS_WITH_HEADERS: usize = 10_000;
/// What may be kept of a session's streams, at most, for clients that come back.
pub(crate) const KEPT_BYTES: u64 = 8 * 1024 * 1024;
/// The same in events.
pub(crate) const KEPT_EVENTS: usize = 1_024;
/// Sessions of a remote upstream's that are noted, at most. That one is forgotten costs nobody the
/// session: what was called in it before is not known any more.
pub(crate) const NOTED_SESSIONS: usize = 10_000;
/// Replacements that are kept in such a session, at most; a client resumes soon or never.
pub(crate) const REPLACEMENTS: usize = 32;
/// What is said in place of an event is remembered up to this length; a summary is far shorter.
pub(crate) const REPLACEMENT_BYTES: u64 = 64 * 1024;

// How long somebody is waited for.

/// How long what follows waits for a session with a remote upstream to be opened.
pub(crate) const OPENING: Duration = Duration::from_secs(60);
/// How long what follows waits for a message that is not answered to be accepted there.
pub(crate) const ACCEPTANCE: Duration = Duration::from_secs(10);
/// How long saying goodbye there may take.
pub(crate) const FAREWELL: Duration = Duration::from_secs(2);
/// How long it may take to connect.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
/// How long to wait for the chain when a side of stdio closes; every hook has a deadline below this.
pub(crate) const CHAIN_ENDS: Duration = Duration::from_secs(600);
