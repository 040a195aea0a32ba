//! Whom `https` connections are trusted with, besides those whom the system trusts.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use rustls::pki_types::{CertificateDer, pem::PemObject};

/// The certificate of an authority.
pub(crate) type Authority = CertificateDer<'static>;

/// The certificates in the file that a flag or a setting names, if one does.
pub(crate) fn authorities(file: Option<&Path>) -> Result<Vec<Authority>> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let shown = file.display();
    let text =
        fs::read(file).with_context(|| format!("cannot read the certificates in `{shown}`"))?;
    let found = Authority::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| format!("`{shown}` holds a certificate that is broken"))?;
    if found.is_empty() {
        bail!("there is no certificate in `{shown}`; it must be PEM: -----BEGIN CERTIFICATE-----");
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_authorities_must_be_one() {
        assert!(authorities(None).unwrap().is_empty());
        let missing = authorities(Some(Path::new("/nowhere.pem"))).unwrap_err();
        assert!(format!("{missing:#}").contains("/nowhere.pem"), "{missing:#}");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "no certificate").unwrap();
        let empty = authorities(Some(file.path())).unwrap_err().to_string();
        assert!(empty.contains("BEGIN CERTIFICATE"), "{empty}");
    }
}
