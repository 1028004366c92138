//! What every request passes: who may ask, what browsers may do with the answer, and the log.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
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
    let method = request.method().clone();
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
        let host = text(headers, header::HOST).unwrap_or_default();
        if !self.is_own(host) {
            return Err(refused(
                "the Host header names another machine; start bethe serve with --host NAME to \
                 allow its name",
            ));
        }
        // A page of another site may not ask, whatever it could do with the answer.
        let origin = text(headers, header::ORIGIN);
        let foreign = origin.is_some_and(|origin| {
            origin.split_once("://").is_none_or(|(_, own)| !own.eq_ignore_ascii_case(host))
        });
        if foreign || text(headers, HeaderName::from_static("sec-fetch-site")) == Some("cross-site")
        {
            return Err(refused("pages of other sites may not ask"));
        }
        match &self.token {
            Some(token) if is_guarded(route) && !has_token(headers, token) => {
                let message = "expected the header Authorization: Bearer TOKEN";
                Err(Failure::new(StatusCode::UNAUTHORIZED, message))
            }
            _ => Ok(()),
        }
    }

    /// Whether a `Host` header means this machine. Names that nobody allowed could be another site's
    /// that was made to lead here; addresses could not.
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

/// Pages are no secret, and results have addresses that nobody guesses.
fn is_guarded(route: &str) -> bool {
    route.starts_with("/api/") && route != super::results::ROUTE
}

fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = text(headers, header::AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
    // As long for a wrong token as for the right one.
    given.is_some_and(|given| {
        given.len() == token.len()
            && given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    })
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(token: Option<&str>) -> Access {
        Access { hosts: vec!["lab.example".to_string()], token: token.map(str::to_string) }
    }

    fn headers(given: &[(HeaderName, &str)]) -> HeaderMap {
        given.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
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
        assert!(!check(&[(HeaderName::from_static("sec-fetch-site"), "cross-site")]));
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
