//! 64 clients of both eras that call the upstreams of a gateway all the time, and check every answer.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::eventually,
};
use serde_json::{Value, json};

pub(super) const LEGACY_CLIENTS: usize = 16;
const CLIENTS: usize = 64;
/// What no call may take: its time-out, the pause before an upstream is started again, and as much again
/// for a machine that has other things to do. Without a time-out it would be ten minutes.
const LIMIT: Duration = Duration::from_secs(10);

/// Chance, the same in every run.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Calls under way.
pub(super) struct Load<'a> {
    servers: &'a [&'static str],
    /// How many calls of each upstream have been answered, and refused.
    answered: Vec<AtomicU64>,
    refused: Vec<AtomicU64>,
    is_over: AtomicBool,
    /// What must not be.
    wrong: Mutex<Vec<String>>,
}

/// Calls that are over: what was said of those that were refused, by upstream.
pub(super) struct Calls(BTreeMap<&'static str, Vec<String>>);

/// Has all clients call these upstreams while `faults` happen, and once more each after them.
pub(super) fn under_load(
    gateway: &HttpPeer,
    servers: &[&'static str],
    faults: impl FnOnce(&Load<'_>),
) -> Calls {
    let counters = || servers.iter().map(|_| AtomicU64::new(0)).collect();
    let load = Load {
        servers,
        answered: counters(),
        refused: counters(),
        is_over: AtomicBool::new(false),
        wrong: Mutex::default(),
    };
    let clients = (0..CLIENTS).map(|number| match number {
        0..LEGACY_CLIENTS => McpHttpClient::legacy(gateway),
        _ => McpHttpClient::modern(gateway),
    });
    let clients: Vec<McpHttpClient> = clients.collect();
    let mut calls = BTreeMap::new();
    thread::scope(|scope| {
        let ends = EndOnDrop(&load);
        let calling: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(number, client)| {
                let load = &load;
                scope.spawn(move || load.call_on(number, client))
            })
            .collect();
        faults(&load);
        drop(ends);
        for refused in calling.into_iter().flat_map(|client| client.join().unwrap()) {
            calls.entry(refused.0).or_insert_with(Vec::new).push(refused.1);
        }
    });
    load.is_right();
    Calls(calls)
}

/// Clients call for no longer than somebody looks, whatever is found.
struct EndOnDrop<'a>(&'a Load<'a>);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

impl Load<'_> {
    /// Waits until each of these upstreams has answered many more calls.
    pub(super) fn is_answered(&self, servers: &[&str]) {
        const MORE: u64 = 32;
        self.grows("calls are answered", &self.answered, servers, MORE, || ());
    }

    /// Has a fault happen, and waits until calls of this upstream are refused. They may be before the fault is
    /// over, and no more afterwards.
    pub(super) fn is_refused<T>(&self, server: &str, fault: impl FnOnce() -> T) -> T {
        self.grows("calls are refused", &self.refused, &[server], 1, fault)
    }

    fn grows<T>(
        &self,
        what: &str,
        counters: &[AtomicU64],
        servers: &[&str],
        more: u64,
        meanwhile: impl FnOnce() -> T,
    ) -> T {
        let counts = || counters.iter().map(|counter| counter.load(Ordering::Relaxed));
        let before: Vec<u64> = counts().collect();
        let done = meanwhile();
        let has_grown = || {
            let mut all = self.servers.iter().zip(counts().zip(&before));
            all.all(|(server, (now, before))| !servers.contains(server) || now >= before + more)
        };
        eventually(&format!("{what}: {servers:?}"), || {
            self.is_right();
            has_grown()
        });
        done
    }

    fn is_right(&self) {
        let wrong = self.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(5)]);
    }

    /// What a client does: the calls that were refused, and what was said of them.
    fn call_on(&self, number: usize, mut client: McpHttpClient) -> Vec<(&'static str, String)> {
        let mut chance = Chance::new(number as u64 + 1);
        let mut refused = Vec::new();
        for turn in 0_u64.. {
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            let at = chance.below(self.servers.len());
            let server = self.servers[at];
            let word = format!("client-{number}-call-{turn}.");
            // Some are always under way.
            let arguments = json!({ "word": word, "delay": 5 + chance.below(20) });
            let started = Instant::now();
            let answer = client.call_tool(&format!("{server}__echo"), &arguments);
            let took = started.elapsed();
            match verdict(&answer, server, &word) {
                Ok(None) => self.answered[at].fetch_add(1, Ordering::Relaxed),
                Ok(Some(told)) => {
                    refused.push((server, told));
                    self.refused[at].fetch_add(1, Ordering::Relaxed)
                }
                Err(wrong) => self.finds(format!("{word} of {server}: {wrong}")),
            };
            if took > LIMIT {
                self.finds(format!("{word} of {server} took {took:?}: {answer}"));
            }
            for stray in client.notifications.drain(..).filter(|it| it["method"].is_null()) {
                self.finds(format!("client {number} was answered what it had not asked: {stray}"));
            }
        }
        if client.session().is_some() {
            client.delete();
        }
        refused
    }

    fn finds(&self, wrong: String) -> u64 {
        self.wrong.lock().unwrap().push(wrong);
        0
    }
}

impl Calls {
    /// What was said of the calls of this upstream that were refused.
    pub(super) fn refused(&self, server: &str) -> &[String] {
        self.0.get(server).map_or(&[], Vec::as_slice)
    }
}

/// `None` for an answer that is right, or what was said of the upstream.
fn verdict(answer: &Value, server: &str, word: &str) -> Result<Option<String>, String> {
    if let Some(text) = answer["result"]["content"][0]["text"].as_str()
        && answer["result"]["isError"] != true
    {
        return if text.contains(word) { Ok(None) } else { Err(answer.to_string()) };
    }
    match answer["error"]["message"].as_str() {
        Some(told) if told.contains(server) => Ok(Some(told.to_owned())),
        _ => Err(answer.to_string()),
    }
}
