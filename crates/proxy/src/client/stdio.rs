//! A client on our standard input and output, an upstream as a child process or by URL.
//!
//! Each direction is one thread that reads, decides and writes ([`pump`]): a small message costs
//! what it costs to pass through a pipe. The main thread waits for the first thing to end, and
//! [`supervise`] says what follows from it, so that the upstream always ends too.

mod couriers;
mod pump;
mod supervise;

use std::{
    io::{self, IsTerminal},
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use forebay_system::signals::{self, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, Signals};

use self::{
    couriers::{Couriers, Crew},
    pump::Pump,
    supervise::{Action, Event, Standing, Supervisor},
};
use crate::{
    ProxyError,
    body::Spool,
    chain::Chain,
    pipe::{Inlet, Outlet},
    relay::Relay,
    router::{Router, UpstreamName},
    upstream::{
        Upstream,
        piped::{self, Running, Started},
    },
};

/// How a stdio session is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long the upstream may take to end by itself, and again after SIGTERM.
    pub grace: Duration,
    /// Where long lines are kept.
    pub spool: Spool,
}

/// How a session ended.
#[derive(Debug)]
pub enum Ended {
    /// The upstream ended in this way.
    Upstream(ExitStatus),
    /// The upstream had to be left behind: not even SIGKILL ended it in time.
    LeftBehind,
    /// The upstream could not be started; the client has been told.
    NotStarted(ProxyError),
}

/// How long a client that has not asked anything yet may take to do so after the upstream has
/// ended, in order to be told why.
const FIRST_REQUEST: Duration = Duration::from_secs(2);
/// How long last words may take if we have been told to end.
const BRIEF: Duration = Duration::from_millis(500);
/// How long the client's side must be quiet before we believe that it has nothing more to ask.
const QUIET: Duration = Duration::from_millis(5);

/// Runs a session to its end.
///
/// Must be called on the process's main thread: the kernel ends the child when the thread that
/// started it ends.
pub fn wrap(upstream: Upstream, relay: Relay, settings: &Settings) -> Result<Ended, ProxyError> {
    // Before the child exists, so that no signal finds us unprepared.
    let signals = Signals::new(signals_to_pass_on()).map_err(ProxyError::Setup)?;
    let client_input = Inlet::stdin().map_err(ProxyError::Setup)?;
    let (events, inbox) = mpsc::sync_channel(64);
    let pump = Pump {
        relay: Arc::new(relay),
        client: Arc::new(Outlet::stdout().map_err(ProxyError::Setup)?),
        upstream: Arc::new(Outlet::closed()),
        crew: Arc::default(),
        spool: settings.spool.clone(),
        events: events.clone(),
        is_delivering: Arc::default(),
    };
    watch_signals(signals, events).map_err(ProxyError::Setup)?;
    let Settings { grace, spool } = settings;
    match piped::start(upstream, pump.relay.upstream(), *grace, spool.clone()) {
        Ok(started) => {
            let session = Wrapped::begin(pump, client_input, started).map_err(ProxyError::Setup)?;
            Ok(session.run(&inbox, settings.grace))
        }
        Err(error) => {
            // A person at a terminal reads the error on stderr; a client asks and gets an answer.
            if !io::stdin().is_terminal() {
                let why = error.to_string();
                tell_client(why, pump, client_input, &inbox).map_err(ProxyError::Setup)?;
            }
            Ok(Ended::NotStarted(error))
        }
    }
}

/// Answers every request with `why`, because there can be no session, until the client closes or we
/// are told to end.
pub fn refuse(why: String) -> Result<(), ProxyError> {
    /// Who asks for more than this has not begun with a handshake.
    const MAX_LINE_BYTES: usize = 1024 * 1024;
    let signals = Signals::new(signals_to_pass_on()).map_err(ProxyError::Setup)?;
    let client_input = Inlet::stdin().map_err(ProxyError::Setup)?;
    let (events, inbox) = mpsc::sync_channel(64);
    let nobody = Router::sole(UpstreamName::new("none"));
    let pump = Pump {
        relay: Arc::new(Relay::new(nobody, Chain::default(), None)),
        client: Arc::new(Outlet::stdout().map_err(ProxyError::Setup)?),
        upstream: Arc::new(Outlet::closed()),
        crew: Arc::default(),
        spool: Spool::of_memory(MAX_LINE_BYTES),
        events: events.clone(),
        is_delivering: Arc::default(),
    };
    watch_signals(signals, events).map_err(ProxyError::Setup)?;
    tell_client(why, pump, client_input, &inbox).map_err(ProxyError::Setup)
}

fn tell_client(
    why: String,
    pump: Pump,
    client_input: Inlet,
    inbox: &mpsc::Receiver<Event>,
) -> io::Result<()> {
    pump.relay.session().refuse(why);
    let (client, crew) = (pump.client.clone(), pump.crew.clone());
    spawn("to-nobody", move || pump.run_from_client(client_input))?;
    let last = loop {
        match inbox.recv() {
            Ok(Event::ClientClosed) | Err(_) => break LastWords::AsLongAsItTakes,
            Ok(Event::Signal(_)) => break LastWords::Brief,
            Ok(_) => {}
        }
    };
    wait_for_last_words(&client, || crew.is_idle(), last, inbox);
    Ok(())
}

/// How long a client may take to read what is still to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastWords {
    /// It is there, and how fast it reads is its own affair.
    AsLongAsItTakes,
    /// We have been told to end.
    Brief,
}

/// Waits until all has been said, nobody reads any more, or we are told to end.
fn wait_for_last_words(
    client: &Outlet,
    is_all_said: impl Fn() -> bool,
    last: LastWords,
    inbox: &mpsc::Receiver<Event>,
) {
    let brief = || Some(Instant::now() + BRIEF);
    let mut deadline = match last {
        LastWords::AsLongAsItTakes => None,
        LastWords::Brief => brief(),
    };
    while !is_all_said()
        && client.has_reader()
        && deadline.is_none_or(|deadline| Instant::now() < deadline)
    {
        match inbox.recv_timeout(Duration::from_millis(5)) {
            Ok(Event::Signal(_)) if deadline.is_none() => deadline = brief(),
            _ => {}
        }
    }
}

/// A session that is under way.
struct Wrapped {
    relay: Arc<Relay>,
    running: Running,
    upstream: Arc<Outlet>,
    client: Arc<Outlet>,
    client_input: Inlet,
    crew: Arc<Crew>,
    is_delivering: Arc<AtomicBool>,
    /// For our last words, which must not wait for a courier.
    farewell: Arc<Couriers>,
}

impl Wrapped {
    fn begin(mut pump: Pump, client_input: Inlet, started: Started) -> io::Result<Self> {
        pump.upstream = Arc::new(Outlet::new(started.input));
        let session = Self {
            relay: pump.relay.clone(),
            running: started.running,
            upstream: pump.upstream.clone(),
            client: pump.client.clone(),
            client_input: client_input.try_clone()?,
            crew: pump.crew.clone(),
            is_delivering: pump.is_delivering.clone(),
            farewell: Arc::default(),
        };
        let (back, output, events) = (pump.clone(), started.output, pump.events.clone());
        spawn("to-upstream", move || pump.run_from_client(client_input))?;
        spawn("to-client", move || back.run_from_upstream(output))?;
        let (hang_up, hang_ups) = (session.client_input.try_clone()?, events.clone());
        let (reader, relay) = (session.client.reader()?, session.relay.clone());
        spawn("hang-up", move || {
            hang_up.wait_for_hang_up();
            let _ = hang_ups.send(Event::ClientHungUp);
            // It may still read; once it does not, nobody waits for what is in the chain.
            reader.wait_until_gone();
            relay.client_is_gone();
            let _ = hang_ups.send(Event::ClientGone);
        })?;
        let exit = session.running.exit();
        spawn("exit", move || {
            if let Some(status) = exit.wait() {
                let _ = events.send(Event::Exited(status));
            }
        })?;
        Ok(session)
    }

    /// Does what the supervisor says until it is over.
    fn run(&self, inbox: &mpsc::Receiver<Event>, grace: Duration) -> Ended {
        let mut supervisor = Supervisor::new(grace);
        // A person at a terminal is not about to send a request.
        let mut may_ask = !io::stdin().is_terminal();
        loop {
            let event = match supervisor.wakes_at() {
                None => inbox.recv().unwrap_or(Event::Tick),
                Some(at) => inbox
                    .recv_timeout(at.saturating_duration_since(Instant::now()))
                    .unwrap_or(Event::Tick),
            };
            may_ask &= event != Event::ClientClosed;
            if event == Event::ClientGone {
                self.relay.client_is_gone();
            }
            for action in supervisor.on(event, self.standing(), Instant::now()) {
                match action {
                    Action::CloseInput => self.upstream.close_unless_busy(),
                    Action::Signal(signal, why) => {
                        self.running.signal(signal, self.relay.upstream(), why);
                    }
                    Action::Abandon(how) => self.abandon(self.running.ending(&how)),
                    Action::Finish(ended) => {
                        let mut last = LastWords::AsLongAsItTakes;
                        if supervisor.was_told_to_end() {
                            last = LastWords::Brief;
                        } else if may_ask {
                            last = self.answer_late_requests(inbox);
                        }
                        let is_all_said = || self.crew.is_idle() && self.farewell.is_idle();
                        wait_for_last_words(&self.client, is_all_said, last, inbox);
                        // Whether it is or not, nothing more can reach it.
                        self.relay.client_is_gone();
                        self.running.release();
                        return ended.map_or(Ended::LeftBehind, Ended::Upstream);
                    }
                }
            }
        }
    }

    fn standing(&self) -> Standing {
        let is_awaited = self.relay.session().pending().is_awaited() && self.client.has_reader();
        Standing {
            lines_sent: self.client.lines_sent(),
            is_awaited,
            is_backed_up: self.client.is_backed_up() || self.is_delivering.load(Ordering::Relaxed),
            is_consulting: self.relay.is_consulting(),
        }
    }

    /// Answers what the upstream left unanswered. A client that does not read is not waited for.
    fn abandon(&self, how: &str) {
        let lines = self.relay.abandon(how);
        if !lines.is_empty() {
            // Whatever holds the upstream's output open, it will not end its line.
            self.client.cut_off();
            let client = self.client.clone();
            self.farewell.send(move || drop(client.say(&lines)));
        }
    }

    /// Waits until requests that are in the pipe already, or a first one that is about to come,
    /// have been answered too; the pump does so.
    fn answer_late_requests(&self, inbox: &mpsc::Receiver<Event>) -> LastWords {
        let started = Instant::now();
        let mut quiet_since = started;
        while started.elapsed() < 2 * FIRST_REQUEST {
            if self.client_input.is_readable() {
                quiet_since = Instant::now();
            }
            let was_asked = self.relay.session().has_been_asked();
            if quiet_since.elapsed() >= if was_asked { QUIET } else { FIRST_REQUEST } {
                break;
            }
            match inbox.recv_timeout(Duration::from_millis(1)) {
                Ok(Event::ClientClosed) => break,
                Ok(Event::Signal(_)) => return LastWords::Brief,
                _ => {}
            }
        }
        LastWords::AsLongAsItTakes
    }
}

fn watch_signals(mut signals: Signals, events: mpsc::SyncSender<Event>) -> io::Result<()> {
    spawn("signals", move || {
        for signal in &mut signals {
            let _ = events.send(Event::Signal(signal));
        }
    })
}

/// The signals that are passed on: all that end a process by default and may be meant for it, but
/// for those that whoever started us wants ignored (`nohup`).
fn signals_to_pass_on() -> Vec<i32> {
    signals::not_ignored(vec![SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

#[cfg(test)]
mod tests;
