//! The process that the model runs in.
//!
//! It loads the model, gives up what it does not need, and answers one request after the other until nobody is
//! there to ask, or nobody has asked for a while. With it all the memory of the model goes back to the system.

use std::{
    fs::File,
    io::{self, Write},
    thread,
};

use forebay_system::{
    pipes::{has_come_within, stdin},
    priority,
};

use crate::{
    EmbedError, confine,
    frame::{self, Frame, Kind, Priority, Setup},
    model::Model,
};

/// The longest frame that is read: what no request of ours has.
const MAX_FRAME: usize = 64 << 20;

/// Answers the requests that come on standard input, until it closes or none comes for a while.
pub fn serve() -> Result<(), EmbedError> {
    // Without a buffer: what has come and was not read would not be waited for.
    let mut input = stdin()?;
    let Some(first) = next(&mut input, Kind::Setup)? else { return Ok(()) };
    let setup: Setup = serde_json::from_slice(&first).map_err(io::Error::other)?;
    match setup.priority {
        Priority::Normal => {}
        Priority::Low => priority::process_gives_way(),
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let model = Model::load(setup.threads.min(cores));
    confine::for_good();
    while has_come_within(&input, setup.idle)? {
        let Some(texts) = next(&mut input, Kind::Texts)? else { break };
        let texts: Vec<String> = serde_json::from_slice(&texts).map_err(io::Error::other)?;
        let vectors = model.as_ref().map_err(ToString::to_string).and_then(|model| {
            let vectors = texts.iter().map(|text| model.vector(text));
            vectors.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())
        });
        let answer = match vectors {
            Ok(vectors) => frame::encode(Kind::Vectors, &frame::vectors_to_bytes(&vectors))?,
            Err(why) => frame::encode(Kind::Failure, why.as_bytes())?,
        };
        let mut output = io::stdout().lock();
        output.write_all(&answer)?;
        output.flush()?;
    }
    Ok(())
}

/// The bytes of the next frame, which must be of this kind; `None` at the end.
fn next(input: &mut File, expected: Kind) -> io::Result<Option<Vec<u8>>> {
    match frame::read(input, MAX_FRAME)? {
        Some(Frame { kind, bytes }) if kind == expected => Ok(Some(bytes)),
        Some(_) => Err(io::Error::other("a frame that is not of its kind")),
        None => Ok(None),
    }
}
