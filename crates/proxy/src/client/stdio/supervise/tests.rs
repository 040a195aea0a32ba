//! Each ending as a script: events at their times, and what is to be done.

use std::os::unix::process::ExitStatusExt;

use super::*;

const GRACE: Duration = Duration::from_secs(5);

/// Plays events at seconds from the start; ticks come when the supervisor asked for them.
struct Script {
    supervisor: Supervisor,
    start: Instant,
    standing: Standing,
}

impl Script {
    fn new() -> Self {
        let standing = Standing::default();
        Self { supervisor: Supervisor::new(GRACE), start: Instant::now(), standing }
    }

    fn at(&mut self, seconds: u64, event: Event) -> Vec<Action> {
        let now = self.start + Duration::from_secs(seconds);
        self.supervisor.on(event, self.standing, now)
    }

    fn wakes_after(&self) -> Option<u64> {
        self.supervisor.wakes_at().map(|at| (at - self.start).as_secs())
    }
}

fn exited(code: i32) -> ExitStatus {
    ExitStatus::from_raw(code << 8)
}

fn signals(actions: &[Action]) -> Vec<i32> {
    let signal = |action: &Action| match action {
        Action::Signal(signal, _) => Some(*signal),
        Action::CloseInput | Action::Abandon(_) | Action::Finish(_) => None,
    };
    actions.iter().filter_map(signal).collect()
}

#[test]
fn an_upstream_that_ends_after_its_client_needs_no_push() {
    let mut script = Script::new();
    assert_eq!(script.at(0, Event::ClientClosed), []);
    assert_eq!(script.at(1, Event::OutputClosed), []);
    let status = exited(0);
    assert_eq!(
        script.at(1, Event::Exited(status)),
        [Action::Abandon("exited with code 0".to_owned()), Action::Finish(Some(status))]
    );
}

#[test]
fn an_upstream_that_ignores_its_clients_end_is_terminated_then_killed() {
    let mut script = Script::new();
    script.at(0, Event::ClientClosed);
    assert_eq!(script.wakes_after(), Some(5));
    assert_eq!(signals(&script.at(5, Event::Tick)), [SIGTERM]);
    assert_eq!(script.wakes_after(), Some(10));
    assert_eq!(signals(&script.at(10, Event::Tick)), [SIGKILL]);
    assert_eq!(script.at(15, Event::Tick).last(), Some(&Action::Finish(None)), "at last");
}

#[test]
fn a_call_under_way_is_waited_for_but_not_for_ever() {
    let mut script = Script::new();
    script.standing.is_awaited = true;
    script.at(0, Event::ClientClosed);
    for period in 1..30 {
        assert_eq!(script.at(period * 5, Event::Tick), []);
    }
    assert_eq!(signals(&script.at(150, Event::Tick)), [SIGTERM]);
}

#[test]
fn a_call_that_makes_progress_is_waited_for_longer() {
    let mut script = Script::new();
    script.standing.is_awaited = true;
    script.at(0, Event::ClientClosed);
    for period in 1..60 {
        script.standing.lines_sent += 1;
        assert_eq!(script.at(period * 5, Event::Tick), []);
    }
    script.standing.is_awaited = false;
    assert_eq!(signals(&script.at(300, Event::Tick)), [SIGTERM]);
}

#[test]
fn chatter_does_not_keep_an_upstream_alive() {
    let mut script = Script::new();
    script.at(0, Event::ClientClosed);
    script.standing.lines_sent = 1;
    assert_eq!(signals(&script.at(5, Event::Tick)), [SIGTERM]);
}

#[test]
fn output_held_open_by_a_grandchild_does_not_hang_the_session() {
    let mut script = Script::new();
    let status = exited(1);
    assert_eq!(script.at(0, Event::Exited(status)), []);
    let actions = script.at(1, Event::Tick);
    assert_eq!(signals(&actions), [SIGKILL]);
    assert_eq!(actions.last(), Some(&Action::Finish(Some(status))));
}

#[test]
fn last_words_reach_a_slow_client() {
    for closes in [None, Some(Event::ClientClosed)] {
        let mut script = Script::new();
        let status = exited(0);
        script.standing.is_backed_up = true;
        closes.map(|event| script.at(0, event));
        script.at(0, Event::Exited(status));
        for period in 1..100 {
            assert_eq!(script.at(period * 5, Event::Tick), [], "however long it takes");
        }
        script.standing.is_backed_up = false;
        let actions = script.at(500, Event::OutputClosed);
        assert_eq!(actions.last(), Some(&Action::Finish(Some(status))));
    }
}

#[test]
fn a_slow_reader_keeps_the_upstream_alive() {
    let mut script = Script::new();
    script.standing.is_backed_up = true;
    script.at(0, Event::ClientClosed);
    assert_eq!(script.at(5, Event::Tick), []);
    script.standing.is_backed_up = false;
    assert_eq!(signals(&script.at(10, Event::Tick)), [SIGTERM]);
}

#[test]
fn a_reader_that_has_paused_for_long_still_gets_the_answer() {
    let mut script = Script::new();
    script.standing = Standing { is_awaited: true, is_backed_up: true, ..Standing::default() };
    script.at(0, Event::ClientClosed);
    for period in 1..100 {
        assert_eq!(script.at(period * 5, Event::Tick), []);
    }
    script.standing = Standing { lines_sent: 1, is_awaited: true, ..Standing::default() };
    assert_eq!(script.at(500, Event::Tick), [], "it reads again");
}

#[test]
fn what_the_chain_has_is_waited_for() {
    let mut script = Script::new();
    let status = exited(0);
    script.standing.is_consulting = true;
    script.at(0, Event::Exited(status));
    assert_eq!(script.at(1, Event::Tick), []);
    script.standing.is_consulting = false;
    let actions = script.at(30, Event::OutputClosed);
    assert_eq!(actions.last(), Some(&Action::Finish(Some(status))));
}

#[test]
fn nobody_waits_for_the_chain_when_the_client_is_gone() {
    let mut script = Script::new();
    script.standing.is_consulting = true;
    assert_eq!(script.at(0, Event::ClientClosed), []);
    assert_eq!(script.at(1, Event::ClientGone), [Action::CloseInput]);
    assert_eq!(signals(&script.at(5, Event::Tick)), [SIGTERM]);
    let status = exited(0);
    assert_eq!(
        script.at(6, Event::Exited(status)).last(),
        Some(&Action::Finish(Some(status))),
        "though it is still at work"
    );
}

#[test]
fn a_signal_ends_all_waiting() {
    let mut script = Script::new();
    let status = exited(0);
    script.standing.is_backed_up = true;
    script.at(0, Event::Exited(status));
    assert_eq!(signals(&script.at(1, Event::Signal(SIGTERM))), [SIGTERM]);
    assert_eq!(
        script.at(6, Event::Tick).last(),
        Some(&Action::Finish(Some(status))),
        "and nothing is said behind what nobody reads"
    );
    assert!(script.supervisor.was_told_to_end());
}

#[test]
fn repeating_a_signal_puts_nothing_off() {
    let mut script = Script::new();
    script.at(0, Event::Signal(SIGTERM));
    script.at(4, Event::Signal(SIGTERM));
    assert_eq!(signals(&script.at(5, Event::Tick)), [SIGKILL]);
}

#[test]
fn an_upstream_that_takes_no_input_is_not_waited_for() {
    let mut script = Script::new();
    script.standing.is_awaited = true;
    script.at(0, Event::InputClosed);
    assert_eq!(signals(&script.at(5, Event::Tick)), [SIGTERM]);
}

#[test]
fn when_the_client_is_gone_the_upstreams_exit_is_the_end() {
    let mut script = Script::new();
    script.at(0, Event::ClientGone);
    let status = exited(0);
    assert_eq!(script.at(0, Event::Exited(status)).last(), Some(&Action::Finish(Some(status))));
}

#[test]
fn an_upstream_that_closes_its_output_only_is_ended() {
    let mut script = Script::new();
    script.at(0, Event::OutputClosed);
    assert_eq!(
        script.at(1, Event::Tick),
        [Action::Abandon("closed its output without exiting".to_owned()), Action::CloseInput]
    );
    assert_eq!(signals(&script.at(6, Event::Tick)), [SIGTERM]);
    let status = ExitStatus::from_raw(SIGTERM);
    assert_eq!(script.at(6, Event::Exited(status)), [Action::Finish(Some(status))]);
}

#[test]
fn a_signal_is_passed_on_and_followed_up() {
    let mut script = Script::new();
    assert_eq!(signals(&script.at(0, Event::Signal(SIGINT))), [SIGINT]);
    assert_eq!(signals(&script.at(5, Event::Tick)), [SIGKILL]);
}

#[test]
fn a_harmless_signal_is_only_passed_on() {
    let mut script = Script::new();
    let usr1 = forebay_system::signals::SIGUSR1;
    assert_eq!(signals(&script.at(0, Event::Signal(usr1))), [usr1]);
    assert_eq!(script.wakes_after(), None);
}

#[test]
fn a_client_that_is_gone_closes_the_upstreams_input() {
    let mut script = Script::new();
    assert_eq!(script.at(0, Event::ClientGone), [Action::CloseInput]);
    assert_eq!(script.wakes_after(), Some(5));
}

#[test]
fn an_ending_is_described_for_people() {
    assert_eq!(how_it_ended(exited(3)), "exited with code 3");
    assert_eq!(how_it_ended(ExitStatus::from_raw(9)), "was ended by signal 9 (SIGKILL)");
}

#[test]
fn closing_its_output_puts_no_kill_off() {
    let mut script = Script::new();
    script.at(0, Event::Signal(SIGTERM));
    script.at(1, Event::OutputClosed);
    assert_eq!(signals(&script.at(5, Event::Tick)), [SIGKILL]);
}

#[test]
fn without_grace_nothing_spins() {
    let mut supervisor = Supervisor::new(Duration::ZERO);
    let now = Instant::now();
    let standing = Standing { is_backed_up: true, ..Standing::default() };
    supervisor.on(Event::ClientClosed, standing, now);
    supervisor.on(Event::Tick, standing, now + SHORTEST);
    assert!(supervisor.wakes_at() > Some(now + SHORTEST));
}
