//! Two things at once, where that is worth a thread.

use std::{panic, thread};

use parking_lot::Mutex;

/// Does `aside` on another thread while `here` is done on this one; if that is not worth a thread, one
/// after the other.
pub fn both<A: Send, B>(
    is_worth_it: bool,
    aside: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> (A, B) {
    if !is_worth_it {
        let here = here();
        return (aside(), here);
    }
    let waiting = Mutex::new(Some(aside));
    let take = || waiting.lock().take();
    thread::scope(|scope| {
        let spawned = thread::Builder::new()
            .name("keeper".to_owned())
            .spawn_scoped(scope, || take().map(|aside| aside()));
        let here = here();
        let done = spawned.ok().and_then(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => panic::resume_unwind(panic),
        });
        // Without a thread it is done here.
        let done = done.or_else(|| take().map(|aside| aside()));
        (done.unwrap_or_else(|| unreachable!("it is done there or here")), here)
    })
}
