//! What the operating system lets a process have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a process can be limited in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The bytes of memory that it allocates.
    Memory,
    /// The length of a file that it writes to, in bytes.
    FileBytes,
    /// The bytes of memory that are written to a file when it crashes.
    CoreBytes,
    /// How many files, pipes and sockets it has open.
    OpenFiles,
    /// For how many seconds it computes.
    CpuSeconds,
}

/// Limits this process. Where it cannot be done, it goes on without.
pub fn lower(limit: Limit, to: u64) {
    let resource = match limit {
        Limit::Memory => Resource::Data,
        Limit::FileBytes => Resource::Fsize,
        Limit::CoreBytes => Resource::Core,
        Limit::OpenFiles => Resource::Nofile,
        Limit::CpuSeconds => Resource::Cpu,
    };
    let Rlimit { maximum, .. } = getrlimit(resource);
    let current = maximum.map_or(to, |maximum| maximum.min(to));
    let _ = setrlimit(resource, Rlimit { current: Some(current), maximum });
}
