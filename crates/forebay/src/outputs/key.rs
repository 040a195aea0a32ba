//! Keys of links: what makes a URL one that nobody else can have made.
//!
//! A key holds until when its link is good, and 128 bits of a hash over that and what it leads to, which
//! nobody can compute without the secret. The secret lies with what was kept, so that links outlive the
//! process, and every process gives the same ones.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    path::Path,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use blake3::Hash;
use forebay_store::DatasetId;
use forebay_system::private;

/// What the secret is for: hashes that are made with it for anything else are others.
const PURPOSE: &[u8] = b"forebay outputs, version 1";
const FILE: &str = "outputs.key";
const SECRET_BYTES: usize = 32;
/// So many seconds end in the year 36812.
const TIME_BYTES: usize = 5;
const HASH_BYTES: usize = 16;
/// The length of a key: its bytes are a multiple of three, so that no other text stands for the same.
const KEY_LENGTH: usize = (TIME_BYTES + HASH_BYTES) / 3 * 4;
/// The last moment that a key can hold.
const END_OF_TIME: u64 = (1 << (8 * TIME_BYTES)) - 1;

/// What links are signed with.
pub(super) struct Secret([u8; SECRET_BYTES]);

/// What a URL leads to, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) dataset: DatasetId,
    /// Which payload.
    pub(super) block: usize,
    /// In seconds since 1970.
    pub(super) until: u64,
}

/// Until when a link is good that is given at `now`: for as long as it should be, and then up to a quarter
/// of that, so that whoever asks again soon gets the same.
pub(super) fn until(now: u64, seconds: u64) -> u64 {
    let step = (seconds / 4).max(1);
    now.saturating_add(seconds).div_ceil(step).saturating_mul(step).min(END_OF_TIME)
}

impl Secret {
    /// A new one.
    pub(super) fn random() -> io::Result<Self> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The one of a store.
    pub(super) fn read(home: &Path) -> io::Result<Self> {
        let path = home.join(FILE);
        let mut bytes = Vec::new();
        fs::File::open(&path)?.take(SECRET_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        let secret = <[u8; SECRET_BYTES]>::try_from(bytes).map(Self);
        secret.map_err(|_| {
            let path = path.display();
            io::Error::other(format!("`{path}` is damaged; without it, another one is made"))
        })
    }

    /// The one of a store, which gets one if it has none.
    pub(super) fn read_or_make(home: &Path) -> io::Result<Self> {
        match Self::read(home) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let (made, path) = (Self::random()?, home.join(FILE));
        let partial = home.join(format!(".{FILE}.{}", std::process::id()));
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        let mut file = private::file(options).open(&partial)?;
        let put = file
            .write_all(&made.0)
            .and_then(|()| file.sync_all())
            // Fails if another process was first.
            .and_then(|()| fs::hard_link(&partial, &path));
        let _ = fs::remove_file(&partial);
        match put {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Self::read(home),
        }
    }

    /// What a URL ends with that leads there: `dataset_k3v9x2ma/KEY`, or `dataset_k3v9x2ma.1/KEY` for the
    /// second payload.
    pub(super) fn path(&self, link: &Link) -> String {
        let key = [time(link.until), self.hash(link).to_vec()].concat();
        format!("{}/{}", name(link), URL_SAFE_NO_PAD.encode(key))
    }

    /// What such an end of a URL leads to; `None` if it was not made with this secret.
    pub(super) fn link(&self, path: &str) -> Option<Link> {
        let (named, key) = path.split_once('/')?;
        let key = Some(key).filter(|key| key.len() == KEY_LENGTH)?;
        let key = URL_SAFE_NO_PAD.decode(key).ok()?;
        let (until, hash) = key.split_at_checked(TIME_BYTES)?;
        let until = until.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let (id, block) = named.split_once('.').unwrap_or((named, "0"));
        let link = Link { dataset: DatasetId::parse(id)?, block: block.parse().ok()?, until };
        // A payload has one name.
        let is_named = name(&link) == named;
        (is_named && is_same(&self.hash(&link), hash.try_into().ok()?)).then_some(link)
    }

    fn hash(&self, Link { dataset, block, until }: &Link) -> [u8; HASH_BYTES] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // All but the first, which never changes, and the id have a fixed length, and so has the id.
        hasher.update(PURPOSE).update(dataset.as_str().as_bytes());
        hasher.update(&(*block as u64).to_be_bytes()).update(&until.to_be_bytes());
        let mut hash = [0; HASH_BYTES];
        hasher.finalize_xof().fill(&mut hash);
        hash
    }
}

/// What stands for a payload.
fn name(link: &Link) -> String {
    match link.block {
        0 => link.dataset.to_string(),
        block => format!("{}.{block}", link.dataset),
    }
}

fn time(seconds: u64) -> Vec<u8> {
    seconds.to_be_bytes()[8 - TIME_BYTES..].to_vec()
}

/// Compares hashes in a time that says nothing of where they differ, as `blake3` does.
fn is_same(one: &[u8; HASH_BYTES], other: [u8; HASH_BYTES]) -> bool {
    let whole = |part: &[u8]| {
        let mut bytes = [0; blake3::OUT_LEN];
        bytes[..HASH_BYTES].copy_from_slice(part);
        Hash::from_bytes(bytes)
    };
    whole(one) == whole(&other)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn link(block: usize) -> Link {
        Link { dataset: DatasetId::parse("k3v9x2ma").unwrap(), block, until: 1_800_000_000 }
    }

    #[test]
    fn a_link_is_known_again_and_no_other_is() {
        let (secret, foreign) = (Secret([7; SECRET_BYTES]), Secret([8; SECRET_BYTES]));
        for block in [0, 1, 12] {
            let path = secret.path(&link(block));
            assert_eq!(secret.link(&path), Some(link(block)));
            assert_eq!(foreign.link(&path), None);
            for at in 0..path.len() {
                for other in ['a', 'B', '0', '.', '/', '=', '-', '%'] {
                    let mut forged: Vec<char> = path.chars().collect();
                    forged[at] = other;
                    let forged: String = forged.into_iter().collect();
                    assert!(forged == path || secret.link(&forged).is_none(), "{forged}");
                }
                assert_eq!(secret.link(&path[..at]), None);
            }
            for added in ["a", "=", "/", "%00", "/.."] {
                assert_eq!(secret.link(&format!("{path}{added}")), None);
            }
        }
        let path = secret.path(&link(0));
        for named in
            ["k3v9x2ma", "dataset_k3v9x2ma.0", "dataset_k3v9x2ma.00", "../dataset_k3v9x2ma"]
        {
            let (_, key) = path.split_once('/').unwrap();
            assert_eq!(secret.link(&format!("{named}/{key}")), None, "{named}");
        }
    }

    #[test]
    fn whoever_asks_again_soon_gets_the_same_link() {
        let (from, hour) = (1_800_000_000, 3_600);
        assert_eq!(until(from, hour), from + hour);
        assert_eq!(until(from + 1, hour), until(from + 900, hour));
        for now in from..from + 2 * hour {
            let left = until(now, hour) - now;
            assert!((hour..hour + hour / 4).contains(&left), "{left}");
        }
        assert_eq!(until(from, 1), from + 1);
        assert_eq!(until(from, u64::MAX), END_OF_TIME);
    }

    #[test]
    fn the_secret_is_made_once_and_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        assert!(Secret::read(home.path()).is_err());
        let made = Secret::read_or_make(home.path()).unwrap();
        assert_eq!(Secret::read_or_make(home.path()).unwrap().0, made.0);
        let files: Vec<_> = fs::read_dir(home.path()).unwrap().flatten().collect();
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let another = tempfile::tempdir().unwrap();
        assert_ne!(Secret::read_or_make(another.path()).unwrap().0, made.0);
        for damaged in [&b"short"[..], &[1; 33]] {
            fs::write(home.path().join(FILE), damaged).unwrap();
            assert!(Secret::read_or_make(home.path()).is_err());
        }
    }
}
