//! What is said to the client while a hook works on its call.

/// A way to the client besides the answer: the pipe of a session, or the stream of a request.
pub trait ToClient: Send + Sync {
    /// Sends a line, whole and at once. A client that is gone is no error.
    fn tell(&self, line: &[u8]);
}

impl<F: Fn(&[u8]) + Send + Sync> ToClient for F {
    fn tell(&self, line: &[u8]) {
        self(line);
    }
}
