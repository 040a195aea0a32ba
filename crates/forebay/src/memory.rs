//! How memory is taken from the system, and given back.

use tikv_jemallocator::Jemalloc;

/// The C library's own allocator keeps most of what a thread has ever used, and took a quarter of the time
/// of a small call over HTTP.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// What has been free for two seconds goes back to the system, by a thread that does nothing else, which the
/// allocator can have on Linux alone. Its addresses go too, for they count against the limit of a worker;
/// large parts are no exception, for the next result may be as large. Few of our threads work at once.
#[unsafe(export_name = "_rjem_malloc_conf")]
#[expect(unsafe_code, reason = "the allocator looks for a symbol of this name")]
#[expect(unreachable_pub, reason = "it is reached by its symbol")]
pub static SETTINGS: &[u8] = if cfg!(target_os = "linux") {
    b"background_thread:true,retain:false,dirty_decay_ms:2000,muzzy_decay_ms:0,oversize_threshold:0,narenas:4\0"
} else {
    b"retain:false,dirty_decay_ms:2000,muzzy_decay_ms:0,oversize_threshold:0,narenas:4\0"
};

/// Goes about with addresses sparingly if they are limited. The C library's allocator, which SQLite and
/// DuckDB use, takes 64 MiB of them for each thread, of which nearly all stay empty: with a few threads
/// some hundred MiB were gone, and an allocation that fails ends the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator can be told in no other way")]
pub(crate) fn heed_limit() {
    use rustix::process::{Resource, getrlimit};
    if getrlimit(Resource::As).current.is_some() {
        // SAFETY: takes numbers alone. None of our threads runs yet; one of the other allocator's may, and
        // never asks the C library's for memory.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn heed_limit() {}
