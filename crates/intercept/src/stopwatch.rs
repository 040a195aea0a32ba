//! How long each stage took, for those who ask (`--log-level trace`).

use std::{
    fmt,
    time::{Duration, Instant},
};

/// Runs from one stage to the next.
pub(crate) struct Stopwatch {
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { last: Instant::now(), laps: Vec::new() }
    }

    /// A stage is over.
    pub(crate) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.laps.push((stage, now - self.last));
        self.last = now;
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (stage, time)) in self.laps.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{stage} {} µs", time.as_micros())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laps_are_told_in_their_order() {
        let mut watch = Stopwatch::start();
        watch.lap("detect");
        watch.lap("write");
        let told = watch.to_string();
        assert!(told.starts_with("detect ") && told.contains(" µs, write "), "{told}");
    }
}
