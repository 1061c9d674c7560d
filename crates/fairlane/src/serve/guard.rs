//! Who may ask: checked before any answer is made, and what every answer carries.
//!
//! A page of another site can make a browser ask this server. It cannot read the answer (no CORS header
//! is ever sent), and it is turned away: by the Origin header where there is one, and, as an image or a link
//! brings none, by what the browser says of itself in Sec-Fetch-Site (W3C, Fetch Metadata), so that it cannot
//! make the server work either. A link to the dashboard may be followed from anywhere. A name of its own
//! that it points at this machine (DNS rebinding) is turned away by the Host header.

use super::api::Refusal;
use super::listen::Reached;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

/// Of a random token: 128 bits.
const TOKEN_BYTES: usize = 16;
/// Data is no page: nothing in it is ever run or framed.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// What visitors must bring.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one: 128 random bits as 32 hexadecimal digits.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    fn random() -> Result<Token, String> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) {
            Ok(TOKEN_BYTES) => Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect())),
            _ => Err("the kernel gives no random bytes; name a token of your own".to_owned()),
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares without telling by the time it takes how much of a guess was right.
    fn is(&self, guess: &str) -> bool {
        let (own, guess) = (self.0.as_bytes(), guess.as_bytes());
        let differing = own.iter().zip(guess).fold(0_u8, |seen, (a, b)| black_box(seen | (a ^ b)));
        own.len() == guess.len() && differing == 0
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Token, String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match text {
            "auto" => Token::random(),
            _ if (16..=256).contains(&text.len()) && text.bytes().all(plain) => Ok(Token(text.to_owned())),
            _ => Err("write auto, or 16 to 256 letters, digits and -._~".to_owned()),
        }
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("Token")
    }
}

/// The rules of one server.
pub struct Guard {
    token: Option<Token>,
}

impl Guard {
    /// A guard that asks for this token.
    pub fn new(token: Option<Token>) -> Self {
        Guard { token }
    }

    fn refusal(&self, request: &Request, reached: SocketAddr) -> Option<Refusal> {
        let headers = request.headers();
        let hosts = hosts(reached);
        let known = |host: &str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        let host = only(headers, &HOST).filter(|host| known(host));
        let Some(host) = host.filter(|_| request.uri().authority().is_none_or(|of| known(of.as_str()))) else {
            return Some(Refusal::new(
                StatusCode::FORBIDDEN,
                format!("this server answers to no such host name; open http://{}/", hosts[0]),
            ));
        };
        let own = |origin: &str| origin.strip_prefix("http://").is_some_and(|from| from.eq_ignore_ascii_case(host));
        let foreign_origin = headers.contains_key(ORIGIN) && !only(headers, &ORIGIN).is_some_and(own);
        if foreign_origin || from_another_site(request) {
            return Some(Refusal::new(
                StatusCode::FORBIDDEN,
                "pages of other sites may not ask this server".to_owned(),
            ));
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let sentence = "this server only reads: it knows GET and HEAD".to_owned();
            return Some(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, sentence).with(ALLOW, "GET, HEAD"));
        }
        let allowed = self.token.as_ref().is_none_or(|token| brought(request).iter().any(|guess| token.is(guess)));
        let sentence = "the token is missing or wrong; open the address that `fairlane serve` printed".to_owned();
        (!allowed).then(|| Refusal::new(StatusCode::UNAUTHORIZED, sentence).with(WWW_AUTHENTICATE, "Bearer"))
    }
}

/// Lets a request through, or answers it here.
pub async fn check(
    State(guard): State<Arc<Guard>>,
    Extension(Reached(reached)): Extension<Reached>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.refusal(&request, reached) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    let always = [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(DATA_POLICY));
    response
}

/// The names that a server is asked by on the address that a connection came to: that address, and this
/// machine's own. Behind a wildcard every address of the machine is one that is listened on.
fn hosts(reached: SocketAddr) -> Vec<String> {
    let port = reached.port();
    let ips = [reached.ip().to_canonical(), IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let mut hosts: Vec<String> = ips.iter().map(|ip| SocketAddr::new(*ip, port).to_string()).collect();
    hosts.push(format!("localhost:{port}"));
    if port == 80 {
        // Browsers leave the usual port out.
        hosts.extend(hosts.clone().iter().filter_map(|host| host.strip_suffix(":80").map(str::to_owned)));
    }
    hosts
}

/// Whether the browser says that another site, or another port of this host, made it ask: with anything but
/// a link to the dashboard itself. What is no browser says nothing.
fn from_another_site(request: &Request) -> bool {
    let of = |name: &'static str| request.headers().get_all(HeaderName::from_static(name)).iter();
    let harmless = |site: &HeaderValue| site == "same-origin" || site == "none";
    let followed = request.uri().path() == "/" && of("sec-fetch-mode").eq(["navigate"]);
    !of("sec-fetch-site").all(harmless) && !followed
}

/// The value of a header that must not come twice.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok())?
}

/// The tokens that a request brings, in its query or as a bearer.
fn brought(request: &Request) -> Vec<&str> {
    let query = request.uri().query().unwrap_or_default();
    let in_query = query.split('&').filter_map(|pair| pair.strip_prefix("token="));
    let bearer = only(request.headers(), &AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    in_query.chain(bearer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn asked(address: &str, token: Option<&str>, method: &str, uri: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let mut request = axum::http::Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let guard = Guard::new(token.map(|token| token.parse().unwrap()));
        let refused = guard.refusal(&request.body(Body::empty()).unwrap(), address.parse().unwrap());
        refused.map(|refusal| refusal.status().as_u16())
    }

    #[test]
    fn only_names_of_this_machine_with_the_port_are_answered() {
        let host = |address: &str, host: &str| asked(address, None, "GET", "/", &[("host", host)]);
        for good in ["127.0.0.1:7171", "localhost:7171", "LocalHost:7171", "[::1]:7171"] {
            assert_eq!(host("127.0.0.1:7171", good), None, "{good}");
        }
        for bad in [
            "",
            "127.0.0.1",
            "127.0.0.1:7172",
            "localhost",
            "evil.example:7171",
            "127.0.0.1:7171.evil.example",
            "localhost.:7171",
            "192.168.1.5:7171",
            "0.0.0.0:7171",
            "127.0.0.1:7171, evil.example",
        ] {
            assert_eq!(host("127.0.0.1:7171", bad), Some(403), "{bad}");
        }
        assert_eq!(host("192.168.1.5:7171", "192.168.1.5:7171"), None);
        assert_eq!(host("[::ffff:192.168.1.5]:7171", "192.168.1.5:7171"), None, "a wildcard of both families");
        assert_eq!(host("192.168.1.5:7171", "192.168.1.6:7171"), Some(403));
        assert_eq!(host("127.0.0.1:80", "localhost"), None);
        assert_eq!(host("[::1]:80", "[::1]"), None);
        let twice = [("host", "127.0.0.1:1"), ("host", "127.0.0.1:1")];
        assert_eq!(asked("127.0.0.1:1", None, "GET", "/", &twice), Some(403));
        assert_eq!(asked("127.0.0.1:1", None, "GET", "/", &[]), Some(403));
        assert_eq!(asked("127.0.0.1:1", None, "GET", "http://evil.example/", &twice[..1]), Some(403));
    }

    #[test]
    fn an_origin_is_absent_or_the_same() {
        let origin =
            |origin: &str| asked("127.0.0.1:7171", None, "GET", "/", &[("host", "localhost:7171"), ("origin", origin)]);
        assert_eq!(origin("http://localhost:7171"), None);
        for bad in [
            "null",
            "",
            "http://127.0.0.1:7171",
            "https://localhost:7171",
            "http://localhost:7172",
            "http://evil.example",
            "http://localhost:7171.evil.example",
        ] {
            assert_eq!(origin(bad), Some(403), "{bad}");
        }
    }

    #[test]
    fn other_sites_may_only_link_to_the_dashboard() {
        let asks = |path: &str, site: &str, mode: &str| {
            let headers = [("host", "localhost:7171"), ("sec-fetch-site", site), ("sec-fetch-mode", mode)];
            asked("127.0.0.1:7171", None, "GET", path, &headers)
        };
        for path in ["/", "/?token=x", "/api/records", "/api/race/a.jsonl"] {
            for mode in ["cors", "navigate", "no-cors"] {
                assert_eq!(asks(path, "same-origin", mode), None, "{path} {mode}");
                assert_eq!(asks(path, "none", mode), None, "{path} {mode}");
            }
            for site in ["cross-site", "same-site", "", "of tomorrow"] {
                let followed = path.starts_with("/api").then_some(403);
                assert_eq!(asks(path, site, "navigate"), followed, "{path} {site}");
                for mode in ["no-cors", "cors", "websocket", ""] {
                    assert_eq!(asks(path, site, mode), Some(403), "{path} {site} {mode}");
                }
            }
        }
    }

    #[test]
    fn it_only_reads() {
        let method = |method: &str| asked("127.0.0.1:1", None, method, "/api/records", &[("host", "localhost:1")]);
        assert_eq!((method("GET"), method("HEAD")), (None, None));
        for bad in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"] {
            assert_eq!(method(bad), Some(405), "{bad}");
        }
    }

    #[test]
    fn a_token_is_asked_for_wherever_there_is_one() {
        let token = "0123456789abcdef";
        let with = |uri: &str, bearer: Option<&str>| {
            let mut headers = vec![("host", "localhost:1")];
            headers.extend(bearer.map(|bearer| ("authorization", bearer)));
            asked("127.0.0.1:1", Some(token), "GET", uri, &headers)
        };
        assert_eq!(with("/?token=0123456789abcdef", None), None);
        assert_eq!(with("/api/trend?workload=a&token=0123456789abcdef", None), None);
        assert_eq!(with("/", Some("Bearer 0123456789abcdef")), None);
        assert_eq!(with("/", Some("bearer  0123456789abcdef")), None);
        for bad in
            ["/", "/?token=", "/?token=0123456789abcde", "/?token=0123456789abcdef0", "/?xtoken=0123456789abcdef"]
        {
            assert_eq!(with(bad, None), Some(401), "{bad}");
        }
        for bad in ["0123456789abcdef", "Basic 0123456789abcdef", "Bearer", "Bearer 0123456789abcdeF"] {
            assert_eq!(with("/", Some(bad)), Some(401), "{bad}");
        }
    }

    #[test]
    fn a_random_token_is_128_bits_and_a_short_or_odd_one_is_refused() {
        let (a, b): (Token, Token) = ("auto".parse().unwrap(), "auto".parse().unwrap());
        assert!(a.as_str() != b.as_str() && a.as_str().len() == 32 && !a.is(b.as_str()) && a.is(a.as_str()));
        assert!(a.as_str().parse::<Token>().is_ok());
        for bad in ["", "short", "fifteen-letters", "0123456789abcdef&", "0123456789abcdéf", &"a".repeat(257)] {
            assert!(bad.parse::<Token>().is_err(), "{bad}");
        }
        assert!(!format!("{a:?}").contains(a.as_str()));
    }
}
