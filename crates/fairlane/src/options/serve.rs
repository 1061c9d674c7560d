//! Options of the dashboard's server.

use crate::serve::Token;
use clap::Args;
use model::page::Language;
use std::net::SocketAddr;
use std::path::PathBuf;

const SERVE_HELP: &str = "\
Prints the URL to open and serves it until Ctrl-C, which ends it with status 0. It is a process of
its own: it reads records and what a running race tells of itself, and starts, writes and deletes
nothing.

  fairlane serve                                         http://127.0.0.1:7171, for this machine
  fairlane serve --listen 127.0.0.1:0                    a free port
  fairlane serve --listen 192.168.1.5:7171 --token auto  for the network, for who has the URL";

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct Serve {
    /// Listen here; port 0 takes a free one. Addresses that others can reach need a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7171", value_parser = parse_address)]
    pub listen: SocketAddr,
    /// Answer only who brings this: 16 to 256 letters, digits and `-._~`; `auto` makes a random one. A
    /// token on the command line can be read by whoever lists this machine's processes
    #[arg(long, value_name = "TOKEN|auto", value_parser = str::parse::<Token>)]
    pub token: Option<Token>,
    /// Folder of the records; default: the one where races keep them
    #[arg(long, value_name = "DIR")]
    pub records: Option<PathBuf>,
    /// Language that the page opens in: en, zh or de; default: the browser's own
    #[arg(long, value_name = "LANGUAGE", value_parser = crate::language::parse)]
    pub lang: Option<Language>,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    // The one name that needs no name server.
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numeric.as_deref().unwrap_or(text).parse().map_err(|_| {
        "write a numeric address and a port, such as 127.0.0.1:7171, [::1]:7171 or 192.168.1.5:7171".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_numeric_but_for_localhost() {
        assert_eq!(parse_address("localhost:80"), Ok(SocketAddr::from(([127, 0, 0, 1], 80))));
        assert!(parse_address("[::1]:0").is_ok_and(|address| address.is_ipv6()));
        for wrong in ["", "7171", "127.0.0.1", "example.org:80", "localhost:", "127.0.0.1:65536", "::1:80 ", "\0"] {
            assert!(parse_address(wrong).is_err_and(|said| said.contains("127.0.0.1:7171")), "{wrong:?}");
        }
    }
}
