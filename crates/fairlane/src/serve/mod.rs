//! The dashboard's server: reads records and what a running race tells of itself, and shows both.
//!
//! It opens files for reading only and makes none. `listen` takes connections and bounds them, `guard`
//! turns away whoever may not ask, `api` answers, `record_store` keeps answers, `live` is the stream of
//! progress, `page` the page itself.

mod api;
mod guard;
mod listen;
mod live;
mod page;
mod record_store;

pub use guard::Token;

use crate::commands::report::print;
use crate::failure::Failure;
use crate::listing::Index;
use crate::terminal;
use guard::Guard;
use model::page::Language;
use record_store::RecordStore;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore, watch};

/// A race comes first: this process takes what CPU is left.
const NICENESS: i32 = 10;

/// What a server is asked to be.
pub struct Settings {
    /// Where it listens.
    pub address: SocketAddr,
    /// What visitors must bring; `None`: nothing.
    pub token: Option<Token>,
    /// The folder of records.
    pub folder: PathBuf,
    /// The language that the page opens in; `None`: the browser's.
    pub language: Option<Language>,
}

/// What every answer draws on.
struct App {
    folder: PathBuf,
    language: Option<Language>,
    /// One at a time: a server that computes on all CPUs would disturb a race.
    store: Arc<Mutex<RecordStore>>,
    live: live::Glance,
    watchers: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
}

/// Serves until SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// With the documented exit statuses, when the address cannot be listened on.
pub fn run(settings: Settings) -> Result<(), Failure> {
    let Settings { address, token, folder, language } = settings;
    if !address.ip().to_canonical().is_loopback() && token.is_none() {
        return Err(Failure::usage(format!(
            "without a token everybody who can reach {address} could read the records; add --token auto, or listen on \
             127.0.0.1"
        )));
    }
    let listener = listen::bind(address)?;
    let cannot = |error: std::io::Error| Failure::failed(format!("cannot serve on {address}: {error}; try again"));
    let reached = listener.local_addr().map_err(cannot)?;
    // Nothing depends on it.
    let _ = rustix::process::nice(NICENESS);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(4)
        .build()
        .map_err(cannot)?;
    let url = url(reached, token.as_ref());
    let served = runtime.block_on(async {
        let stop = listen::stop_on_signals().map_err(cannot)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(cannot)?;
        let app = App {
            store: Arc::new(Mutex::new(RecordStore::new(folder.clone(), Index::of_kept(&folder, false)))),
            folder,
            language,
            live: live::Glance::default(),
            watchers: Arc::new(Semaphore::new(live::MOST_WATCHERS)),
            stop: stop.clone(),
        };
        let router = api::router(Arc::new(app), Arc::new(Guard::new(token)));
        if !reached.ip().to_canonical().is_loopback() {
            terminal::say!("whoever has this address reads the records, and nothing on the way is encrypted");
        }
        print(&format!("{url}\n"))?;
        listen::serve(listener, router, stop).await;
        Ok::<(), Failure>(())
    });
    // What is still being computed is computed for nobody.
    runtime.shutdown_background();
    served
}

/// What to type into a browser on this machine.
fn url(reached: SocketAddr, token: Option<&Token>) -> String {
    let ip = match reached.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let token = token.map_or_else(String::new, |token| format!("?token={}", token.as_str()));
    format!("http://{}/{token}", SocketAddr::new(ip, reached.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_can_be_typed_whatever_is_listened_on() {
        let of = |address: &str| url(address.parse().unwrap(), None);
        assert_eq!(of("127.0.0.1:7171"), "http://127.0.0.1:7171/");
        assert_eq!(of("0.0.0.0:7171"), "http://127.0.0.1:7171/");
        assert_eq!(of("[::]:80"), "http://[::1]:80/");
        let token: Token = "0123456789abcdef".parse().unwrap();
        assert_eq!(url("[::1]:9".parse().unwrap(), Some(&token)), "http://[::1]:9/?token=0123456789abcdef");
    }
}
