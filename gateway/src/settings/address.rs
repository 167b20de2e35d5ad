//! Where a server is: its address, and whether that is inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

use crate::judge::{Perimeter, ProviderKind};

/// A checked base address: `http` or `https`, a host, no credentials, no query but Azure's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Without a trailing slash.
    pub base_url: String,
    pub host: String,
    pub perimeter: Perimeter,
    pub encrypted: bool,
    /// The address has no path at all: `/v1` was probably forgotten.
    pub is_bare: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum AddressError {
    #[error("the address cannot be read: {0}")]
    Unreadable(url::ParseError),
    #[error("the address starts with `{0}:`")]
    Scheme(String),
    #[error("the address holds a user name or a password")]
    Credentials,
    #[error("the address has a query or a fragment")]
    Query,
    #[error("the address of a deployment lacks the version of the API")]
    Version,
    #[error("link-local addresses are never called")]
    LinkLocal,
}

impl AddressError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "write it like `http://10.0.0.5:8000/v1`",
            Self::Scheme(_) => "only `http://` and `https://` are called",
            Self::Credentials => "remove them and use `api_key: {env: NAME}`; treat the password as leaked",
            Self::Query => "end the address with its path, such as `/v1`",
            Self::Version => {
                "append `?api-version=2024-10-21`, or write `https://NAME.openai.azure.com/openai/v1` and the deployment's name as `model`"
            }
            Self::LinkLocal => {
                "cloud machines hand out credentials there; give the server an address of its network"
            }
        }
    }
}

impl Address {
    /// Azure's addresses, as its portal shows them: with the route of a call at the end, or of the resource alone, which
    /// has its current version below `/openai/v1`. A deployment's own address needs the version of the API.
    pub fn parse_azure(text: &str) -> Result<Self, AddressError> {
        let mut address = Self::parse(text)?;
        let mut url = Url::parse(&address.base_url).map_err(AddressError::Unreadable)?;
        let path = url.path().trim_end_matches('/').trim_end_matches("/chat/completions").to_owned();
        let path = if path.is_empty() || path == "/openai" { "/openai/v1" } else { &path };
        if path.contains("/deployments/") && url.query().is_none() {
            return Err(AddressError::Version);
        }
        url.set_path(path);
        address.base_url = url.into();
        address.is_bare = false;
        Ok(address)
    }

    /// Read with the same rules as the HTTP client's, so that no spelling of a host (`0xa9fea9fe`) slips by.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text.trim()).map_err(AddressError::Unreadable)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        let is_plain = url.query_pairs().all(|(name, _)| name == "api-version");
        if !is_plain || url.fragment().is_some() {
            return Err(AddressError::Query);
        }
        let (inside, link_local) =
            match url.host().ok_or(AddressError::Unreadable(url::ParseError::EmptyHost))? {
                Host::Domain(name) => (is_local_name(name), false),
                Host::Ipv4(ip) => (is_inside(IpAddr::V4(ip)), is_link_local(IpAddr::V4(ip))),
                Host::Ipv6(ip) => (is_inside(IpAddr::V6(ip)), is_link_local(IpAddr::V6(ip))),
            };
        if link_local {
            return Err(AddressError::LinkLocal);
        }
        Ok(Self {
            base_url: url.as_str().trim_end_matches('/').to_owned(),
            host: url.host_str().unwrap_or_default().to_owned(),
            perimeter: if inside { Perimeter::Inside } else { Perimeter::Outside },
            encrypted: url.scheme() == "https",
            is_bare: url.path().trim_matches('/').is_empty(),
        })
    }
}

/// `ADDRESS:PORT`; `localhost` is the IPv4 loopback.
pub(super) fn bind_address(text: &str) -> Option<SocketAddr> {
    let text = text.trim();
    if let Some(port) = text.strip_prefix("localhost:") {
        return Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?)));
    }
    text.parse().ok()
}

/// A name as a `Host` header has it, without a port.
pub(super) fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

fn is_inside(ip: IpAddr) -> bool {
    match plain(ip) {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local(),
    }
}

fn is_link_local(ip: IpAddr) -> bool {
    match plain(ip) {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local() || is_metadata(ip),
    }
}

/// The address of one cloud's metadata service, which lies in the unique-local range.
fn is_metadata(ip: Ipv6Addr) -> bool {
    ip == Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)
}

/// An IPv4 address wrapped into IPv6 is the IPv4 address.
fn plain(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4),
    }
}

/// The provider's usual address, if it has one.
pub(super) fn usual_address(provider: ProviderKind) -> Option<&'static str> {
    match provider {
        ProviderKind::Openai => Some("https://api.openai.com/v1"),
        ProviderKind::Vllm => Some("http://127.0.0.1:8000/v1"),
        ProviderKind::LlamaCpp => Some("http://127.0.0.1:8080/v1"),
        ProviderKind::Ollama => Some("http://127.0.0.1:11434/v1"),
        ProviderKind::Openrouter => Some("https://openrouter.ai/api/v1"),
        ProviderKind::Mistral => Some("https://api.mistral.ai/v1"),
        ProviderKind::Anthropic => Some("https://api.anthropic.com/v1"),
        ProviderKind::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
        ProviderKind::OpenaiCompatible | ProviderKind::AzureOpenai | ProviderKind::Replay => None,
    }
}

/// Whether the host is the provider's own, to which its usual key may be sent unasked.
pub(super) fn is_own_host(provider: ProviderKind, host: &str) -> bool {
    if provider == ProviderKind::AzureOpenai {
        return host.ends_with(".openai.azure.com") || host.ends_with(".cognitiveservices.azure.com");
    }
    usual_address(provider).and_then(|a| Url::parse(a).ok()).is_some_and(|u| u.host_str() == Some(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_private_addresses_are_inside() {
        let check = |text: &str, expected| {
            assert_eq!(Address::parse(text).map(|a| a.perimeter), Ok(expected), "{text}");
        };
        check("http://127.0.0.1:8000/v1", Perimeter::Inside);
        check("http://localhost:8000/v1/", Perimeter::Inside);
        check("http://10.0.0.5:8000/v1", Perimeter::Inside);
        check("http://172.16.3.4/v1", Perimeter::Inside);
        check("http://192.168.1.1/v1", Perimeter::Inside);
        check("http://[::1]:8000/v1", Perimeter::Inside);
        check("http://[fd12::1]/v1", Perimeter::Inside);
        check("http://[::ffff:10.0.0.1]/v1", Perimeter::Inside);
        check("http://2130706433/v1", Perimeter::Inside);
        check("https://api.openai.com/v1", Perimeter::Outside);
        check("http://172.32.0.1/v1", Perimeter::Outside);
        check("http://8.8.8.8/v1", Perimeter::Outside);
        check("http://localhost.example.com/v1", Perimeter::Outside);
    }

    #[test]
    fn no_spelling_of_a_link_local_address_is_called() {
        for text in [
            "http://169.254.169.254/v1",
            "http://2852039166/v1",
            "http://0xa9fea9fe/v1",
            "http://0251.0376.0251.0376/v1",
            "http://[fe80::1]/v1",
            "http://[::ffff:169.254.169.254]/v1",
            "http://[fd00:ec2::254]/v1",
        ] {
            assert_eq!(Address::parse(text), Err(AddressError::LinkLocal), "{text}");
        }
    }

    #[test]
    fn other_schemes_credentials_and_queries_are_refused() {
        let error = |text: &str| Address::parse(text).unwrap_err();
        assert_eq!(error("ftp://h/v1"), AddressError::Scheme("ftp".to_owned()));
        assert_eq!(error("file:///etc/passwd"), AddressError::Scheme("file".to_owned()));
        assert_eq!(error("https://user:pw@h/v1"), AddressError::Credentials);
        assert_eq!(error("https://h/v1?key=1"), AddressError::Query);
        assert_eq!(error("https://h/v1?api-version=1&key=1"), AddressError::Query);
        assert!(matches!(error("10.0.0.5:8000"), AddressError::Unreadable(_)));
        assert!(matches!(error("http://"), AddressError::Unreadable(_)));
    }

    #[test]
    fn azures_addresses_are_completed() {
        let check = |path: &str, expected: Result<&str, AddressError>| {
            let address = Address::parse_azure(&format!("https://x.openai.azure.com{path}"));
            let expected = expected.map(|path| format!("https://x.openai.azure.com{path}"));
            assert_eq!(address.map(|address| address.base_url), expected, "{path}");
        };
        check("", Ok("/openai/v1"));
        check("/", Ok("/openai/v1"));
        check("/openai", Ok("/openai/v1"));
        check("/openai/v1/", Ok("/openai/v1"));
        check("/openai/v1?api-version=preview", Ok("/openai/v1?api-version=preview"));
        let deployment = "/openai/deployments/d?api-version=2024-10-21";
        check(deployment, Ok(deployment));
        check("/openai/deployments/d/chat/completions?api-version=2024-10-21", Ok(deployment));
        check("/openai/deployments/d", Err(AddressError::Version));
        check("/openai/deployments/d?key=1", Err(AddressError::Query));
        assert!(AddressError::Version.hint().contains("api-version"));
    }

    #[test]
    fn trailing_slashes_and_missing_paths_are_noticed() {
        assert_eq!(Address::parse("http://h:1/v1//").unwrap().base_url, "http://h:1/v1");
        assert!(Address::parse("http://h:1").unwrap().is_bare);
        assert!(!Address::parse("http://h:1/v1").unwrap().is_bare);
    }
}
