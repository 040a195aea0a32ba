//! The guard never panics, approves what will run and nothing else, and no file is a table to it.
#![no_main]

use forebay_query::fuzzing::Guard;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static GUARD: Guard = Guard::new().unwrap();
}

fuzz_target!(|sql: &str| {
    let tables = GUARD.with(|guard| guard.tables(sql)).unwrap_or_default();
    assert!(!tables.iter().any(|name| name.contains('/')), "{tables:?}");
});
