//! The OpenAI-compatible chat format, as spoken by OpenAI, by every local server and by many hosted ones.
//!
//! `request` and `response` hold the format, one file per dialect holds what differs. Only whole answers are asked for,
//! unless a caller's body that goes as it stands (`verbatim`) asks for a stream; `stream` reads streams.

pub(crate) mod azure_openai;
mod choices;
pub(crate) mod compatible;
mod lenient_json;
pub(crate) mod llama_cpp;
pub(crate) mod mistral;
pub(crate) mod ollama;
pub(crate) mod openai_com;
pub(crate) mod openrouter;
pub(crate) mod request;
pub(crate) mod response;
pub mod stream;
mod tool_calls;
pub(crate) mod verbatim;
pub(crate) mod vllm;
