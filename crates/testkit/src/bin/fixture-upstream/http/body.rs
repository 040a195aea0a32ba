//! The body of a response: a few bytes, or a stream of them.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::Stream;
use hyper::body::{Frame, SizeHint};

/// See the module.
pub(crate) enum Body {
    Whole(Bytes),
    /// So many bytes, or nobody knows.
    Stream(Frames, Option<u64>),
}

type Frames = Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Cut>> + Send>>;

/// The connection is to close here.
#[derive(Debug)]
pub(crate) struct Cut;

/// Does something when it is dropped, and more if what it guards was not read to its end.
pub(crate) struct Guard {
    always: Option<Box<dyn FnOnce() + Send>>,
    unless_read: Option<Box<dyn FnOnce() + Send>>,
}

impl Body {
    pub(crate) fn of(
        frames: impl Stream<Item = Result<Frame<Bytes>, Cut>> + Send + 'static,
    ) -> Self {
        Self::Stream(Box::pin(frames), None)
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream(frames, _) => frames.as_mut().poll_next(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream(_, Some(length)) => SizeHint::with_exact(*length),
            Self::Stream(_, None) => SizeHint::default(),
        }
    }
}

impl Guard {
    /// Does `always` at the end, whatever it is, and `unless_read` if that comes early.
    pub(crate) fn new(
        always: impl FnOnce() + Send + 'static,
        unless_read: Option<Box<dyn FnOnce() + Send>>,
    ) -> Self {
        Self { always: Some(Box::new(always)), unless_read }
    }

    /// It was read to its end.
    pub(crate) fn disarm(&mut self) {
        self.unless_read = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        for action in [self.always.take(), self.unless_read.take()].into_iter().flatten() {
            action();
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cut on purpose")
    }
}

impl std::error::Error for Cut {}
