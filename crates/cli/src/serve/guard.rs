//! Checks that every request passes: who may ask, what browsers may do with the answer, and the
//! log.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bethe_terminal::say;

use super::Service;
use super::failure::Failure;

/// Who may ask.
pub struct Access {
    /// Names of this machine besides `localhost` and its addresses.
    pub hosts: Vec<String>,
    pub token: Option<String>,
}

/// What pages may load: nothing from elsewhere.
const POLICY: &str =
    "default-src 'self'; frame-ancestors 'self'; form-action 'none'; base-uri 'none'";

/// Methods that the log names; others could be any text that a client sent.
static METHODS: [Method; 5] =
    [Method::GET, Method::HEAD, Method::OPTIONS, Method::POST, Method::PUT];

/// Headers of every answer that does not have its own.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Refuses strangers, adds headers, writes the log.
pub async fn guard(
    State(service): State<Arc<Service>>,
    route: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let method = METHODS.iter().find(|own| *own == request.method());
    let method = method.map_or("other", Method::as_str);
    let path = route.as_ref().map_or("none", |route| route.as_str());
    let mut response = match service.access.check(path, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    if !service.quiet {
        // The route, not the address: what people ask for is nobody's business.
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        say(&format!(
            "time={:.3} method={method} route={path} status={} ms={:.1}",
            time.as_secs_f64(),
            response.status().as_u16(),
            begun.elapsed().as_secs_f64() * 1e3
        ));
    }
    response
}

impl Access {
    fn check(&self, route: &str, headers: &HeaderMap) -> Result<(), Failure> {
        let refused = |message: &str| Failure::new(StatusCode::FORBIDDEN, message);
        let host = only(headers, header::HOST).ok().flatten().unwrap_or_default();
        if !self.is_own(host) {
            return Err(refused(
                "the Host header names another machine; start bethe serve with --host NAME to \
                 allow its name",
            ));
        }
        let shows_a_page = is_link(headers) && !route.starts_with("/api/");
        if is_of_another_page(headers, host) && !shows_a_page {
            return Err(refused("requests from pages of other sites are refused"));
        }
        match &self.token {
            Some(token) if is_guarded(route) && !has_token(headers, token) => {
                let message = "expected the header Authorization: Bearer TOKEN";
                Err(Failure::new(StatusCode::UNAUTHORIZED, message))
            }
            _ => Ok(()),
        }
    }

    /// Whether a `Host` header means this machine. A name that was not allowed could be another
    /// site's, pointed at this machine; an address could not.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        bare.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// Whether a page of another site or port asks: it may not, whatever it could do with the answer.
fn is_of_another_page(headers: &HeaderMap, host: &str) -> bool {
    let is_own = |origin: &str| {
        origin.split_once("://").is_some_and(|(_, own)| own.eq_ignore_ascii_case(host))
    };
    let site = only(headers, HeaderName::from_static("sec-fetch-site"));
    !only(headers, header::ORIGIN).is_ok_and(|origin| origin.is_none_or(is_own))
        || !site.is_ok_and(|site| site.is_none_or(|own| ["same-origin", "none"].contains(&own)))
}

/// Whether a person follows a link, which shows them our page and nobody else.
fn is_link(headers: &HeaderMap) -> bool {
    let is = |name, value| only(headers, HeaderName::from_static(name)) == Ok(Some(value));
    is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
        && !headers.contains_key(header::ORIGIN)
}

/// Pages are not secret, and results have addresses that nobody guesses.
fn is_guarded(route: &str) -> bool {
    route.starts_with("/api/") && route != super::results::ROUTE
}

fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = only(headers, header::AUTHORIZATION).ok().flatten();
    let given = given.and_then(|text| text.strip_prefix("Bearer "));
    // Takes as long for a wrong token as for the right one.
    given.is_some_and(|given| {
        given.len() == token.len()
            && given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    })
}

/// A header that is not text, or comes more than once.
#[derive(Debug, PartialEq)]
struct Unclear;

/// The value of a header.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Unclear> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(|value| value.to_str().map_err(|_| Unclear)).transpose()?;
    if values.next().is_none() { Ok(value) } else { Err(Unclear) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(token: Option<&str>) -> Access {
        Access { hosts: vec!["lab.example".to_string()], token: token.map(str::to_string) }
    }

    fn headers(given: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        let access = access(None);
        for own in [
            "localhost",
            "LOCALHOST:8070",
            "127.0.0.1:1",
            "[::1]:8070",
            "10.0.0.7",
            "lab.example:80",
        ] {
            assert!(access.is_own(own), "{own}");
        }
        for other in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "lab.example.",
            ":80",
        ] {
            assert!(!access.is_own(other), "{other}");
        }
    }

    #[test]
    fn a_request_names_one_machine() {
        let named = |hosts: &[&str]| {
            let given: Vec<_> = hosts.iter().map(|&own| (header::HOST, own)).collect();
            access(None).check("/", &headers(&given)).is_ok()
        };
        assert!(named(&["localhost"]));
        assert!(!named(&[]) && !named(&["localhost", "evil.example"]) && !named(&["evil.example"]));
    }

    #[test]
    fn other_sites_may_not_ask() {
        let check = |given: &[(HeaderName, &str)]| {
            let host = [(header::HOST, "localhost:8070")];
            access(None).check("/api/v1/cite", &headers(&[&host, given].concat())).is_ok()
        };
        assert!(check(&[]));
        assert!(check(&[(header::ORIGIN, "http://localhost:8070")]));
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost:1",
            "http://localhost:8070.evil.example",
        ] {
            assert!(!check(&[(header::ORIGIN, origin)]), "{origin}");
        }
        assert!(!check(&[(header::ORIGIN, "http://localhost:8070"), (header::ORIGIN, "null")]));
        let site = |value| (HeaderName::from_static("sec-fetch-site"), value);
        assert!(check(&[site("same-origin")]) && check(&[site("none")]));
        assert!(!check(&[site("cross-site")]) && !check(&[site("same-site")]));
        let mut unclear = headers(&[(header::HOST, "localhost")]);
        unclear.insert(header::ORIGIN, HeaderValue::from_bytes(b"http://\xe4").unwrap());
        assert!(access(None).check("/api/v1/cite", &unclear).is_err());
    }

    #[test]
    fn links_of_other_sites_show_pages_and_nothing_else() {
        let check = |route: &str, mode: &'static str| {
            let given = [
                (header::HOST, "localhost"),
                (HeaderName::from_static("sec-fetch-site"), "cross-site"),
                (HeaderName::from_static("sec-fetch-mode"), mode),
                (HeaderName::from_static("sec-fetch-dest"), "document"),
            ];
            access(None).check(route, &headers(&given)).is_ok()
        };
        assert!(check("/", "navigate"));
        assert!(!check("/", "no-cors") && !check("/api/v1/version", "navigate"));
    }

    #[test]
    fn a_token_guards_the_service_and_not_the_pages() {
        let access = access(Some("secret"));
        let check = |route: &str, token: &str| {
            let given = [(header::HOST, "localhost"), (header::AUTHORIZATION, token)];
            access.check(route, &headers(&given)).is_ok()
        };
        assert!(check("/api/v1/cite", "Bearer secret"));
        assert!(check("/", "") && check(super::super::results::ROUTE, ""));
        for wrong in ["", "secret", "Bearer secre", "Bearer secrets", "Bearer Secret"] {
            assert!(!check("/api/v1/cite", wrong), "{wrong}");
        }
    }
}
