//! How often a client may ask: so many times a minute, and a sixth of that at once.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

const MINUTE: Duration = Duration::from_secs(60);
/// How much of a minute's requests may come at once.
const AT_ONCE: u32 = 6;
/// How many clients are remembered. A client that has not asked for a while is forgotten first.
const CLIENTS: usize = 65_536;

/// Requests of clients, counted by their addresses.
pub(super) struct Rate {
    /// How long it takes until one more request is granted; `None` grants all.
    interval: Option<Duration>,
    /// For how many intervals a client may be ahead.
    burst: u32,
    /// When each client has used up all that it was granted.
    clients: Mutex<HashMap<IpAddr, Instant>>,
}

impl Rate {
    /// So many requests a minute; 0 sets no limit.
    pub(super) fn new(per_minute: u32) -> Self {
        let interval = MINUTE.checked_div(per_minute);
        Self { interval, burst: (per_minute / AT_ONCE).max(1), clients: Mutex::default() }
    }

    /// Counts a request at `now`, or says how long to wait until one is granted.
    pub(super) fn take(&self, client: IpAddr, now: Instant) -> Result<(), Duration> {
        let Some(interval) = self.interval else { return Ok(()) };
        let mut clients = self.clients.lock();
        if clients.len() >= CLIENTS {
            clients.retain(|_, used_up| *used_up > now);
        }
        if clients.len() >= CLIENTS {
            // More than that ask within a few seconds: counting them is of no use.
            clients.clear();
        }
        let used_up = clients.entry(counted(client)).or_insert(now);
        let next = (*used_up).max(now) + interval;
        let wait = next.saturating_duration_since(now + interval * self.burst);
        if wait > Duration::ZERO {
            return Err(wait);
        }
        *used_up = next;
        Ok(())
    }
}

/// Whom a request is counted for. With IPv6, whoever has one address has 2⁶⁴ of them.
fn counted(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V4(_) => client,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_client_that_asks_too_often_is_told_how_long_to_wait() {
        let (rate, start) = (Rate::new(60), Instant::now());
        let client = address("192.0.2.1");
        let granted = |now| (0..100).take_while(|_| rate.take(client, now).is_ok()).count();
        assert_eq!(granted(start), 10);
        assert_eq!(rate.take(client, start), Err(Duration::from_secs(1)));
        assert!(rate.take(address("192.0.2.2"), start).is_ok(), "another one may");
        assert_eq!(granted(start + Duration::from_secs(1)), 1);
        assert_eq!(granted(start + Duration::from_secs(4)), 3);
        assert_eq!(granted(start + Duration::from_secs(3_600)), 10, "nothing is saved up");
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        let (rate, now) = (Rate::new(1), Instant::now());
        assert!(rate.take(address("2001:db8::1"), now).is_ok());
        assert!(rate.take(address("2001:db8::ffff:2"), now).is_err());
        assert!(rate.take(address("2001:db8:0:1::1"), now).is_ok());
        assert!(rate.take(address("::1"), now).is_ok());
    }

    #[test]
    fn without_a_limit_all_are_granted_and_many_clients_take_no_more_memory() {
        let now = Instant::now();
        assert!((0..10_000).all(|_| Rate::new(0).take(address("::1"), now).is_ok()));
        let rate = Rate::new(600);
        for number in 0..200_000_u32 {
            assert!(rate.take(IpAddr::V4(number.into()), now).is_ok());
        }
        assert!(rate.clients.lock().len() <= CLIENTS);
    }
}
