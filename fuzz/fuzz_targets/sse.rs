//! Any bytes, in any portions, are read as the events that the standard says, and so are these again.
#![no_main]

use forebay_wire::sse::judge::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| judge(input));
