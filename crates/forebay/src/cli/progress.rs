//! How a long question is going, on a line of the terminal that goes away; Ctrl-C ends it.

use std::{
    env,
    io::{self, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};

use anyhow::Result;
use forebay_query::Observer;
use forebay_system::{signals, terminal};

use crate::cli::table::cut;

/// What is done sooner needs no line.
const SOON: Duration = Duration::from_millis(500);
/// How often the line is drawn.
const OFTEN: Duration = Duration::from_millis(100);
/// How many characters the bar has.
const BAR: usize = 20;

/// How far a question is. The line is on stderr, if that is a terminal.
pub(crate) struct Progress {
    since: Instant,
    is_cancelled: Arc<AtomicBool>,
    width: Option<usize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was told last.
    told: Option<(f64, String)>,
    drawn: Option<Instant>,
}

impl Progress {
    /// From here on Ctrl-C cancels; if it comes twice, it ends the program.
    pub(crate) fn start() -> Result<Self> {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        signals::set_on_interrupt(&is_cancelled)?;
        let (since, state) = (Instant::now(), Mutex::default());
        Ok(Self { since, is_cancelled, width: width(), state })
    }

    /// Takes the line away, and says whether the question was cancelled. From here on Ctrl-C ends the
    /// program, as it does elsewhere.
    pub(crate) fn end(self) -> bool {
        if self.state().drawn.is_some() {
            put("\r\u{1b}[K");
        }
        self.is_cancelled.swap(true, Ordering::SeqCst)
    }

    fn draw_if_due(&self) {
        let Some(width) = self.width else { return };
        let elapsed = self.since.elapsed();
        let mut state = self.state();
        if elapsed < SOON || state.drawn.is_some_and(|last| last.elapsed() < OFTEN) {
            return;
        }
        state.drawn = Some(Instant::now());
        let line = line(state.told.as_ref(), elapsed);
        put(&format!("\r{}\u{1b}[K", cut(&line, width.saturating_sub(1))));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Observer for Progress {
    fn progress(&self, done: f64, message: &str) {
        self.state().told = Some((done, message.to_owned()));
        self.draw_if_due();
    }

    fn is_cancelled(&self) -> bool {
        self.draw_if_due();
        self.is_cancelled.load(Ordering::SeqCst)
    }
}

fn line(told: Option<&(f64, String)>, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let Some((done, message)) = told else { return format!("running, {seconds} s") };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is clamped to what a percentage can be"
    )]
    let percent = (done * 100.0).clamp(0.0, 100.0) as usize;
    let filled = percent * BAR / 100;
    let bar = "━".repeat(filled) + &"─".repeat(BAR - filled);
    format!("{bar} {percent:3} %  {message}, {seconds} s")
}

/// How wide the line may be; `None` if nobody would see it.
fn width() -> Option<usize> {
    let stderr = io::stderr();
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || !stderr.is_terminal() {
        return None;
    }
    terminal::columns(&stderr)
}

fn put(text: &str) {
    let mut stderr = io::stderr().lock();
    // Whether it is seen or not, the question goes on.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_and_with_what() {
        let elapsed = Duration::from_millis(3_200);
        assert_eq!(line(None, elapsed), "running, 3 s");
        let told = (0.5, "preparing dataset_k3v9x2ma".to_owned());
        let half = "━━━━━━━━━━──────────  50 %  preparing dataset_k3v9x2ma, 3 s";
        assert_eq!(line(Some(&told), elapsed), half);
        assert!(line(Some(&(7.0, String::new())), elapsed).contains("100 %"));
        assert!(line(Some(&(f64::NAN, String::new())), elapsed).contains("  0 %"));
    }
}
