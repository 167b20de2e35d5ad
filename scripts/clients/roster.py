"""The eval clients that are tested, and where they live on this machine.

Owns: names, folders, commands and environments of clients. Must not know: judges, or Tribunal.
"""

import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOME = pathlib.Path(os.environ.get("CLIENTS_DIR") or ROOT / ".local/clients")
PYTHON_CLIENTS = (
    "openai_py", "litellm", "instructor", "langchain", "deepeval", "inspect", "ragas", "autoevals", "openevals", "mlflow",
    "phoenix", "pydantic_evals", "verdict", "alpaca_eval", "prometheus", "trulens", "opik",
)
NODE_CLIENTS = ("openai_js", "promptfoo")
ALL = tuple(sorted(PYTHON_CLIENTS + NODE_CLIENTS))
# The SDK in both languages and one framework: what every test run has time for.
DEFAULT = ("openai_js", "openai_py", "deepeval")
# Not a client of its own: the SDK's short forms, which a model of any size can fill. For real judges.
SHORT_FORMS = "short_forms"
WITH_REAL_JUDGES = (SHORT_FORMS, "openai_py", "openai_js", "litellm", "promptfoo", "deepeval", "inspect")

# Clients ask nobody but the judge: no telemetry, no look for updates, no price lists, no hubs.
QUIET = {
    "ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1", "NO_COLOR": "1", "CI": "1", "TOKENIZERS_PARALLELISM": "false",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0", "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "DEEPEVAL_DISABLE_DOTENV": "1", "DEEPEVAL_DISABLE_PROGRESS_BAR": "1", "ERROR_REPORTING": "0", "CONFIDENT_TRACE_FLUSH": "0",
    "INSPECT_TELEMETRY": "", "INSPECT_DISPLAY": "none", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "RAGAS_DO_NOT_TRACK": "true",
    "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false", "TRULENS_OTEL_TRACING": "0", "OPIK_TRACK_DISABLE": "true",
    "OPIK_SENTRY_ENABLE": "False", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "POSTHOG_DISABLED": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1", "PROMPTFOO_DISABLE_ERROR_LOG": "1", "PROMPTFOO_CACHE_ENABLED": "false",
}


def python_of(name):
    return HOME / name / "bin" / "python"


def node_of(name):
    """The node that the client's folder brings, or the machine's own: promptfoo needs 22.22 or newer."""
    packaged = sorted(HOME.glob(f"{name}/node_modules/node-*/bin/node"))
    return packaged[0] if packaged else "node"


def smoke_test(name):
    [path] = (HERE / "smoke").glob(f"with_{name}.*")
    return path


def command(name):
    if name == SHORT_FORMS:
        return [str(python_of("openai_py")), str(HERE / "smoke/short_forms.py")]
    return [str(python_of(name) if name in PYTHON_CLIENTS else node_of(name)), str(smoke_test(name))]


def environment(name, folder, base_url, api_key):
    """What a client sees: the judge's address, a key for it, and a home of its own for whatever it wants to keep."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "SSL_CERT_FILE", "TMPDIR") if key in os.environ}
    home = str(folder)
    keeps = {key: home for key in ("HOME", "XDG_CACHE_HOME", "PROMPTFOO_CONFIG_DIR", "INSPECT_LOG_DIR")}
    finds = {"TIKTOKEN_CACHE_DIR": str(HOME / "tiktoken"), "NODE_PATH": str(HOME / name / "node_modules")}
    return {**kept, **QUIET, **keeps, **finds, **addresses(base_url, api_key)}


def addresses(base_url, api_key):
    """Where to ask. Inspect looks for a provider's address under the provider's name."""
    return {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": api_key, "PANEL_BASE_URL": base_url, "PANEL_API_KEY": api_key}
