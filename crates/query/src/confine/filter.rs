//! Which system calls a worker may not make: a filter that the kernel runs before each.

use std::io;

use forebay_worker::filter::{self, Allowed, Threads};
use libc::c_long;

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

/// Sets the filter for this thread and all that it starts.
pub(super) fn install() -> io::Result<()> {
    filter::install(Allowed::AllBut(&REFUSED), Threads::This)
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
        assert_eq!(thread::spawn(refused).join().unwrap(), [Some(libc::EPERM); 2]);
    }
}
