//! Connections: limits on their number and on idle ones, and a shutdown that lets requests finish.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::uri::{PathAndQuery, Uri};
use bethe_core::Cancel;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

/// The headers of a request.
const HEAD: usize = 32 << 10;
/// How long to wait for a file descriptor.
const WAIT: Duration = Duration::from_millis(50);

/// What connections may take.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Connections at once; further ones wait to be accepted.
    pub connections: usize,
    /// A client that sends no request in this time is dropped.
    pub idle: Duration,
    /// A client that takes none of its answer for this long is dropped.
    pub stalled: Duration,
    /// How long running requests may go on after shutdown is requested; then they are cancelled,
    /// and get as long again to answer with what they have.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            idle: Duration::from_secs(15),
            stalled: Duration::from_secs(30),
            patience: Duration::from_secs(5),
        }
    }
}

/// Serves until `end`. `stop` cancels all work.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    end: impl Future<Output = ()>,
    stop: &Cancel,
) {
    let connections = Arc::new(Semaphore::new(limits.connections));
    let graceful = GracefulShutdown::new();
    let mut end = std::pin::pin!(end);
    loop {
        let free = Arc::clone(&connections).acquire_owned();
        let accepted = async { (free.await, listener.accept().await) };
        let (free, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut end => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = graceful.watch(connection(stream, router.clone(), limits));
                tokio::spawn(async move {
                    // A client that goes away is not our error.
                    let _ = connection.await;
                    drop(free);
                });
            }
            // Out of file descriptors, most likely: others will be freed.
            Err(_) => tokio::time::sleep(WAIT).await,
        }
    }
    drop(listener);
    let mut ended = std::pin::pin!(graceful.shutdown());
    if tokio::time::timeout(limits.patience, &mut ended).await.is_err() {
        stop.cancel();
        let _ = tokio::time::timeout(limits.patience, ended).await;
    }
}

fn connection(
    stream: TcpStream,
    router: Router,
    limits: Limits,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.stalled));
    let router = TowerToHyperService::new(router);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_buf_size(HEAD)
        .serve_connection(
            TokioIo::new(Box::pin(stream)),
            service_fn(move |request| router.call(with_one_slash(request))),
        )
}

/// Programs that are given the address with a slash at its end, as it is printed, add a second one.
fn with_one_slash(mut request: Request<Incoming>) -> Request<Incoming> {
    if let Some(own) = request.uri().path_and_query().filter(|own| own.as_str().starts_with("//"))
        && let Ok(path) =
            format!("/{}", own.as_str().trim_start_matches('/')).parse::<PathAndQuery>()
    {
        *request.uri_mut() = Uri::from(path);
    }
    request
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};
    use std::thread;
    use std::time::Instant;

    use axum::routing::get;
    use tokio::sync::oneshot;

    use super::*;

    const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    /// What a test does with the address of a server that answers with this many bytes.
    fn with_server(limits: Limits, bytes: usize, test: impl FnOnce(SocketAddr) + Send + 'static) {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (done, end) = oneshot::channel::<()>();
            let client = thread::spawn(move || {
                test(address);
                drop(done);
            });
            let router = Router::new().route("/", get(move || async move { "a".repeat(bytes) }));
            serve(listener, router, limits, async { drop(end.await) }, &Cancel::new()).await;
            client.join().unwrap();
        });
    }

    fn limits() -> Limits {
        let patience = Duration::from_millis(200);
        Limits { connections: 2, stalled: patience, patience, ..Limits::default() }
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// The first bytes of an answer, or none if there is no answer in this many milliseconds.
    fn answer(stream: &mut TcpStream, milliseconds: u64) -> usize {
        stream.set_read_timeout(Some(Duration::from_millis(milliseconds))).unwrap();
        stream.read(&mut [0; 64]).unwrap_or(0)
    }

    #[test]
    fn further_connections_wait_until_one_ends() {
        with_server(limits(), 1, |address| {
            let mut open = [connect(address), connect(address)];
            for own in &mut open {
                own.write_all(ASK).unwrap();
                assert!(answer(own, 20_000) > 0);
            }
            let mut third = connect(address);
            third.write_all(ASK).unwrap();
            assert_eq!(answer(&mut third, 300), 0);
            drop(open);
            assert!(answer(&mut third, 20_000) > 0);
        });
    }

    #[test]
    fn a_client_that_takes_nothing_is_dropped() {
        const BYTES: usize = 64 << 20;
        with_server(limits(), BYTES, |address| {
            let mut stalled = connect(address);
            stalled.write_all(ASK).unwrap();
            thread::sleep(Duration::from_secs(1));
            let begun = Instant::now();
            let mut taken = Vec::new();
            // What was on its way, and then the end.
            let _ = stalled.read_to_end(&mut taken);
            assert!(!taken.is_empty() && taken.len() < BYTES, "{} bytes", taken.len());
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        });
    }

    #[test]
    fn a_client_that_takes_its_time_gets_it_all() {
        const BYTES: usize = 16 << 20;
        with_server(limits(), BYTES, |address| {
            let mut slow = connect(address);
            slow.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
            let (mut taken, mut part) = (0, vec![0; 1 << 20]);
            loop {
                match slow.read(&mut part).unwrap() {
                    0 => break,
                    bytes => taken += bytes,
                }
                thread::sleep(Duration::from_millis(20));
            }
            assert!(taken > BYTES, "{taken} bytes");
        });
    }

    #[test]
    fn a_client_that_asks_no_more_is_dropped() {
        let idle = Duration::from_millis(300);
        with_server(Limits { idle, ..limits() }, 1, |address| {
            let mut asked = connect(address);
            asked.write_all(ASK).unwrap();
            assert!(answer(&mut asked, 20_000) > 0);
            let begun = Instant::now();
            let _ = asked.read_to_end(&mut Vec::new());
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        });
    }

    #[test]
    fn several_slashes_are_one() {
        with_server(limits(), 1, |address| {
            let mut twice = connect(address);
            twice.write_all(b"GET //// HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
            let mut status = [0; 12];
            twice.read_exact(&mut status).unwrap();
            assert_eq!(&status, b"HTTP/1.1 200");
        });
    }
}
