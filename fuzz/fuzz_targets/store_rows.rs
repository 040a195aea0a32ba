//! Rows that are not as they were made are not given out.
#![no_main]

use std::sync::LazyLock;

use forebay_store::fuzzing::Files;
use libfuzzer_sys::fuzz_target;

static FILES: LazyLock<Files> = LazyLock::new(Files::new);

fuzz_target!(|input: &[u8]| FILES.rows(input));
