//! Which system calls a worker may not make: a filter that the kernel runs before each.

use std::{io, mem};

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, EPERM, PR_SET_NO_NEW_PRIVS,
    PR_SET_SECCOMP, SECCOMP_MODE_FILTER, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, c_long,
    seccomp_data, sock_filter, sock_fprog,
};

/// What is refused, as if it were not permitted.
const REFUSED: [c_long; 27] = [
    // Networks, and other processes by sockets.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Its calls are made by the kernel, which does not ask the filter.
    libc::SYS_io_uring_setup,
    // Programs.
    libc::SYS_execve,
    libc::SYS_execveat,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // The system itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
];

/// The kind of machine that the numbers are of.
#[cfg(target_arch = "x86_64")]
const MACHINE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const MACHINE: u32 = 0xC000_00B7;

/// From here on, numbers are of another set of calls that x86 has.
const OTHER_CALLS: u32 = 0x4000_0000;

/// Sets the filter for this thread and all that it starts.
#[expect(unsafe_code, reason = "there is no other way to set a filter")]
pub(super) fn install() -> io::Result<()> {
    let mut program = program();
    let filter = sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: takes numbers alone.
    let outcome = unsafe { libc::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the filter and its program live until the kernel has copied them.
    let outcome = unsafe { libc::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &raw const filter) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn program() -> Vec<sock_filter> {
    let refuse = step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM.cast_unsigned());
    let load =
        |offset: usize| step(BPF_LD | BPF_W | BPF_ABS, u32::try_from(offset).unwrap_or_default());
    let mut program = vec![
        load(mem::offset_of!(seccomp_data, arch)),
        // Where it holds, the next step is passed over.
        sock_filter { jt: 1, ..step(BPF_JMP | BPF_JEQ | BPF_K, MACHINE) },
        refuse,
        load(mem::offset_of!(seccomp_data, nr)),
        sock_filter { jf: 1, ..step(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS) },
        refuse,
    ];
    for call in REFUSED {
        let call = u32::try_from(call).unwrap_or(u32::MAX);
        program.push(sock_filter { jf: 1, ..step(BPF_JMP | BPF_JEQ | BPF_K, call) });
        program.push(refuse);
    }
    program.push(step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    program
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: 0, k }
}

#[cfg(test)]
mod tests {
    use std::{fs, net::TcpListener, process::Command, thread};

    use super::*;

    #[test]
    fn a_worker_has_no_network_and_runs_no_program() {
        let refused = || {
            install().unwrap();
            // What a worker does goes on.
            assert!(fs::read("/proc/self/stat").is_ok());
            assert!(thread::spawn(|| TcpListener::bind("127.0.0.1:0").is_err()).join().unwrap());
            let program = Command::new("true").status().unwrap_err();
            let network = TcpListener::bind("127.0.0.1:0").unwrap_err();
            [program.raw_os_error(), network.raw_os_error()]
        };
        assert_eq!(thread::spawn(refused).join().unwrap(), [Some(EPERM); 2]);
    }
}
