//! What processes have taken: time of the processors and memory, of those that they have started too.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::PATIENCE;

/// Longer than anything in the background waits before it begins.
const MOMENT: Duration = Duration::from_millis(2_500);

/// The time that a process, and all that it has ever started, have had of the processors. An upstream
/// is not counted: its work is the same without anything in front of it.
pub(crate) fn processor_time(process: u32) -> Duration {
    let ticks_per_second =
        u32::try_from(rustix::param::clock_ticks_per_second()).expect("a hundred");
    let own = Duration::from_secs(own_ticks(process).unwrap_or(0)) / ticks_per_second;
    own + started_by(process).into_iter().map(processor_time).sum::<Duration>()
}

/// What a process has, and what those had that it has started and seen end.
fn own_ticks(process: u32) -> Option<u64> {
    /// Of itself and of its children, in user mode and in the system, counted from what follows the name.
    const TIMES: std::ops::RangeInclusive<usize> = 11..=14;
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    fields.get(TIMES)?.iter().map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The processes that a process has started, those that have ended but not been waited for included,
/// and the upstream not.
pub(crate) fn started_by(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let children = tasks.flatten().flat_map(|task| {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
    });
    children.filter(|id| !is_upstream(*id)).collect()
}

fn is_upstream(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/cmdline")).is_ok_and(|line| {
        line.split('\0').next().is_some_and(|it| it.ends_with("fixture-upstream"))
    })
}

/// A line of `/proc/PID/status`, in MiB; `None` once the process has ended.
pub(crate) fn memory(process: u32, field: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// The memory that a process and those that it has started hold now, in MiB.
pub(crate) fn held(process: u32) -> f64 {
    let others: f64 = started_by(process).into_iter().map(held).sum();
    memory(process, "VmRSS").unwrap_or(0.0) + others
}

/// Waits until a process, and those that it has started, have done nothing for a moment.
pub(crate) fn wait_until_quiet(process: u32) {
    let (started, mut since) = (Instant::now(), Instant::now());
    let mut last = processor_time(process);
    while since.elapsed() < MOMENT {
        assert!(started.elapsed() < PATIENCE, "it comes to rest");
        thread::sleep(Duration::from_millis(100));
        let now = processor_time(process);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
}

/// What a command took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) time: Duration,
    /// The most memory that it held, in MiB.
    pub(crate) peak: f64,
}

/// Runs a command to its end, which must be a good one.
pub(crate) fn run(command: &mut Command) -> Taken {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let id = child.id();
    // The figure only grows, and is gone with the process: the last one that is seen is the one.
    let watch = thread::spawn(move || {
        let mut peak = 0.0;
        while let Some(now) = memory(id, "VmHWM") {
            peak = now;
            thread::sleep(Duration::from_millis(1));
        }
        peak
    });
    let status = child.wait().expect("a child");
    let time = started.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    Taken { time, peak: watch.join().expect("a thread") }
}
