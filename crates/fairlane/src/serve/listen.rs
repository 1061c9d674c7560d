//! Connections: how they come in, how many, how slow they may be, and how it all ends.

use crate::failure::Failure;
use axum::{Extension, Router};
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Connections at once; more wait in the kernel's queue.
const CONNECTIONS: u32 = 64;
/// A client sends its request within so long.
const REQUEST_WITHIN: Duration = Duration::from_secs(5);
/// The largest head of a request; no browser sends more to this server.
const HEAD_BYTES: usize = 16 << 10;
/// A client that takes nothing for so long is gone.
const STUCK: Duration = Duration::from_secs(30);
/// Answers under way when the server is asked to stop may take so long.
const FAREWELL: Duration = Duration::from_secs(2);
/// Out of file descriptors or memory: a moment may help.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// The address of this machine that a connection came to.
#[derive(Debug, Clone, Copy)]
pub struct Reached(pub SocketAddr);

/// Listens.
///
/// # Errors
/// One sentence with the remedy.
pub fn bind(address: SocketAddr) -> Result<std::net::TcpListener, Failure> {
    let bound = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Failure::failed(format!(
            "something listens on {address} already, perhaps another fairlane serve; end it, or take a free port with \
             --listen {}",
            SocketAddr::new(address.ip(), 0)
        )),
        ErrorKind::AddrNotAvailable => {
            Failure::failed(format!("this machine has no address {}; `ip address` lists the ones it has", address.ip()))
        }
        ErrorKind::PermissionDenied => Failure::missing(format!(
            "this user may not listen on port {}; take one from 1024 on, such as --listen {}",
            address.port(),
            SocketAddr::new(address.ip(), 7171)
        )),
        _ => Failure::failed(format!("cannot listen on {address}: {error}; name another address with --listen")),
    })
}

/// True once somebody asked this process to stop. Called inside the runtime.
///
/// # Errors
/// When signals cannot be caught.
pub fn stop_on_signals() -> std::io::Result<watch::Receiver<bool>> {
    let (ask, stop) = watch::channel(false);
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let (mut signal, ask) = (signal(kind)?, ask.clone());
        tokio::spawn(async move {
            signal.recv().await;
            ask.send_replace(true);
        });
    }
    Ok(stop)
}

/// Answers connections until it is asked to stop.
pub async fn serve(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS as usize));
    loop {
        let stopped = pin!(stop.wait_for(|stop| *stop));
        match select(pin!(next(&listener, &places)), stopped).await {
            Either::Left(((stream, place), _)) => {
                tokio::spawn(converse(stream, router.clone(), place));
            }
            Either::Right(_) => break,
        }
    }
    drop(listener);
    // Streams end by themselves now.
    let _ = timeout(FAREWELL, places.acquire_many(CONNECTIONS)).await;
}

async fn next(listener: &TcpListener, places: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        if let Ok(place) = Arc::clone(places).acquire_owned().await
            && let Ok((stream, _)) = listener.accept().await
        {
            return (stream, place);
        }
        sleep(AFTER_FAILURE).await;
    }
}

/// One connection carries one request, so that no idle one takes a place.
async fn converse(stream: TcpStream, router: Router, _place: OwnedSemaphorePermit) {
    let Ok(reached) = stream.local_addr() else { return };
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, STUCK.as_millis() as u32);
    let service = TowerToHyperService::new(router.layer(Extension(Reached(reached))));
    // What goes wrong on a connection concerns that client alone.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_WITHIN)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
