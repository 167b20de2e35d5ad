//! What is only true of the whole: one test binary, so that there is one link.

#[cfg(test)]
mod access;
#[cfg(test)]
mod api;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod drills;
#[cfg(test)]
mod drop_in;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tidy;
