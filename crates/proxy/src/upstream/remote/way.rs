//! The way to a remote upstream: directly or through a proxy, with TLS or without, found out once.

use std::{error::Error, future::Future, io, pin::Pin, sync::Arc, time::Duration};

use http::{
    HeaderMap, HeaderValue, Uri,
    header::{PROXY_AUTHORIZATION, USER_AGENT},
    uri::PathAndQuery,
};
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector};
use hyper_util::client::{
    legacy::connect::{
        Connection, HttpConnector,
        proxy::{SocksV4, SocksV5, Tunnel},
    },
    proxy::matcher::{Intercept, Matcher},
};
use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, ServerName},
};
use rustls_platform_verifier::Verifier;
use tower_service::Service;
use url::Url;

use super::{OUR_NAME, is_this_machine};
use crate::ProxyError;

/// How often a connection on which nothing happens is checked, and again if nobody answers.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_AGAIN: Duration = Duration::from_secs(15);
const KEEPALIVES: u32 = 3;
/// How long what was sent may stay unacknowledged.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// How to get to an upstream, and what to say on the way.
pub(super) struct Way {
    /// Makes a connection.
    pub(super) connect: Connect,
    /// What a request names as its target.
    pub(super) target: Uri,
    /// What each request says to a proxy that passes it on.
    pub(super) headers: HeaderMap,
}

pub(super) type Connect = Box<dyn Fn() -> Connecting + Send + Sync>;
type Connecting = Pin<Box<dyn Future<Output = Result<Io, BoxError>> + Send>>;
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// A connection, whatever lies below it.
pub(super) type Io = Box<dyn ByteStream>;

pub(super) trait ByteStream: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> ByteStream for T {}

/// Finds the way to `url`.
pub(super) fn to(url: &Url, trusted: Vec<CertificateDer<'static>>) -> Result<Way, ProxyError> {
    let mut bare = url.clone();
    // Neither can fail for a URL that has a host.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare.set_fragment(None);
    let place: Uri = bare.as_str().parse().map_err(|_| no_url())?;
    let is_https = url.scheme() == "https";
    let target = place.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    let target = Uri::from(target);
    let proxy = proxy_for(url);
    let proxy_scheme = proxy.as_ref().map(|proxy| proxy.uri().scheme_str().unwrap_or("http"));
    // The system's authorities are read for TLS alone: it takes a while.
    let tls = if is_https || proxy_scheme == Some("https") { Some(tls(trusted)?) } else { None };
    let headers = HeaderMap::new();
    let (Some(proxy), Some(scheme)) = (&proxy, proxy_scheme) else {
        let connect = match tls {
            Some(tls) => plainly(HttpsConnector::from((tcp(), tls)), place),
            None => plainly(tcp(), place),
        };
        return Ok(Way { connect, target, headers });
    };
    let destination = Destination::of(url, if is_https { tls.clone() } else { None })?;
    let connect = match scheme {
        "socks4" => destination.by_address(SocksV4::new(proxy.uri().clone(), tcp())),
        "socks4a" => destination.by_name(SocksV4::new(proxy.uri().clone(), tcp())),
        "socks5" => destination.by_address(socks5(proxy)),
        "socks5h" => destination.by_name(socks5(proxy)),
        _ if is_https => match to_proxy(scheme, tls) {
            Some(tls) => destination.by_name(tunnel(proxy, HttpsConnector::from((tcp(), tls)))),
            None => destination.by_name(tunnel(proxy, tcp())),
        },
        // It reads the requests itself, and passes them on.
        _ => {
            let connect = match to_proxy(scheme, tls) {
                Some(tls) => plainly(HttpsConnector::from((tcp(), tls)), proxy.uri().clone()),
                None => plainly(tcp(), proxy.uri().clone()),
            };
            let login = proxy.basic_auth().map(|login| (PROXY_AUTHORIZATION, login.clone()));
            return Ok(Way { connect, target: place, headers: login.into_iter().collect() });
        }
    };
    Ok(Way { connect, target, headers })
}

fn no_url() -> ProxyError {
    ProxyError::UpstreamUrl { hint: "its characters cannot all be sent".to_owned() }
}

/// Where a proxy is to lead to.
struct Destination {
    place: Uri,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

impl Destination {
    fn of(url: &Url, tls: Option<Arc<ClientConfig>>) -> Result<Self, ProxyError> {
        let (host, port) = (url.host_str(), url.port_or_known_default());
        let (host, port) = (host.ok_or_else(no_url)?, port.ok_or_else(no_url)?);
        let place = format!("{}://{host}:{port}", url.scheme());
        let place = place.parse().map_err(|_| no_url())?;
        let name = host.trim_matches(['[', ']']).to_owned();
        let tls = match tls {
            Some(tls) => Some((tls, ServerName::try_from(name).map_err(|_| no_url())?)),
            None => None,
        };
        Ok(Self { place, tls })
    }

    /// The proxy is told the upstream's name.
    fn by_name<C>(self, through: C) -> Connect
    where
        C: Service<Uri, Error: Into<BoxError>, Future: Send> + Clone + Send + Sync + 'static,
        C::Response: Connection + ByteStream + 'static,
    {
        match self.tls {
            Some((tls, name)) => plainly(over_tls(through, tls, name), self.place),
            None => plainly(through, self.place),
        }
    }

    /// The proxy is told the upstream's address, which we look up.
    fn by_address<C>(self, through: C) -> Connect
    where
        C: Service<Uri, Error: Into<BoxError>, Future: Send> + Clone + Send + Sync + 'static,
        C::Response: Connection + ByteStream + 'static,
    {
        match self.tls {
            Some((tls, name)) => looked_up(over_tls(through, tls, name), self.place),
            None => looked_up(through, self.place),
        }
    }
}

fn plainly<C>(connector: C, place: Uri) -> Connect
where
    C: Service<Uri, Error: Into<BoxError>, Future: Send> + Clone + Send + Sync + 'static,
    C::Response: ByteStream + 'static,
{
    Box::new(move || {
        let connecting = connector.clone().call(place.clone());
        Box::pin(async move {
            let stream = connecting.await.map_err(Into::into)?;
            Ok(Box::new(stream) as Io)
        })
    })
}

fn looked_up<C>(connector: C, place: Uri) -> Connect
where
    C: Service<Uri, Error: Into<BoxError>, Future: Send> + Clone + Send + Sync + 'static,
    C::Response: ByteStream + 'static,
{
    Box::new(move || {
        let (mut connector, place) = (connector.clone(), place.clone());
        Box::pin(async move {
            let authority = place.authority().map_or("", |authority| authority.as_str());
            let found = tokio::net::lookup_host(authority).await?.next();
            let address = found.ok_or_else(|| io::Error::other("its host has no address"))?;
            let place = format!("{}://{address}", place.scheme_str().unwrap_or("http")).parse()?;
            let stream = connector.call(place).await.map_err(Into::into)?;
            Ok(Box::new(stream) as Io)
        })
    })
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(KEEPALIVE_AGAIN));
    tcp.set_keepalive_retries(Some(KEEPALIVES));
    #[cfg(target_os = "linux")]
    tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
    tcp
}

fn over_tls<C>(
    connector: C,
    tls: Arc<ClientConfig>,
    name: ServerName<'static>,
) -> HttpsConnector<C> {
    HttpsConnector::new(connector, tls, true, Arc::new(FixedServerNameResolver::new(name)))
}

fn socks5(proxy: &Intercept) -> SocksV5<HttpConnector> {
    let socks = SocksV5::new(proxy.uri().clone(), tcp());
    match proxy.raw_auth() {
        Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
        None => socks,
    }
}

fn tunnel<C>(proxy: &Intercept, to_proxy: C) -> Tunnel<C> {
    let name = HeaderValue::from_static(OUR_NAME);
    let mut headers = HeaderMap::from_iter([(USER_AGENT, name)]);
    headers.extend(proxy.basic_auth().map(|login| (PROXY_AUTHORIZATION, login.clone())));
    Tunnel::new(proxy.uri().clone(), to_proxy).with_headers(headers)
}

/// What the connection to a proxy is made with, if it asks for TLS.
fn to_proxy(scheme: &str, tls: Option<Arc<ClientConfig>>) -> Option<Arc<ClientConfig>> {
    tls.filter(|_| scheme == "https").map(|tls| {
        let mut tls = (*tls).clone();
        tls.alpn_protocols.clear();
        Arc::new(tls)
    })
}

fn tls(trusted: Vec<CertificateDer<'static>>) -> Result<Arc<ClientConfig>, ProxyError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let made = Verifier::new_with_extra_roots(trusted, provider.clone()).and_then(|verifier| {
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    });
    made.map_err(ProxyError::HttpClient)
}

/// The proxy that requests to `url` go through, if any.
fn proxy_for(url: &Url) -> Option<Intercept> {
    // What stays on this machine is no business of a proxy's.
    let url = Some(url).filter(|url| !is_this_machine(url))?;
    Matcher::from_system().intercept(&url.as_str().parse().ok()?)
}

/// The same, without what may be secret in its address.
pub(super) fn proxy_of(url: &Url) -> Option<String> {
    let proxy = proxy_for(url)?;
    let uri = proxy.uri();
    let port = uri.port().map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{}://{}{port}", uri.scheme_str().unwrap_or("http"), uri.host()?))
}
