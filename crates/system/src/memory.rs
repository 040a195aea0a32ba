//! How much memory this process has, and how the C library's allocator goes about with it.

/// How many bytes this process has allocated; 0 where the system does not tell. Only Linux does.
pub fn allocated_bytes() -> u64 {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = sizes.split_whitespace().nth(5).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default().saturating_mul(rustix::param::page_size() as u64)
}

/// Goes about with addresses sparingly if they are limited; to be called before there are threads. The C
/// library's allocator, which SQLite and DuckDB use, takes 64 MiB of them for each thread, of which nearly all
/// stay empty: with a few threads some hundred MiB were gone, and an allocation that fails ends the program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator can be told in no other way")]
pub fn spare_addresses_if_limited() {
    use rustix::process::{Resource, getrlimit};
    if getrlimit(Resource::As).current.is_some() {
        // SAFETY: takes numbers alone. None of our threads runs yet; one of another allocator's may, and never
        // asks the C library's for memory.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Other C libraries have no such habit.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn spare_addresses_if_limited() {}
