//! Calls to the system that a worker may make. All others fail as if they were not permitted.

use std::{io, mem};

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, EPERM, PR_SET_NO_NEW_PRIVS,
    SECCOMP_FILTER_FLAG_TSYNC, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_SET_MODE_FILTER,
    c_long, c_ulong, seccomp_data, sock_filter, sock_fprog,
};

/// The kind of machine that the numbers are of.
#[cfg(target_arch = "x86_64")]
const MACHINE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const MACHINE: u32 = 0xC000_00B7;

/// From here on, numbers are of another set of calls that x86 has.
const OTHER_CALLS: u32 = 0x4000_0000;

/// What a worker needs that computes and talks over the pipes that it was started with, once its threads run.
pub const COMPUTING: &[c_long] = &[
    // The pipes.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    // Waiting, and the time.
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_restart_syscall,
    // A thread of the allocator's that is just starting: the C library ends a process in which one cannot.
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    // The keys of hash tables.
    libc::SYS_getrandom,
    // The limits of this process.
    libc::SYS_prlimit64,
    // The end.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// The calls that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed<'a> {
    /// These alone. `prlimit64` is allowed for the process's own limits and no others.
    Only(&'a [c_long]),
    /// All but these.
    AllBut(&'a [c_long]),
}

/// The threads that a filter is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The one that asks, and those that it starts.
    This,
    /// All of the process.
    All,
}

/// Sets a filter, for good.
#[expect(unsafe_code, reason = "there is no other way to set a filter")]
pub fn install(allowed: Allowed<'_>, threads: Threads) -> io::Result<()> {
    let mut program = program(allowed);
    let filter = sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    let flags: c_ulong = match threads {
        Threads::This => 0,
        Threads::All => SECCOMP_FILTER_FLAG_TSYNC,
    };
    // SAFETY: takes numbers alone.
    let outcome = unsafe { libc::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the filter and its program live until the kernel has copied them.
    let outcome = unsafe {
        libc::syscall(libc::SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &raw const filter)
    };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn program(allowed: Allowed<'_>) -> Vec<sock_filter> {
    let refuse = step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM.cast_unsigned());
    let allow = step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    let mut program = vec![
        load(mem::offset_of!(seccomp_data, arch)),
        // Where it holds, the next step is passed over.
        sock_filter { jt: 1, ..is(MACHINE) },
        refuse,
        load(mem::offset_of!(seccomp_data, nr)),
        sock_filter { jf: 1, ..step(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS) },
        refuse,
    ];
    match allowed {
        Allowed::Only(calls) => {
            for call in calls {
                if *call == libc::SYS_prlimit64 {
                    // The number of this process is 0 here.
                    program.push(sock_filter { jf: 4, ..is(number(*call)) });
                    program.push(load(mem::offset_of!(seccomp_data, args)));
                    program.extend([sock_filter { jf: 1, ..is(0) }, allow, refuse]);
                } else {
                    program.extend([sock_filter { jf: 1, ..is(number(*call)) }, allow]);
                }
            }
            program.push(refuse);
        }
        Allowed::AllBut(calls) => {
            for call in calls {
                program.extend([sock_filter { jf: 1, ..is(number(*call)) }, refuse]);
            }
            program.push(allow);
        }
    }
    program
}

fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn is(value: u32) -> sock_filter {
    step(BPF_JMP | BPF_JEQ | BPF_K, value)
}

fn load(offset: usize) -> sock_filter {
    step(BPF_LD | BPF_W | BPF_ABS, u32::try_from(offset).unwrap_or_default())
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k }
}
