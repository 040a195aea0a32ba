//! Letting everything else on the machine go first.

use rustix::process::setpriority_process;

/// No process can give way more.
const LAST: i32 = 19;

/// Lets everything else on the machine go before the calling thread.
pub fn thread_gives_way() {
    // On Linux this is for the calling thread alone; elsewhere it would be for all of them.
    #[cfg(target_os = "linux")]
    process_gives_way();
}

/// Lets everything else on the machine go before this process. To be called before it has threads, which take it
/// over from the one that starts them. Where it cannot be done, the process goes on as it is.
pub fn process_gives_way() {
    let _ = setpriority_process(None, LAST);
}
