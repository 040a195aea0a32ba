//! One thread that keeps all deadlines.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// What is done when a deadline has passed. Must be quick: the others wait.
type Alarm = Box<dyn FnOnce() + Send>;

/// Which alarm it is: the earliest is the least.
type Key = (Instant, u64);

/// An alarm that goes off unless it is dropped before.
pub(super) struct Deadline(Key);

struct Alarms {
    due: BTreeMap<Key, Alarm>,
    /// How many there have been.
    set: u64,
    /// When the thread will look, if there is one.
    looks_at: Option<Instant>,
    has_thread: bool,
}

static ALARMS: Mutex<Alarms> =
    Mutex::new(Alarms { due: BTreeMap::new(), set: 0, looks_at: None, has_thread: false });
static SOONER: Condvar = Condvar::new();

/// Has `alarm` run after `time`.
pub(super) fn after(time: Duration, alarm: impl FnOnce() + Send + 'static) -> Deadline {
    let at = Instant::now() + time;
    let mut alarms = alarms();
    alarms.set += 1;
    let key = (at, alarms.set);
    alarms.due.insert(key, Box::new(alarm));
    if !alarms.has_thread {
        // Without it nobody is late; the next one tries again.
        alarms.has_thread = thread::Builder::new().name("deadlines".to_owned()).spawn(keep).is_ok();
    } else if alarms.looks_at.is_none_or(|next| at < next) {
        SOONER.notify_one();
    }
    Deadline(key)
}

impl Drop for Deadline {
    fn drop(&mut self) {
        // The thread finds out by itself.
        let alarm = alarms().due.remove(&self.0);
        drop(alarm);
    }
}

fn keep() {
    let mut alarms = alarms();
    loop {
        let next = alarms.due.first_key_value().map(|((at, _), _)| *at);
        alarms.looks_at = next;
        let now = Instant::now();
        match next {
            None => SOONER.wait(&mut alarms),
            Some(at) if at > now => drop(SOONER.wait_for(&mut alarms, at - now)),
            Some(_) => {
                let due = alarms.due.pop_first();
                drop(alarms);
                if let Some((_, alarm)) = due {
                    alarm();
                }
                alarms = self::alarms();
            }
        }
    }
}

fn alarms() -> MutexGuard<'static, Alarms> {
    ALARMS.lock()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn alarms_go_off_in_their_order_and_not_if_they_are_dropped() {
        let (sender, receiver) = mpsc::channel();
        let alarm = |milliseconds: u64| {
            let sender = sender.clone();
            after(Duration::from_millis(milliseconds), move || sender.send(milliseconds).unwrap())
        };
        let _kept = [alarm(60), alarm(20), alarm(40)];
        drop(alarm(30));
        assert_eq!(receiver.iter().take(3).collect::<Vec<_>>(), [20, 40, 60]);
        assert!(receiver.try_recv().is_err());
    }
}
