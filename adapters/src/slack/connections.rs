//! Connections that requests come over: so many at a time, and none may keep us waiting for a request's head.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use crate::serve::chat::Stop;

/// Connections at a time; others wait to be accepted.
const MOST: u32 = 256;
/// How long the head of a request, or the next request, may take to come.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long we wait where the system gives us no connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until the program stops; what is being answered then is answered.
pub async fn serve(listener: TcpListener, routes: Router, mut stop: Stop) {
    let places = Arc::new(Semaphore::new(MOST as usize));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((place, listener.accept().await))
        };
        let next = tokio::select! {
            next = next => next,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match next {
            Some((place, Ok((stream, _)))) => {
                tokio::spawn(connection(stream, routes.clone(), stop.clone(), place));
            }
            // Whoever called hung up, or there are too many open files.
            Some((_, Err(_))) => sleep(PAUSE).await,
            None => break,
        }
    }
    drop(listener);
    // A closed room is an empty one.
    let _all = places.acquire_many(MOST).await;
}

async fn connection(
    stream: TcpStream,
    routes: Router,
    mut stop: Stop,
    _place: OwnedSemaphorePermit,
) {
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE);
    let routes = TowerToHyperService::new(routes);
    let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), routes));
    let mut stopping = false;
    loop {
        tokio::select! {
            // How a stranger's connection ends concerns nobody.
            _ended = served.as_mut() => return,
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}
