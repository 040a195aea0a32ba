//! How the C library's allocator goes about with memory.

/// Goes about with addresses sparingly if they are limited. The C library's allocator takes 64 MiB of
/// them for each thread, of which nearly all stay empty: with a few threads some hundred MiB were gone,
/// and an allocation that fails ends the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator can be told in no other way")]
pub(crate) fn heed_limit() {
    use rustix::process::{Resource, getrlimit};
    if getrlimit(Resource::As).current.is_some() {
        // SAFETY: takes numbers alone, and there is no other thread yet.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Gives the system back what is free. The allocator keeps it for whoever asks next, which may be never.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator can be told in no other way")]
pub(crate) fn give_back() {
    // SAFETY: takes a number alone, and may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn heed_limit() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}
