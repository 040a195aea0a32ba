//! Looking at messages: at short ones on the spot, at long ones where that holds up nobody else.

use std::{future, panic};

use tokio::task;

use crate::body::Body;

/// A message up to this long is looked at on the spot, which takes less than half a millisecond.
const MAX_SHORT_BYTES: u64 = 128 * 1024;

/// What `look` finds in a message, and the message.
pub(crate) async fn look<T: Send + 'static>(
    body: Body,
    look: impl FnOnce(&Body) -> T + Send + 'static,
) -> (T, Body) {
    work(body.bytes(), move || (look(&body), body)).await
}

/// Does `work` with a message of so many bytes.
pub(crate) async fn work<T: Send + 'static>(
    bytes: u64,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if bytes <= MAX_SHORT_BYTES {
        return work();
    }
    match task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => panic::resume_unwind(panic),
            // The runtime ends, and this task with it.
            Err(_) => future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn whoever_looks_at_a_long_message_holds_up_nobody() {
        let (release, released) = mpsc::channel();
        let body = Body::Memory(vec![b' '; usize::try_from(MAX_SHORT_BYTES).unwrap() + 1]);
        // There is one thread for tasks: if the first blocked it, the second would never run.
        let looking = look(body, move |_| released.recv().is_ok());
        let ((is_released, _), ()) = tokio::join!(looking, async {
            release.send(()).unwrap();
        });
        assert!(is_released);
    }

    #[tokio::test]
    async fn a_short_message_is_looked_at_on_the_spot() {
        let here = std::thread::current().id();
        let body = Body::Memory(b"{}".to_vec());
        let (there, _) = look(body, |_| std::thread::current().id()).await;
        assert_eq!(there, here);
    }
}
