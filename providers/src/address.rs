//! Where a server is. Owns the address rules: http or https, no credentials, never link-local.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use reqwest::Url;

/// Why an address is refused. Messages never repeat the address: it may hold a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("address is no URL; hint: write it as `http://127.0.0.1:8080/v1`")]
    Invalid,
    #[error("address is neither http nor https")]
    Scheme,
    #[error("address holds a user name or a password; hint: give the key as `api_key`")]
    Credentials,
    #[error("address has a query or a fragment; hint: end it with the version, such as `/v1`")]
    Query,
    /// 169.254.0.0/16 and fe80::/10, which is where clouds keep their metadata services.
    #[error("address is link-local, which is never called")]
    LinkLocal,
}

/// A server's address up to and including the version, without a slash at its end.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// The address of a route below this one, such as `chat/completions`.
    pub(crate) fn join(&self, route: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{route}", self.0.path().trim_end_matches('/')));
        url
    }

    /// The address of a route at the root of the server, whatever the version path is.
    pub(crate) fn at_root(&self, route: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(route);
        url
    }

    /// Whether it has no path at all.
    pub(crate) fn is_bare(&self) -> bool {
        self.0.path().trim_matches('/').is_empty()
    }

    /// Whether it is that of one deployment at Azure.
    pub(crate) fn is_deployment(&self) -> bool {
        self.0.path().contains("/deployments/")
    }

    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Host name or address, without the port.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
}

impl FromStr for BaseUrl {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text.trim()).map_err(|_| AddressError::Invalid)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        // Azure's version of the API is the one query that a server's address carries, and every route repeats it.
        let is_plain = url.query_pairs().all(|(name, _)| name == "api-version");
        if !is_plain || url.fragment().is_some() {
            return Err(AddressError::Query);
        }
        let host = url.host_str().ok_or(AddressError::Invalid)?;
        // Why: the parser has turned `0xA9FEA9FE` and its kin into dotted form already.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if literal.is_ok_and(is_link_local) {
            return Err(AddressError::LinkLocal);
        }
        Ok(Self(url))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Also true for link-local IPv4 addresses inside IPv6 ones.
pub(crate) fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => Ipv4Addr::is_link_local(&v4),
        IpAddr::V6(v6) => {
            Ipv6Addr::is_unicast_link_local(&v6)
                || v6.to_ipv4().is_some_and(|inner| Ipv4Addr::is_link_local(&inner))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, AddressError>) {
        let parsed = text.parse::<BaseUrl>().map(|url| url.join("models").to_string());
        assert_eq!(parsed, expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn routes_are_joined_with_one_slash() {
        check("http://127.0.0.1:8080/v1", Ok("http://127.0.0.1:8080/v1/models"));
        check("http://127.0.0.1:8080/v1/", Ok("http://127.0.0.1:8080/v1/models"));
        check(" https://api.example.com ", Ok("https://api.example.com/models"));
        check(
            "https://h/openai/deployments/d?api-version=1",
            Ok("https://h/openai/deployments/d/models?api-version=1"),
        );
        check("http://[::1]:8000/v1", Ok("http://[::1]:8000/v1/models"));
        let url: BaseUrl = "http://localhost:8000/v1/".parse().unwrap();
        assert_eq!(url.at_root("/health").as_str(), "http://localhost:8000/health");
        assert_eq!(url.to_string(), "http://localhost:8000/v1");
    }

    #[test]
    fn other_addresses_are_refused() {
        check("127.0.0.1:8080", Err(AddressError::Invalid));
        check("", Err(AddressError::Invalid));
        check("ftp://host/v1", Err(AddressError::Scheme));
        check("localhost:8080/v1", Err(AddressError::Scheme));
        check("http://sk-1@host/v1", Err(AddressError::Credentials));
        check("http://u:p@host/v1", Err(AddressError::Credentials));
        check("http://host/v1?key=1", Err(AddressError::Query));
        check("http://host/v1?api-version=1&key=1", Err(AddressError::Query));
        check("http://host/v1#x", Err(AddressError::Query));
    }

    #[test]
    fn link_local_is_refused_in_every_spelling() {
        for host in [
            "169.254.169.254",
            "0xA9FEA9FE",
            "2852039166",
            "169.254.43518",
            "[fe80::1]",
            "[febf::1]",
            "[::ffff:169.254.169.254]",
            "[::169.254.169.254]",
        ] {
            check(&format!("http://{host}/v1"), Err(AddressError::LinkLocal));
        }
    }
}
