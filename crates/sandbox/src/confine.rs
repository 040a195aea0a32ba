//! What the operating system lets a worker have.
//!
//! A worker computes, and talks over the two pipes that it was started with. Once its threads run it
//! can do nothing else, where the system knows how to forbid it.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter;

use forebay_system::{
    limits::{Limit, lower},
    process::cpu_time,
};

use crate::Limits;

/// What is allocated besides a program's values: stacks, the parser's tree, answers that have come.
const BESIDES: u64 = 256_000_000;

/// How much longer than its limit a program may compute until the system ends it: both the engine and
/// the worker's own watch have failed by then.
const LAST_RESORT_SECS: u64 = 2;

/// Limits this process to what a program may take. Where it cannot be done, it runs without.
pub(crate) fn to(limits: &Limits) {
    lower(Limit::Memory, limits.memory_bytes.saturating_mul(2).saturating_add(BESIDES));
    let so_far = cpu_time() + limits.cpu;
    lower(Limit::CpuSeconds, so_far.as_secs() + LAST_RESORT_SECS);
}

/// Takes from this process what no program needs. Where it cannot be done, they run without.
pub(crate) fn for_good() {
    // Standard input, output and error are open; and no others will be.
    lower(Limit::OpenFiles, 3);
    lower(Limit::FileBytes, 0);
    lower(Limit::CoreBytes, 0);
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = filter::install(forebay_worker::filter::Threads::All);
}
