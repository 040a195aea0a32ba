//! A span for each tool call, sent as OpenTelemetry's OTLP over HTTP, in JSON.
//!
//! One kind of span, and no sampling but the client's: that is little enough to be written here. What cannot
//! be sent is dropped and counted; nobody waits for it but the end of the program, for a moment.

mod span;

use std::{
    path::Path,
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, SyncSender, TrySendError},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use forebay_proxy::{
    session::Call,
    telemetry::{Outcome, Telemetry},
};
use reqwest::{Certificate, Client, header::CONTENT_TYPE};

use self::span::Span;
use crate::trust;

/// So many spans wait to be sent; further ones are dropped.
const WAITING: usize = 4_096;
/// So many are sent at once.
const BATCH: usize = 512;
/// A span waits this long for others to go with.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a receiver may take, and the end of the program for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends spans.
pub(crate) struct Traces {
    orders: SyncSender<Order>,
    dropped: AtomicU64,
}

enum Order {
    Send(Box<Span>),
    /// All that has been noted is to be sent, and whoever waits is told.
    Flush(mpsc::Sender<()>),
}

impl Traces {
    /// Sends to `url` from now on.
    pub(crate) fn start(url: &str, ca_file: Option<&Path>) -> Result<Self> {
        // It fails if there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let trusted = trust::authorities(ca_file)?;
        let trusted: Vec<Certificate> =
            trusted.iter().map(|der| Certificate::from_der(der)).collect::<Result<_, _>>()?;
        let client = Client::builder()
            .user_agent(concat!("forebay/", env!("CARGO_PKG_VERSION")))
            .tls_certs_merge(trusted)
            .timeout(PATIENCE)
            .build()
            .context("traces cannot be sent")?;
        let (orders, inbox) = mpsc::sync_channel(WAITING);
        let url = url.to_owned();
        thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || send_what_comes(&inbox, &client, &url))
            .context("traces cannot be sent")?;
        Ok(Self { orders, dropped: AtomicU64::new(0) })
    }

    /// Sends what waits; returns when that is done, or has taken too long.
    pub(crate) fn send_all(&self) {
        let (told, done) = mpsc::channel();
        if self.orders.send(Order::Flush(told)).is_ok() {
            let _ = done.recv_timeout(PATIENCE);
        }
    }
}

impl Telemetry for Traces {
    fn answered(&self, call: &Call, outcome: Outcome) {
        let Some(span) = Span::of(call, outcome) else { return };
        if let Err(TrySendError::Full(_)) = self.orders.try_send(Order::Send(Box::new(span))) {
            let before = self.dropped.fetch_add(1, Ordering::Relaxed);
            if before == 0 {
                tracing::warn!("traces are not sent as fast as they come; some are dropped");
            }
        }
    }
}

/// The thread that sends: as much at once as there is.
fn send_what_comes(inbox: &mpsc::Receiver<Order>, client: &Client, url: &str) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::warn!(%error, "traces cannot be sent"),
    };
    let mut failures = Failures::default();
    let mut spans: Vec<Span> = Vec::new();
    let mut due = Instant::now();
    loop {
        let order = if spans.is_empty() {
            inbox.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            inbox.recv_timeout(due.saturating_duration_since(Instant::now()))
        };
        let mut waiting = None;
        match order {
            Ok(Order::Send(span)) => {
                if spans.is_empty() {
                    due = Instant::now() + PAUSE;
                }
                spans.push(*span);
                if spans.len() < BATCH {
                    continue;
                }
            }
            Ok(Order::Flush(told)) => waiting = Some(told),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) if spans.is_empty() => return,
            Err(RecvTimeoutError::Disconnected) => {}
        }
        if !spans.is_empty() {
            let count = spans.len();
            let sent = runtime.block_on(post(client, url, &std::mem::take(&mut spans)));
            failures.note(sent, count);
        }
        if let Some(told) = waiting {
            let _ = told.send(());
        }
    }
}

async fn post(client: &Client, url: &str, spans: &[Span]) -> Result<(), String> {
    let request = client.post(url).header(CONTENT_TYPE, "application/json");
    // Its address is not told: there may be a key in it.
    let sent = request.body(span::request(spans)).send().await;
    let response = sent.map_err(|error| error.without_url().to_string())?;
    match response.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("the receiver answered {status}")),
    }
}

/// What is said of traces that could not be sent: when that begins, and when it ends.
#[derive(Default)]
struct Failures {
    lost: usize,
}

impl Failures {
    fn note(&mut self, sent: Result<(), String>, count: usize) {
        match sent {
            Ok(()) if self.lost > 0 => {
                tracing::info!(lost = self.lost, "traces are sent again");
                self.lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                if self.lost == 0 {
                    tracing::warn!("traces cannot be sent, and are dropped: {error}");
                }
                self.lost += count;
            }
        }
    }
}
