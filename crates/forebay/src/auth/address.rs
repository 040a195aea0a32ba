//! Where an upstream is, in the form that a login belongs to.

use std::{fmt, net::IpAddr};

use anyhow::{Context, Result, bail};
use reqwest::Url;

/// An upstream's URL by scheme, host, port and path: what else a URL can have does not make it
/// another upstream, and may be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(Url);

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut url = Url::parse(text).with_context(|| format!("`{text}` is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            bail!("`{text}` is not an HTTP URL, such as https://example.com/mcp");
        }
        url.set_query(None);
        url.set_fragment(None);
        // They fail for URLs without a host alone.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        Ok(Self(url))
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// True if tokens may be sent there.
    pub(crate) fn is_protected(&self) -> bool {
        is_protected(&self.0)
    }

    /// A name for files: readable, and of this address alone.
    pub(crate) fn file_stem(&self) -> String {
        const READABLE: usize = 60;
        let place = self.0.as_str().split_once("://").map_or("", |(_, place)| place);
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let readable: String = place.chars().map(plain).take(READABLE).collect();
        let hash = blake3::hash(self.0.as_str().as_bytes()).to_hex();
        format!("{}-{}", readable.trim_matches(['-', '.']), &hash[..16])
    }

    /// What whoever runs us can do if the upstream there asks for a login.
    pub(crate) fn advice(&self) -> String {
        if !self.is_protected() {
            return format!("log in with an https URL: {self} would get its tokens without TLS");
        }
        let url = self.to_string();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/:.-_~%[]@+=,".contains(c);
        let word =
            if url.chars().all(is_plain) { url } else { format!("'{}'", url.replace('\'', "%27")) };
        format!("run: forebay auth login {word}")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// True if what is sent there can be read on the way by nobody: over TLS, or on this machine.
pub(crate) fn is_protected(url: &Url) -> bool {
    match url.scheme() {
        "https" => true,
        "http" => url.host_str().is_some_and(is_loopback),
        _ => false,
    }
}

/// How near to us an address is. Nearer ones trust whoever can reach them more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Internet,
    Network,
    ThisMachine,
}

impl Place {
    /// Where a URL leads. A name that is not known here leads nowhere, or a proxy knows it.
    pub(crate) async fn of(url: &Url) -> Self {
        let Some(host) = url.host_str() else { return Self::Internet };
        if is_loopback(host) {
            return Self::ThisMachine;
        }
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return Self::of_address(address);
        }
        let found = tokio::net::lookup_host((host, url.port_or_known_default().unwrap_or(0))).await;
        let places = found.into_iter().flatten().map(|address| Self::of_address(address.ip()));
        places.max().unwrap_or(Self::Internet)
    }

    fn of_address(address: IpAddr) -> Self {
        let address = address.to_canonical();
        if address.is_loopback() || address.is_unspecified() {
            return Self::ThisMachine;
        }
        let is_inside = match address {
            IpAddr::V4(address) => {
                let [first, second, ..] = address.octets();
                // The last is what carriers, and networks between machines, use.
                let is_shared = first == 100 && (64..128).contains(&second);
                address.is_private() || address.is_link_local() || is_shared
            }
            IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
        };
        if is_inside { Self::Network } else { Self::Internet }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Internet => "on the internet",
            Self::Network => "in a private network",
            Self::ThisMachine => "on this machine",
        })
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    bare.parse::<IpAddr>().map_or_else(
        |_| host == "localhost" || host.ends_with(".localhost"),
        |address| address.is_loopback(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_tell_upstreams_apart_is_left_out() {
        let told = [
            "https://example.com/mcp",
            "HTTPS://user:word@Example.com:443/mcp?key=secret#part",
            "https://example.com:8443/mcp",
            "https://example.com/mcp/",
            "http://example.com/mcp",
            "https://example.com",
        ]
        .map(|text| Address::parse(text).unwrap().to_string());
        assert_eq!(
            told,
            [
                "https://example.com/mcp",
                "https://example.com/mcp",
                "https://example.com:8443/mcp",
                "https://example.com/mcp/",
                "http://example.com/mcp",
                "https://example.com/",
            ]
        );
        for odd in ["example.com/mcp", "ftp://example.com/", "data:text/plain,x", ""] {
            assert!(Address::parse(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn each_address_has_a_file_name_of_its_own() {
        let stem = |text: &str| Address::parse(text).unwrap().file_stem();
        let mcp = stem("https://mcp.example.com/v1/mcp");
        assert!(mcp.starts_with("mcp.example.com-v1-mcp-"), "{mcp}");
        assert_ne!(mcp, stem("https://mcp.example.com/v1-mcp"));
        assert_ne!(mcp, stem("http://mcp.example.com/v1/mcp"));
        let odd = stem(&format!("https://example.com/../%2e%2e/é/{}", "long/".repeat(100)));
        assert!(odd.len() < 90 && !odd.contains(['/', '%']), "{odd}");
    }

    #[test]
    fn tokens_go_over_tls_or_stay_on_this_machine() {
        let protected = |text: &str| Address::parse(text).unwrap().is_protected();
        let fine =
            ["https://example.com", "http://127.0.0.1:1/", "http://[::1]/", "http://localhost"];
        assert!(fine.into_iter().all(protected));
        let open = ["http://example.com", "http://10.0.0.1/", "http://localhost.example.com/"];
        assert!(!open.into_iter().any(protected));
    }

    #[test]
    fn the_advice_can_be_pasted() {
        let advice = |url: &str| Address::parse(url).unwrap().advice();
        let plain = "run: forebay auth login https://example.com:8443/mcp";
        assert_eq!(advice("https://example.com:8443/mcp?key=secret"), plain);
        let odd = "run: forebay auth login 'https://example.com/a;b%27$(c)'";
        assert_eq!(advice("https://example.com/a;b'$(c)"), odd);
        assert!(advice("http://example.com/").starts_with("log in with an https URL"));
    }
}
