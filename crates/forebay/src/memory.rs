//! What is done about a limit on addresses (`ulimit -v`).

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

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn heed_limit() {}
