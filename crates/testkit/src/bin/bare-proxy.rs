//! A reverse proxy of hyper's server and hyper's client and nothing else, to measure others beside it.
//!
//! `bare-proxy ADDRESS` listens on a port of its own, says which, and passes every request on to what
//! listens at ADDRESS.

#![expect(clippy::print_stdout, reason = "it says where it listens")]

use std::{convert::Infallible, error::Error, time::Duration};

use http_body_util::{Either, Full};
use hyper::{
    Request, Response, StatusCode, Uri,
    body::{Bytes, Incoming},
    header::HOST,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use tokio::{net::TcpListener, runtime::Runtime};

type Answer = Response<Either<Incoming, Full<Bytes>>>;

fn main() -> Result<(), Box<dyn Error>> {
    let upstream = std::env::args().nth(1).ok_or("usage: bare-proxy ADDRESS")?;
    Runtime::new()?.block_on(listen(upstream))
}

async fn listen(upstream: String) -> Result<(), Box<dyn Error>> {
    let mut tcp = HttpConnector::new();
    tcp.set_nodelay(true);
    // Node closes connections after five seconds.
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(Duration::from_secs(4));
    let client: Client<_, Incoming> = builder.build(tcp);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, upstream) = (client.clone(), upstream.clone());
        let service = service_fn(move |request| pass(client.clone(), upstream.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass(
    client: Client<HttpConnector, Incoming>,
    upstream: String,
    mut request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let place = Uri::builder().scheme("http").authority(upstream).path_and_query(path).build();
    *request.uri_mut() = place.unwrap_or_default();
    request.headers_mut().remove(HOST);
    Ok(match client.request(request).await {
        Ok(response) => response.map(Either::Left),
        Err(error) => {
            let mut failed = Response::new(Either::Right(Full::from(error.to_string())));
            *failed.status_mut() = StatusCode::BAD_GATEWAY;
            failed
        }
    })
}
