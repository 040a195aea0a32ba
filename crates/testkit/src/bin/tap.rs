//! `tap FILE_IN FILE_OUT COMMAND…`: runs the command and passes bytes on in both directions,
//! keeping a copy of each. It knows nothing of lines or messages: an independent witness.

use std::{
    env,
    fs::File,
    io::{self, Read, Write},
    process::{Command, Stdio, exit},
    thread,
};

fn main() -> io::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let missing = || io::Error::other("usage: tap FILE_IN FILE_OUT COMMAND…");
    let input_copy = File::create(arguments.next().ok_or_else(missing)?)?;
    let output_copy = File::create(arguments.next().ok_or_else(missing)?)?;
    let mut child = Command::new(arguments.next().ok_or_else(missing)?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    thread::spawn(move || copy(io::stdin(), input, input_copy));
    if let Some(output) = output {
        copy(output, Some(io::stdout()), output_copy);
    }
    exit(child.wait()?.code().unwrap_or(1));
}

/// Copies until the source ends, then closes the sink.
fn copy(mut source: impl Read, mut sink: Option<impl Write>, mut copy: File) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count) = source.read(&mut buffer)
        && count > 0
    {
        let _ = copy.write_all(&buffer[..count]);
        if let Some(sink) = &mut sink {
            let _ = sink.write_all(&buffer[..count]).and_then(|()| sink.flush());
        }
    }
}
