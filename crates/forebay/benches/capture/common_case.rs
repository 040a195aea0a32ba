//! Results of the sizes that come every day, and larger ones: kept, relayed untouched, and through peers.

use std::{
    fmt::Write as _,
    thread,
    time::{Duration, Instant},
};

use crate::{
    common::{
        Home, median, millis,
        processes::{held, processor_time, wait_until_quiet},
        ratio, resident, target,
    },
    contestants::Contestant,
};

/// Of 60 KB.
pub(crate) const SMALL_RECORDS: u64 = 400;

/// `query.idle_time` unless it is set, after which memory is given back; and a moment. What gives it
/// back before is not waited for as long.
const IDLE: Duration = Duration::from_secs(65);
const AT_REST: f64 = 32.0;

/// A result of some size.
struct Case {
    name: &'static str,
    /// The fixture's tool, and how many records it is asked for.
    tool: &'static str,
    count: u64,
    /// How often each contestant is asked.
    rounds: usize,
    peers: Peers,
    /// What is to be reached.
    targets: &'static [(Figure, &'static str)],
}

/// How often peers are asked.
#[derive(Clone, Copy)]
enum Peers {
    InEachRound,
    /// Where they take a second.
    InEvery(usize),
    Never,
}

/// What a target is about.
#[derive(Clone, Copy)]
enum Figure {
    Kept,
    KeptBesideRelayed,
    Processor,
    CompressorBesideKept,
}

const CASES: [Case; 7] = [
    Case {
        name: "60 KB",
        tool: "records",
        count: SMALL_RECORDS,
        rounds: 101,
        peers: Peers::InEachRound,
        targets: &[(Figure::Kept, "≤ 1.5"), (Figure::Processor, "≤ 6")],
    },
    Case {
        name: "300 KB",
        tool: "records",
        count: 1_950,
        rounds: 51,
        peers: Peers::InEachRound,
        targets: &[],
    },
    Case {
        name: "1 MB",
        tool: "records",
        count: 6_450,
        rounds: 31,
        peers: Peers::InEachRound,
        targets: &[(Figure::Kept, "≤ 5"), (Figure::Processor, "≤ 15")],
    },
    Case {
        name: "7.7 MB",
        tool: "records",
        count: 49_500,
        rounds: 31,
        peers: Peers::InEvery(8),
        targets: &[(Figure::KeptBesideRelayed, "≤ 4"), (Figure::CompressorBesideKept, "≥ 20")],
    },
    Case {
        name: "77 MB",
        tool: "records",
        count: 492_000,
        rounds: 5,
        peers: Peers::Never,
        targets: &[(Figure::KeptBesideRelayed, "≤ 4")],
    },
    Case {
        name: "60 KB, nested",
        tool: "nested",
        count: 210,
        rounds: 101,
        peers: Peers::Never,
        targets: &[],
    },
    Case {
        name: "8 MB, nested",
        tool: "nested",
        count: 27_000,
        rounds: 21,
        peers: Peers::Never,
        targets: &[],
    },
];

/// What a case has shown.
struct Seen {
    case: &'static Case,
    keeper: Contestant,
    replies: Vec<(&'static str, usize)>,
    /// The median for each contestant; the relay comes first, then who keeps.
    times: Vec<Duration>,
    /// For each result that was kept, in milliseconds.
    processor: f64,
}

pub(crate) fn report(home: &Home, report: &mut String) {
    let mut peers: Vec<Contestant> =
        [Contestant::compressor(), Contestant::fastmcp()].into_iter().flatten().collect();
    let seen: Vec<Seen> = CASES.iter().map(|case| case.measure(home, &mut peers)).collect();
    let (at_rest, after) = wait_for_rest(&seen);
    let head = "p50: relayed        kept     ratio   CPU/kept      peak   at rest";
    let _ = write!(report, "                  {head}");
    for peer in &peers {
        let _ = write!(report, "{:>18}", peer.name);
    }
    let _ = writeln!(report);
    for (seen, at_rest) in seen.iter().zip(&at_rest) {
        seen.write_line(*at_rest, report);
    }
    let _ = writeln!(report, "  (CPU: of all processes but the upstream, background included)");
    for seen in &seen {
        seen.write_targets(report);
    }
    let most = at_rest.iter().copied().fold(0.0, f64::max);
    let what = format!("at rest at most, MiB, {:.0} s after the last result", after.as_secs_f64());
    target(report, &what, most, &format!("≤ {AT_REST}"));
    if peers.len() < 2 {
        let _ = writeln!(report, "  (a peer that is missing here could not be installed)");
    }
}

impl Case {
    /// Asks everybody in turns, so that whatever else the machine does falls on all of them.
    fn measure(&'static self, home: &Home, peers: &mut [Contestant]) -> Seen {
        let store = home.store(self.name);
        let mut relay = Contestant::relay(&store);
        let mut keeper = Contestant::keeper(&store);
        let process = keeper.server.child.id();
        let peers = if matches!(self.peers, Peers::Never) { &mut [] } else { peers };
        let mut all: Vec<&mut Contestant> =
            [&mut relay, &mut keeper].into_iter().chain(peers).collect();
        // What is loaded with the first result is measured elsewhere.
        let replies =
            all.iter_mut().map(|it| (it.name, it.reply_bytes(self.tool, self.count))).collect();
        wait_until_quiet(process);
        let before = processor_time(process);
        let mut times = vec![Vec::new(); all.len()];
        for round in 0..self.rounds {
            let asked = if self.asks_peers_in(round) { all.len() } else { 2 };
            for (contestant, times) in all.iter_mut().zip(&mut times).take(asked) {
                times.push(contestant.time(self.tool, self.count));
            }
        }
        wait_until_quiet(process);
        let processor = millis(processor_time(process).saturating_sub(before));
        Seen {
            case: self,
            replies,
            times: times.into_iter().map(median).collect(),
            processor: processor / self.rounds as f64,
            keeper,
        }
    }

    fn asks_peers_in(&self, round: usize) -> bool {
        match self.peers {
            Peers::InEachRound => true,
            Peers::InEvery(rounds) => round.is_multiple_of(rounds),
            Peers::Never => false,
        }
    }
}

impl Seen {
    fn write_line(&self, at_rest: f64, report: &mut String) {
        let Self { case, replies, times, processor, .. } = self;
        let peak = resident(self.keeper.server.child.id(), "VmHWM");
        let (relayed, kept) = (times[0], times[1]);
        let _ = write!(
            report,
            "  {:<16} {:>9.2} ms {:>8.2} ms {:>7.1} × {processor:>7.1} ms {peak:>5.0} MiB {at_rest:>5.0} MiB",
            case.name,
            millis(relayed),
            millis(kept),
            ratio(kept, relayed),
        );
        for time in &times[2..] {
            let _ = write!(report, "{:>15.2} ms", millis(*time));
        }
        let _ = writeln!(report);
        if !replies[2..].is_empty() {
            let replies: Vec<String> =
                replies.iter().map(|(name, bytes)| format!("{name} {bytes} B")).collect();
            let _ = writeln!(report, "    replies: {}", replies.join(", "));
        }
    }

    fn write_targets(&self, report: &mut String) {
        let compressor = self.replies.iter().position(|(name, _)| *name == "mcp-compressor");
        let (relayed, kept) = (self.times[0], self.times[1]);
        for (figure, goal) in self.case.targets {
            let (what, value) = match figure {
                Figure::Kept => ("kept, ms", millis(kept)),
                Figure::KeptBesideRelayed => ("kept / relayed", ratio(kept, relayed)),
                Figure::Processor => ("CPU for each result, ms", self.processor),
                Figure::CompressorBesideKept => {
                    let Some(compressor) = compressor else { continue };
                    ("mcp-compressor / kept", ratio(self.times[compressor], kept))
                }
            };
            target(report, &format!("{}, {what}", self.case.name), value, goal);
        }
    }
}

/// Waits, once for all, until those who have kept something hold no more than they should, but not
/// longer than their idle time; returns what they hold then, in MiB, and after how long.
fn wait_for_rest(seen: &[Seen]) -> (Vec<f64>, Duration) {
    let started = Instant::now();
    loop {
        let held: Vec<f64> = seen.iter().map(|seen| held(seen.keeper.server.child.id())).collect();
        if held.iter().all(|mib| *mib <= AT_REST) || started.elapsed() > IDLE {
            return (held, started.elapsed());
        }
        thread::sleep(Duration::from_millis(500));
    }
}
