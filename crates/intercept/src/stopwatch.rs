//! How long each stage took, for those who ask (`--log-level trace`). Each is a span, too.

use std::{
    fmt,
    time::{Duration, Instant},
};

use tracing::span::EnteredSpan;

/// Runs from one stage to the next.
pub(crate) struct Stopwatch {
    stage: &'static str,
    span: Option<EnteredSpan>,
    begun: Instant,
    times: Vec<(&'static str, Duration)>,
}

impl Stopwatch {
    /// The first stage begins.
    pub(crate) fn start(stage: &'static str) -> Self {
        Self { stage, span: Some(span(stage)), begun: Instant::now(), times: Vec::new() }
    }

    /// The stage is over, and another begins.
    pub(crate) fn next(&mut self, stage: &'static str) {
        self.stop();
        (self.stage, self.span) = (stage, Some(span(stage)));
    }

    /// The last stage is over.
    pub(crate) fn stop(&mut self) {
        let now = Instant::now();
        // Before another is entered.
        self.span = None;
        self.times.push((self.stage, now - self.begun));
        self.begun = now;
    }
}

fn span(stage: &'static str) -> EnteredSpan {
    tracing::trace_span!("stage", name = stage).entered()
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (stage, time)) in self.times.iter().enumerate() {
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
    fn stages_are_told_in_their_order() {
        let mut watch = Stopwatch::start("detect");
        watch.next("write");
        watch.stop();
        let told = watch.to_string();
        assert!(told.starts_with("detect ") && told.contains(" µs, write "), "{told}");
    }
}
