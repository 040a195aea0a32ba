//! Two things at once, where that is worth a thread.

use std::thread;

/// Less work than this many bytes is done sooner than a thread is started.
const MIN_BYTES: usize = 256 * 1024;

/// Does `aside` on another thread while `here` is done on this one.
pub(crate) fn both<A: Send, B>(
    bytes: usize,
    aside: impl Fn() -> A + Sync,
    here: impl FnOnce() -> B,
) -> (A, B) {
    if bytes < MIN_BYTES {
        return (aside(), here());
    }
    let aside = &aside;
    thread::scope(|scope| {
        let spawned = thread::Builder::new().name("keeper".to_owned()).spawn_scoped(scope, aside);
        let here = here();
        // Without a thread, or if it panicked, it is done here, where a panic is noticed.
        let result = spawned.ok().and_then(|thread| thread.join().ok());
        (result.unwrap_or_else(aside), here)
    })
}
