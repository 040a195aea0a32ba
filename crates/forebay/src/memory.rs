//! How memory is taken from the system, and given back.

use std::ptr;

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

/// Does without the allocator's own threads, where no more can be started: it would try again and again, and
/// takes half of a core for it.
#[expect(unsafe_code, reason = "the allocator can be told in no other way")]
pub(crate) fn without_threads() {
    let mut is_on = false;
    // SAFETY: the name is one that the allocator has, and what is written there is a `bool`.
    unsafe {
        tikv_jemalloc_sys::mallctl(
            c"background_thread".as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            (&raw mut is_on).cast(),
            size_of::<bool>(),
        );
    }
}
