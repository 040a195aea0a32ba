//! Tells a client that waits for a long result how far that is kept.

use forebay_proxy::chain::Caller;

/// What is shorter is kept sooner than one would read this.
const MIN_BYTES: u64 = 16 * 1024 * 1024;

/// The steps of keeping a result, as its caller hears of them.
pub(crate) struct Steps<'c> {
    caller: &'c Caller,
    bytes: u64,
    /// What the upstream had told of its own progress, and what has been told since; `None` if nobody
    /// wants to know.
    told: Option<(f64, f64)>,
}

impl<'c> Steps<'c> {
    /// How many there are.
    const COUNT: f64 = 3.0;

    /// Nothing has been done for a result of so many bytes.
    pub(crate) fn new(caller: &'c Caller, bytes: u64) -> Self {
        let before = caller.told().filter(|_| bytes >= MIN_BYTES);
        Self { caller, bytes, told: before.map(|before| (before, before)) }
    }

    /// The next step begins.
    pub(crate) fn next(&mut self, what: &str) {
        let Some((before, done)) = &mut self.told else { return };
        *done += 1.0;
        // The upstream's own measure is another.
        let total = (*before == 0.0).then_some(Self::COUNT);
        let message = format!("{what} ({} MB)", self.bytes / 1_000_000);
        self.caller.progress(*done, total, &message);
    }
}
