//! Programs in real workers.
#![expect(clippy::unwrap_used, reason = "what a test cannot go on without")]

mod calls;
mod first_attempts;
mod harness;
mod limits;
mod positions;
mod values;
mod ways_out;
