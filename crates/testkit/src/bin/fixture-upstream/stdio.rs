//! The fixture on stdio: a line in, a line out, in one thread; calls that wait do so beside it.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::AsFd,
    sync::{Arc, Mutex, OnceLock},
    thread,
    time::Duration,
};

use forebay_wire::{
    Envelope, Id, Kind, Line,
    envelope::LineScanner,
    framing::{LineBuffer, Piece, lines},
    scan,
};
use tokio::runtime::Runtime;

use crate::{
    call::{Call, Outlet, Session},
    json,
    listeners::{Listener, Wish},
    request::{Era, Params, Request},
    tools,
    world::{Answer, World},
};

struct Connection {
    world: Arc<World>,
    session: Arc<Session>,
    outlet: Outlet,
}

/// Answers until the input ends, and then stays if it is to.
pub(crate) fn serve(world: Arc<World>, stays: bool) -> io::Result<()> {
    // Plain files: the standard handles buffer, and look for line ends in all they write.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let outlet = Outlet::Lines(Arc::new(Mutex::new(output)));
    let connection = Connection { world, session: Arc::default(), outlet };
    let mut buffer = LineBuffer::new(connection.world.longest());
    loop {
        for line in lines(buffer.complete()) {
            for envelope in Line::of(line).messages() {
                connection.take(envelope, line)?;
            }
        }
        buffer.consume(buffer.complete().len());
        if buffer.is_stuck() {
            let (envelope, bytes) = long_line(&mut buffer, &mut input)?;
            if let Some(id) = envelope.and_then(|envelope| envelope.id) {
                let result = tools::text(Era::Legacy, &bytes.to_string());
                connection.outlet.send(&json::response(&id, result))?;
            }
            continue;
        }
        let count = input.read(buffer.room())?;
        buffer.filled(count);
        if count == 0 {
            break;
        }
    }
    if stays {
        thread::sleep(Duration::from_secs(1000));
    }
    Ok(())
}

fn long_line(
    buffer: &mut LineBuffer,
    input: &mut impl Read,
) -> io::Result<(Option<Envelope>, u64)> {
    let mut scanner = LineScanner::new();
    let mut bytes = 0;
    loop {
        let piece = buffer.piece();
        let (count, is_last) = (piece.bytes().len(), matches!(piece, Piece::Last(_)));
        scanner.push(piece.bytes());
        bytes += count as u64;
        buffer.consume(count);
        if is_last {
            return Ok((scanner.finish().messages().first().cloned(), bytes));
        }
        let count = input.read(buffer.room())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.filled(count);
    }
}

impl Connection {
    fn take(&self, envelope: &Envelope, line: &[u8]) -> io::Result<()> {
        let part = |span: &Option<_>| span.as_ref().and_then(|span| scan::slice(line, span));
        let params = Params::read(part(&envelope.params).unwrap_or_default());
        match envelope.kind() {
            Kind::Request { id, method } => {
                let era = self.world.era_of(method, &params);
                self.answer(&Request { id, method, params, era })
            }
            Kind::Notification { method: "notifications/cancelled" } => {
                if let Some(id) = params.request_id.and_then(Id::parse)
                    && (self.session.cancel(&id) || self.world.listeners.unsubscribe(&id))
                {
                    self.world.count_cancellation();
                }
                Ok(())
            }
            Kind::Response { id } => {
                let answer = part(&envelope.result).or(part(&envelope.error));
                self.session.answered(id, answer.unwrap_or_default());
                Ok(())
            }
            Kind::Notification { .. } | Kind::Other => Ok(()),
        }
    }

    fn answer(&self, request: &Request<'_>) -> io::Result<()> {
        if request.method == "initialize" {
            let outlet = self.outlet.clone();
            self.world.listeners.add(Listener { wish: Wish::Everything, outlet });
        }
        match self.world.answer(request)? {
            Answer::Now(response) | Answer::Refused { response, .. } => self.outlet.send(&response),
            Answer::Call(call) if call.is_immediate() => {
                self.outlet.send(&json::response(request.id, call.result))
            }
            Answer::Call(call) => self.start(request.id.clone(), call),
            Answer::Listen(filter) => {
                let wish = Wish::Subscription { id: request.id.clone(), filter };
                self.world.listeners.add(Listener { wish, outlet: self.outlet.clone() });
                Ok(())
            }
        }
    }

    /// Runs a call beside us.
    fn start(&self, id: Id, call: Call) -> io::Result<()> {
        static BESIDE: OnceLock<Runtime> = OnceLock::new();
        if BESIDE.get().is_none() {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_time()
                .build()?;
            let _ = BESIDE.set(runtime);
        }
        let Some(runtime) = BESIDE.get() else { return Ok(()) };
        let (world, session) = (Arc::clone(&self.world), Arc::clone(&self.session));
        let outlet = self.outlet.clone();
        session.clone().start(id.clone(), runtime.handle(), async move {
            // Nobody reads any more: our input will end.
            let _ = call.run(&id, &world, &session, &outlet).await;
        });
        Ok(())
    }
}
