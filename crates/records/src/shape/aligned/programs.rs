//! What is known of the programs whose tables the blanks between columns alone do not tell.

/// How the rows of a table are taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// Where its columns have blanks between them.
    Gutters,
    /// At blanks: no cell is empty, and none but the last holds a blank.
    Words,
    /// As `ss` prints sockets: as words, but those of a path and its number belong together.
    Sockets,
}

/// What `ps` and `top` call their columns, other than the one of the command. None of these is ever
/// empty or holds a blank.
const OF_PROCESSES: [&[u8]; 46] = [
    b"%CPU", b"%MEM", b"ADDR", b"C", b"CLS", b"CPU", b"EUID", b"EUSER", b"F", b"GID", b"GROUP",
    b"LWP", b"MAJFL", b"MINFL", b"NI", b"NLWP", b"PGID", b"PGRP", b"PID", b"PPID", b"PR", b"PRI",
    b"PSR", b"RES", b"RSS", b"RUID", b"RUSER", b"S", b"SESS", b"SHR", b"SID", b"SPID", b"START",
    b"STAT", b"STIME", b"SZ", b"TIME", b"TIME+", b"TT", b"TTY", b"UID", b"USER", b"VIRT", b"VSZ",
    b"WCHAN", b"TPGID",
];

/// Words of a header that belong together though one blank stands between them.
const PHRASES: [(&[u8], &[u8]); 12] = [
    (b"Mounted", b"on"),
    (b"Local", b"Address"),
    (b"Foreign", b"Address"),
    (b"PID/Program", b"name"),
    (b"Used", b"by"),
    (b"CONTAINER", b"ID"),
    (b"IMAGE", b"ID"),
    (b"NETWORK", b"ID"),
    (b"VOLUME", b"NAME"),
    (b"NOMINATED", b"NODE"),
    (b"READINESS", b"GATES"),
    (b"LAST", b"SEEN"),
];

/// How rows are taken apart under a header of these words, if a known program prints it.
pub(super) fn split_under(words: &[&[u8]]) -> Option<Split> {
    let (last, others) = words.split_last()?;
    let are_processes = matches!(*last, b"COMMAND" | b"CMD" | b"ARGS")
        && others.len() > 1
        && others.contains(&b"PID".as_slice())
        && others.iter().all(|word| OF_PROCESSES.contains(word));
    if are_processes {
        return Some(Split::Words);
    }
    match words {
        [b"Netid", b"State", b"Recv-Q", b"Send-Q", b"Local", ..]
        | [b"State", b"Recv-Q", b"Send-Q", b"Local", ..] => Some(Split::Sockets),
        [b"Proto", b"Recv-Q", b"Send-Q", b"Local", ..]
        | [b"Proto", b"RefCnt", b"Flags", b"Type", ..]
        | [b"Filesystem", .., b"Mounted", b"on"] => Some(Split::Gutters),
        _ => None,
    }
}

/// The columns of `ss`, whose header may have no blank before the last one.
pub(super) fn names_of_sockets(words: &[&[u8]]) -> Vec<Vec<u8>> {
    let netid = (words[0] == b"Netid").then_some(b"Netid".as_slice());
    let names = netid.into_iter().chain([
        b"State".as_slice(),
        b"Recv-Q",
        b"Send-Q",
        b"Local Address:Port",
        b"Peer Address:Port",
        b"Process",
    ]);
    names.map(<[u8]>::to_vec).collect()
}

/// The cells of a row that `ss` prints.
pub(super) fn cells_of_socket(line: &[u8], has_netid: bool) -> Option<Vec<Vec<u8>>> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut cells: Vec<Vec<u8>> = Vec::new();
    let is_local = has_netid && line.starts_with(b"u_");
    for _ in 0..if has_netid { 4 } else { 3 } {
        cells.push(words.next()?.to_vec());
    }
    let is_count = |cell: &Vec<u8>| cell.iter().all(u8::is_ascii_digit);
    cells.iter().rev().take(2).all(is_count).then_some(())?;
    for _ in 0..2 {
        let address = words.next()?;
        if is_local {
            cells.push([address, b" ", words.next()?].concat());
        } else {
            memchr::memchr(b':', address)?;
            cells.push(address.to_vec());
        }
    }
    cells.push(words.collect::<Vec<_>>().join(&b' '));
    Some(cells)
}

/// True if two words of a header are one name.
pub(super) fn are_phrase(first: &[u8], second: &[u8]) -> bool {
    PHRASES.contains(&(first, second))
}

/// True if a line says what a table is that follows at once, as `netstat` does.
pub(super) fn begins_section(line: &[u8]) -> bool {
    line.starts_with(b"Active ") && line.trim_ascii_end().ends_with(b")")
}
