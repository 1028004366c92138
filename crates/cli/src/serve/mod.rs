//! `bethe serve`: pages for people and a service for programs, in one process.
//!
//! A request passes the `guard`, which knows who may ask, and gets a place in the queue of `work`,
//! which runs it on a thread of its own; long work reports progress through `events`. `api` is the
//! service, `grobid` the addresses that GROBID's clients know, `pages` what browsers load. No
//! request can name a file.

mod api;
mod bodies;
mod events;
mod failure;
mod flags;
mod grobid;
mod guard;
mod models;
mod pages;
mod results;
mod server;
mod work;

pub use flags::Flags;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use bethe_terminal::{Interrupt, Outcome, bad_input, print, say, threads};
use tokio::net::TcpListener;
use tower_http::catch_panic::CatchPanicLayer;

use bodies::Bodies;
use failure::Failure;
use guard::{Access, guard};
use models::Models;
use results::Results;
use server::Limits;
use work::Work;

/// How often to look for the signal to end.
const LOOK: Duration = Duration::from_millis(50);

/// What all requests share.
pub struct Service {
    models: Models,
    work: Work,
    results: Results,
    access: Access,
    bodies: Bodies,
    /// No log.
    quiet: bool,
}

/// Serves until a signal comes.
pub fn run(flags: Flags) -> Result<Outcome> {
    if flags.token.as_deref() == Some("") {
        return Err(bad_input("--token: found an empty one, expected at least one character"));
    }
    let (memory, body_limit) = (flags.memory.limit()?, flags.body_limit()?);
    let threads = threads::pool(flags.threads)?.current_num_threads();
    let service = Arc::new(Service {
        models: Models::read(&flags.models, memory)?,
        work: Work::new(threads, flags.queue, flags.time_limit()?, memory),
        results: Results::default(),
        access: Access { hosts: flags.hosts.clone(), token: flags.token.clone() },
        bodies: Bodies::new(body_limit),
        quiet: flags.quiet,
    });
    let interrupt = Interrupt::install()?;
    hide_messages_of_faults();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.min(4))
        .enable_all()
        .build()
        .context("cannot start threads")?;
    runtime.block_on(async {
        let listener = listen(&flags).await?;
        let address = listener.local_addr().context("cannot listen")?;
        tell(&flags, address)?;
        let (limits, end) = (Limits::default(), ended(&interrupt));
        server::serve(listener, router(&service), limits, end, &service.work.stop).await;
        anyhow::Ok(())
    })?;
    // Work that did not finish was cancelled; nobody waits for it any more.
    runtime.shutdown_background();
    Ok(Outcome::Done)
}

/// A panic is reported without its message, which may quote the request.
fn hide_messages_of_faults() {
    std::panic::set_hook(Box::new(|fault| {
        let place = fault.location().map(ToString::to_string).unwrap_or_default();
        say(&format!("bug at {place}: please report it"));
    }));
}

/// Waits for the signal.
async fn ended(interrupt: &Interrupt) {
    while !interrupt.is_set() {
        tokio::time::sleep(LOOK).await;
    }
}

async fn listen(flags: &Flags) -> Result<TcpListener> {
    let Flags { listen, port, .. } = flags;
    TcpListener::bind((*listen, *port)).await.map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => "; --port 0 takes any free one",
            _ => "",
        };
        bad_input(format!("{}: cannot listen: {error}{hint}", SocketAddr::new(*listen, *port)))
    })
}

/// Prints the address, and warns if other machines can reach it.
fn tell(flags: &Flags, address: SocketAddr) -> Result<()> {
    print(&format!("http://{address}/\n")).context("standard output")?;
    if !address.ip().is_loopback() {
        let advice = match &flags.token {
            Some(_) => "anybody with the token can use it",
            None => "anybody who can reach this machine can use it; --token TOKEN keeps others out",
        };
        say(&format!("warning: listening on {}: {advice}", address.ip()));
    }
    Ok(())
}

fn router(service: &Arc<Service>) -> Router {
    Router::new()
        .merge(pages::routes())
        .merge(api::routes())
        .merge(grobid::routes())
        .fallback(|| async { Failure::new(StatusCode::NOT_FOUND, "there is no such page") })
        .method_not_allowed_fallback(|| async {
            let message = "this address does not support this method; see /api/v1/openapi.json";
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, message)
        })
        // Bodies are counted as they are read.
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(|_| Failure::fault().into_response()))
        .layer(from_fn_with_state(Arc::clone(service), guard))
        .with_state(Arc::clone(service))
}
