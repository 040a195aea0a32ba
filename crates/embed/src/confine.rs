//! What the operating system lets a worker have: it computes, and talks over the two pipes that it was started
//! with. The texts that it reads were written by others.

use forebay_system::limits::{Limit, lower};

/// More than the model takes with the longest text.
const MEMORY_BYTES: u64 = 1 << 30;

/// Takes from this process what it does not need. Where that cannot be done, it works without.
pub(crate) fn for_good() {
    // What it was started with is open, and no others will be. Less than it waits on it cannot have.
    lower(Limit::OpenFiles, 3);
    lower(Limit::FileBytes, 0);
    lower(Limit::CoreBytes, 0);
    lower(Limit::Memory, MEMORY_BYTES);
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        use forebay_worker::filter::{Allowed, COMPUTING, Threads, install};
        let _ = install(Allowed::Only(COMPUTING), Threads::All);
    }
}
