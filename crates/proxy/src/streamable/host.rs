//! Which hosts are this machine.

use std::net::IpAddr;

/// True if a host is the one that we run on.
pub(crate) fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || address(name).is_some_and(|ip| ip.is_loopback())
}

/// The address that a host is written as, if it is one.
pub(crate) fn address(name: &str) -> Option<IpAddr> {
    name.trim_start_matches('[').trim_end_matches(']').parse().ok()
}
