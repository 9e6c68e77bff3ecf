//! The proxies that the environment names, for every client of this process.

use peers::{Proxies, ProxyVariables};

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Reads the proxies of the environment. As in Go, the upper case counts first.
#[expect(clippy::disallowed_methods, reason = "the names of proxies enter here")]
pub(crate) fn proxies() -> Result<Proxies, CommandError> {
    let either = |name: &str| {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        set(name).or_else(|| set(&name.to_ascii_lowercase()))
    };
    let variables = ProxyVariables {
        https: either("HTTPS_PROXY"),
        http: either("HTTP_PROXY"),
        no: either("NO_PROXY"),
    };
    Proxies::of(&variables).map_err(|error| CommandError::new(Exit::Usage, &error))
}
