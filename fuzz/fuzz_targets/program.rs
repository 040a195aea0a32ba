//! A program never brings the engine down, and fails at a place that its source has.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    forebay_sandbox::fuzzing::run(source);
});
