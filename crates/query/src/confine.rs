//! What the operating system lets a worker have.
//!
//! DuckDB counts the memory of its buffers. The values that functions make, such as a text of a
//! thousand million letters, it does not count; they are allocated as they are asked for. So the
//! process itself is limited: an allocation beyond it fails, which DuckDB reports as an error like any
//! other, or else ends the process.
//!
//! What a worker never needs it cannot do from its first moment on, where the system knows how to
//! forbid it: reach a network, run a program, look into other processes.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter;

use std::{io, thread};

use forebay_system::{
    limits::{Limit, lower},
    memory,
};

use crate::Limits;

/// What is allocated besides DuckDB's buffers: some 30 MB at rest, and the stacks and values of a query.
const BESIDES: u64 = 256_000_000;

/// The rows of a dataset may need a file of this size, however little may be spilled.
const LEAST_FILE: u64 = 1_000_000_000;

/// Limits this process to what its queries may take. Where it cannot be done, they run without.
pub(crate) fn to(limits: &Limits) {
    lower(Limit::Memory, max_bytes(limits));
    // A file that grows past this is an error of that write.
    lower(Limit::FileBytes, limits.spill_bytes.max(LEAST_FILE));
    // A process that ends in the middle of a query leaves no copy of the data behind.
    lower(Limit::CoreBytes, 0);
}

/// What a worker may allocate. Measured with 256 MB: queries that DuckDB ends itself have allocated up to
/// 580 MB.
fn max_bytes(limits: &Limits) -> u64 {
    limits.memory_bytes.saturating_mul(2).saturating_add(BESIDES)
}

/// True if earlier queries have left so much behind that the next may not have what it may take.
pub(crate) fn is_crowded(limits: &Limits) -> bool {
    // Only Linux tells; elsewhere there is no such limit on what is allocated.
    memory::allocated_bytes() > max_bytes(limits) / 2
}

/// Takes from this thread, and all that it starts, what no query needs. Where it cannot be done, they
/// run without.
pub(crate) fn for_good() {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = filter::install();
}

/// Whether this system can take from a worker what no query needs. Tried in a thread that ends with it.
pub fn can_confine() -> io::Result<()> {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    let trial = || filter::install();
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let trial = || Err(io::ErrorKind::Unsupported.into());
    let tried = thread::Builder::new().spawn(trial)?.join();
    tried.unwrap_or_else(|_| Err(io::Error::other("it could not be tried")))
}
