//! The calls to the system that a worker may make. All others fail as if they were not permitted.

use std::io;

use forebay_worker::filter::{self, Allowed, COMPUTING, Threads};

/// Sets the filter.
pub(super) fn install(threads: Threads) -> io::Result<()> {
    filter::install(Allowed::Only(COMPUTING), threads)
}

#[cfg(test)]
mod tests {
    use std::{fs, net::TcpListener, process::Command, thread};

    use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, prlimit};

    use super::*;

    #[test]
    fn a_worker_has_no_files_no_network_no_processes_and_no_new_threads() {
        let refused = || {
            let rlimit = getrlimit(Resource::Core);
            let another = Pid::from_raw(1).unwrap();
            let itself = rustix::process::getpid();
            install(Threads::This).unwrap();
            // What a worker does goes on.
            assert_eq!(vec![1; 10_000_000].iter().sum::<i32>(), 10_000_000);
            assert_eq!(prlimit(None, Resource::Core, rlimit).unwrap(), rlimit);
            [
                ("open", fs::read("/proc/self/stat").err()),
                ("create", fs::write("/tmp/forebay-filter", "").err()),
                ("remove", fs::remove_file("/tmp/forebay-filter").err()),
                ("network", TcpListener::bind("127.0.0.1:0").err()),
                ("program", Command::new("true").status().err()),
                ("thread", thread::Builder::new().spawn(|| ()).err()),
                ("kill", kill_process(itself, Signal::CONT).err().map(Into::into)),
                ("limits", prlimit(Some(another), Resource::Core, rlimit).err().map(Into::into)),
            ]
            .map(|(what, error)| (what, error.and_then(|error: io::Error| error.raw_os_error())))
        };
        for (what, error) in thread::spawn(refused).join().unwrap() {
            assert_eq!(error, Some(libc::EPERM), "{what}");
        }
    }
}
