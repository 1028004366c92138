//! Connections: so many at once, none for ever, and an end that lets requests finish.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use bethe_core::Cancel;
use bethe_terminal::Interrupt;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

/// Connections at once; further ones wait to be accepted.
const CONNECTIONS: usize = 512;
/// A client that sends no request in this time is dropped.
const IDLE: Duration = Duration::from_secs(15);
/// A client that takes none of its answer for so long is dropped.
const STALLED: Duration = Duration::from_secs(30);
/// The headers of a request.
const HEAD: usize = 32 << 10;
/// How often the signal to end is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Requests that run may go on for so long after that signal; then they are cancelled, and given
/// as long again for what they have.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves until Ctrl-C or SIGTERM. `stop` cancels all work.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    interrupt: &Interrupt,
    stop: &Cancel,
) -> Result<()> {
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    loop {
        let free = Arc::clone(&connections).acquire_owned();
        let accepted = async { (free.await, listener.accept().await) };
        let (free, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = ended(interrupt) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = graceful.watch(connection(stream, router.clone()));
                tokio::spawn(async move {
                    // A client that goes away is no error of ours.
                    let _ = connection.await;
                    drop(free);
                });
            }
            // Out of file descriptors, most likely: others will be freed.
            Err(_) => tokio::time::sleep(LOOK).await,
        }
    }
    drop(listener);
    let mut ended = std::pin::pin!(graceful.shutdown());
    if tokio::time::timeout(PATIENCE, &mut ended).await.is_err() {
        stop.cancel();
        let _ = tokio::time::timeout(PATIENCE, ended).await;
    }
    Ok(())
}

fn connection(
    stream: TcpStream,
    router: Router,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALLED));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router))
}

/// Waits for the signal.
async fn ended(interrupt: &Interrupt) {
    while !interrupt.is_set() {
        tokio::time::sleep(LOOK).await;
    }
}
