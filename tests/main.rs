//! What is only true of the whole: one test binary, so that there is one link.

#[cfg(test)]
mod tidy;
