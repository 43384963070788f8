"""Settings of the site. Everything has a default that works on a laptop; environment variables change it.

The variables are described in the README under "Settings".
"""

import os
from pathlib import Path

from csp.constants import NONE, SELF

from labeling.prelabels.costs import price_table
from pooling.interface.assets import ASSETS_DIR, BASE_DIR, IN_CHECKOUT
from soundings.installation.data_folder import (
    OWN_FILE,
    OWN_FOLDER,
    close_database,
    close_folder,
    stored_secret_key,
)
from soundings.installation.elsewhere import require_library
from soundings.installation.environment import LONGEST_DAYS, Environment
from soundings.installation.sign_in import allauth_apps, passwords_of, provider_of, second_factor_of
from soundings.serving.logs import logging_of

# Strategies that learn solve many small systems of equations: with a thread per core these only wait for each
# other, and every process would start as many. Read once, when NumPy is loaded; processes of ours inherit it.
for threads in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(threads, "1")

env = Environment()

DATA_DIR = Path(env.str("SOUNDINGS_DATA", default=str((BASE_DIR if IN_CHECKOUT else Path.cwd()) / "data")))

DEBUG = env.switch("SOUNDINGS_DEBUG", default=False)
SECRET_KEY = env.str("SOUNDINGS_SECRET_KEY", default="") or stored_secret_key(DATA_DIR)
close_folder(DATA_DIR)
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = env.hosts("SOUNDINGS_HOSTS", default=LOCAL_HOSTS)
CSRF_TRUSTED_ORIGINS = env.origins("SOUNDINGS_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "soundings",
    "pooling",
    "labeling",
    "evaluation",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_tasks",
    "django_tasks_db",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "axes",
    "csp",
]

MIDDLEWARE = [
    "soundings.serving.requests.watched",
    "django.middleware.security.SecurityMiddleware",
    "soundings.pages.compressing.CompressedStatic",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "soundings.sign_in.keeping.sessions_end_when_idle",
    "soundings.trail.writing.downloads_written",
    "soundings.pages.caching.kept_by_nobody",
    "soundings.accounts.languages.Languages",
    "soundings.pages.caching.interface_version",
    "labeling.judging.same_account.same_account",
    "soundings.pages.refusing.Refusing",
    "django.contrib.messages.middleware.MessageMiddleware",
    "soundings.sign_in.leading_back.forms_lead_back",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "soundings.urls"
WSGI_APPLICATION = "soundings.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n"],
            "libraries": {"navigation": "soundings.pages.navigation"},
        },
    },
]

# --- Database ---------------------------------------------------------------------------------------------

DATABASES = {"default": env.database("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'soundings.sqlite3'}")}
if ON_SQLITE := DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A writer takes its lock at BEGIN and waits its turn, so that no transaction fails half way as "locked".
    DATABASES["default"].setdefault("OPTIONS", {}).update(
        transaction_mode="IMMEDIATE",
        timeout=30,
        # What was acknowledged is on the disk, also when the power fails.
        init_command="PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    )
    if ":memory:" not in (file := str(DATABASES["default"]["NAME"])):
        close_database(Path(file))
# Read on every database, so that it is no unknown variable on SQLite.
PREPARED_STATEMENTS = env.switch("SOUNDINGS_PREPARED_STATEMENTS", default=True)
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"].update(ENGINE="soundings.postgresql", CONN_MAX_AGE=60, CONN_HEALTH_CHECKS=True)
    if PREPARED_STATEMENTS:
        # What fifty people ask again and again is planned once for each connection.
        DATABASES["default"].setdefault("OPTIONS", {}).update(server_side_binding=True, prepare_threshold=5)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Files, static files, background work -----------------------------------------------------------------

MEDIA_ROOT = DATA_DIR / "files"
# What is computed from stored files and may be deleted at any time.
DERIVED_DIR = DATA_DIR / "derived"
# Copies of files that are stored elsewhere may take so much of it before the oldest go.
STORED_COPIES_BYTES = 10_000_000_000
STORAGES = {
    "default": env.storage("SOUNDINGS_FILE_STORAGE"),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = OWN_FILE, OWN_FOLDER
STATIC_URL = "static/"
STATICFILES_DIRS = [ASSETS_DIR / "static"]
# Served from where they lie: nothing to collect, and nothing stale after an upgrade.
WHITENOISE_USE_FINDERS = True
# Figures that take long to compute; several machines share what they have computed.
CACHES = {"default": env.shared("CACHE_URL")}

TASKS = {
    "default": {
        "BACKEND": "django_tasks_db.DatabaseBackend",
        # Each has a thread of a worker: anyone who waits for an import does not wait for a slow model, and no
        # message waits for either.
        "QUEUES": ["default", "models", "messages"],
    },
}

# Processes that share these queues: on SQLite, where one writes at a time, a single one does it all.
WORKER_PROCESSES = env.whole("SOUNDINGS_WORKER_PROCESSES", default=1 if ON_SQLITE else 3, least=1)

# A job says as often that its worker lives; 0 means never, and only for tests.
JOB_BEAT_SECONDS = 5.0

# Uploads above the first bound go to the background worker; above the second, uncompressed, they are refused.
BACKGROUND_UPLOAD_BYTES = env.whole("SOUNDINGS_BACKGROUND_UPLOAD_BYTES", default=2_000_000)
MAX_UPLOAD_BYTES = env.whole("SOUNDINGS_MAX_UPLOAD_BYTES", default=4_000_000_000, least=1)
# Files that an account may send in an hour; 0 is as many as it likes.
UPLOADS_PER_HOUR = env.whole("SOUNDINGS_UPLOADS_PER_HOUR", default=0)
# The longest title, text or metadata of a query or document.
MAX_TEXT_CHARACTERS = env.whole("SOUNDINGS_MAX_TEXT_CHARACTERS", default=1_000_000, least=1)
# What builds within a request; a larger pool goes to the background worker.
BACKGROUND_POOL_PAIRS = 5_000
# A queue over more pairs is opened by the background worker.
BACKGROUND_QUEUE_PAIRS = 20_000
# A report on runs with more rows than this in all goes to the background worker.
BACKGROUND_REPORT_ROWS = 1_000_000
# A replay of more judgments than this, over all strategies and seeds, goes to the background worker.
BACKGROUND_REPLAY_STEPS = 20_000

# Who pauses people whose answers to gold questions are too often wrong, unless a queue says otherwise: the
# rule (automatic) or an admin.
GOLD_PAUSE = env.choice("SOUNDINGS_GOLD_PAUSE", ("automatic", "proposed"))

# Days that notes on verdicts are kept; 0 is for good.
NOTE_DAYS = env.whole("SOUNDINGS_NOTE_DAYS", default=0, most=LONGEST_DAYS)

# What a judgment costs, unless a queue says otherwise.
PRICE_PER_JUDGMENT = env.amount("SOUNDINGS_PRICE_PER_JUDGMENT", default=0.0, most=1e9)
CURRENCY = env.str("SOUNDINGS_CURRENCY", default="EUR")

# Servers of language models that pages may use, by base URL. The key of the environment belongs to the first
# and is sent to no other. Prices are MODEL=INPUT/OUTPUT for a million tokens each.
LLM_SERVERS = env.list("SOUNDINGS_LLM_SERVERS", default=["https://api.openai.com/v1"])
LLM_API_KEY = env.str("SOUNDINGS_OPENAI_API_KEY", default="") or env.str("OPENAI_API_KEY", default="")
LLM_PRICES = env.entries("SOUNDINGS_LLM_PRICES", price_table)
LLM_CURRENCY = env.str("SOUNDINGS_LLM_CURRENCY", default="USD")
# Who may spend on the site's key.
SITE_KEY_USERS = env.choice("SOUNDINGS_SITE_KEY_USERS", ("admins", "site-admins"))
LLM_TIMEOUT = env.amount("SOUNDINGS_LLM_TIMEOUT", default=60.0, least=0.1, most=86_400)  # seconds
# Answers that are not in the database yet; with several machines, a pass is resumed where it ran.
LLM_JOURNAL_DIR = DATA_DIR / "prelabels"
PROMPTS_DIR = ASSETS_DIR / "templates" / "prompts"
# A body that is no file; as objects of Python it takes up to 25 times as many bytes.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
# All runs of a track in one upload.
DATA_UPLOAD_MAX_NUMBER_FILES = 500
FILE_UPLOAD_HANDLERS = [
    "pooling.interface.uploads.BoundedUpload",  # drops a file above the bound while it arrives
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# --- Sign-in and safety -----------------------------------------------------------------------------------

# The provider of OpenID Connect that signs people in, whether passwords do, and whether these have a second
# factor. What django-allauth needs is there only where one of these is wanted.
OIDC = provider_of(env)
PASSWORDS = passwords_of(env, OIDC)
SECOND_FACTOR = second_factor_of(env)
if signing_in := allauth_apps(OIDC, SECOND_FACTOR):
    INSTALLED_APPS += signing_in
    MIDDLEWARE += [
        "allauth.account.middleware.AccountMiddleware",
        "soundings.sign_in.due.SecondFactorDue",
    ]
    ACCOUNT_EMAIL_VERIFICATION = "none"
    SOCIALACCOUNT_ADAPTER = "soundings.sign_in.provider.CompanyAdapter"
    MFA_ADAPTER = "soundings.sign_in.sealing.SealedSecrets"
    MFA_TOTP_ISSUER = "Soundings"

AUTHENTICATION_BACKENDS = [
    "soundings.sign_in.passwords.PasswordsAllowed",
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "soundings.sign_in.passwords.ByProvider",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"

AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "soundings/locked_out.html"
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code"]
AXES_HANDLER = "soundings.accounts.throttling.ThrottledByAddress"
AXES_CLIENT_IP_CALLABLE = "soundings.accounts.throttling.client_address"
# Failures that one address may cause within that time, whatever the names.
FAILURES_PER_ADDRESS = env.whole("SOUNDINGS_FAILURES_PER_ADDRESS", default=40, least=1)
TLS = env.switch("SOUNDINGS_TLS", default=False)
# Proxies in front, each of which appends to X-Forwarded-For where it was asked from.
PROXIES = env.whole("SOUNDINGS_PROXIES", default=1 if TLS else 0)
SILENCED_SYSTEM_CHECKS = ["axes.W006"]

# Days that names, addresses and browsers of sign-ins and of wrong passwords are kept.
SIGN_IN_LOG_DAYS = env.whole("SOUNDINGS_SIGN_IN_LOG_DAYS", default=30, most=LONGEST_DAYS)
# Who may create collections, and so use what belongs to the whole site, such as the key of a model server.
COLLECTION_CREATORS = env.choice("SOUNDINGS_COLLECTION_CREATORS", ("site-admins", "everyone"))

# Who may delete an account: its owner as well, or site admins alone.
ACCOUNT_DELETION = env.choice("SOUNDINGS_ACCOUNT_DELETION", ("everyone", "site-admins"))

# How long a token of a program works where nobody says otherwise; 0 is as long as the password.
TOKEN_DAYS = env.whole("SOUNDINGS_TOKEN_DAYS", default=90, most=LONGEST_DAYS)

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "soundings.pages.refusing.form_expired"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
# Minutes after which a session that nobody uses ends; 0: after two weeks, used or not.
SESSION_IDLE_MINUTES = env.whole("SOUNDINGS_SESSION_IDLE_MINUTES", default=0, most=LONGEST_DAYS * 24 * 60)

if TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)/$"]  # asked from inside, past the proxy
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 30
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    LANGUAGE_COOKIE_SECURE = True

# --- Mail -------------------------------------------------------------------------------------------------

MAIL_URL = env.str("SOUNDINGS_MAIL_URL", default="")
SENDS_MAIL = bool(MAIL_URL)
if SENDS_MAIL:
    globals().update(env.mail("SOUNDINGS_MAIL_URL"))
EMAIL_TIMEOUT = 10  # seconds: a mail server that is away holds nobody's page up
DEFAULT_FROM_EMAIL = env.sender("SOUNDINGS_MAIL_FROM", default="soundings@localhost")

# What one account, or one address that nobody is signed in at, may have sent in an hour.
LETTERS_PER_HOUR = 30

# Webhooks of canaries go to public addresses, and into these networks.
WEBHOOK_PRIVATE_NETWORKS = env.networks("SOUNDINGS_WEBHOOK_PRIVATE_NETWORKS")

# --- Search engines ---------------------------------------------------------------------------------------

# Engines are asked at public addresses, and in these networks; a list apart, since answers are shown.
ENGINE_PRIVATE_NETWORKS = env.networks("SOUNDINGS_ENGINE_PRIVATE_NETWORKS")
# Databases that engines may ask, by name. They are not among DATABASES: nothing else of the site opens them.
SEARCH_DATABASES = env.databases("SOUNDINGS_SEARCH_DATABASES")

# --- HTTP interface ---------------------------------------------------------------------------------------

# Calls that an account, and that each token, may make in a minute; 0 is as many as it likes.
CALLS_PER_MINUTE = env.whole("SOUNDINGS_CALLS_PER_MINUTE", default=0)
TOKEN_CALLS_PER_MINUTE = env.whole("SOUNDINGS_TOKEN_CALLS_PER_MINUTE", default=0)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "soundings.accounts.authentication.PlainTokenAuthentication",
        "soundings.accounts.authentication.BySession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["soundings.accounts.call_limits.CallLimit"],
    "DEFAULT_PARSER_CLASSES": [
        "pooling.interface.parsers.ShallowJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "pooling.interface.api.OneBodySchema",
    "EXCEPTION_HANDLER": "pooling.interface.api.problem_response",
}
# Counts up when a name of the interface goes or changes its meaning; every answer below /api/ says it.
INTERFACE_VERSION = "1"
SPECTACULAR_SETTINGS = {
    "TITLE": "Soundings",
    "DESCRIPTION": "Pool runs, judge pairs, freeze qrels, measure Recall@K.",
    "VERSION": INTERFACE_VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    # What is sent and what is answered are two shapes: files are binary in the one, addresses in the other.
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "DeliveryState": "evaluation.models.CanaryDelivery.State",
        "JobState": "pooling.models.Job.State",
        "LabelRule": "labeling.consensus.rules.RULE_NAMES",
        "QueueState": "labeling.models.Queue.State",
        "SampleMethod": "labeling.quality.samples.METHODS",
        "SupportVerdict": "labeling.models.SupportVerdict",
        "Verdict": "labeling.models.Verdict",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# --- Language, time, logs ---------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
# Of the pages of annotators; each named in itself. A language more is a folder of `locale` and a line here.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español"), ("hi", "हिन्दी"), ("ja", "日本語")]
LOCALE_PATHS = [ASSETS_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 60 * 60 * 24 * 365
LANGUAGE_COOKIE_SAMESITE = "Lax"
TIME_ZONE = env.str("SOUNDINGS_TIME_ZONE", default="UTC")
USE_I18N = True
USE_TZ = True

LOG_FORMAT = env.str("SOUNDINGS_LOG_FORMAT", default="text")
LOGGING = logging_of(
    LOG_FORMAT,
    env.str("SOUNDINGS_LOG_LEVEL", default="WARNING"),
    requests=LOG_FORMAT == "json",
)

# --- Seen from outside ------------------------------------------------------------------------------------

# Figures at /metrics/, for programs with the token or from these networks; without either there are none.
METRICS_TOKEN = env.str("SOUNDINGS_METRICS_TOKEN", default="")
METRICS_NETWORKS = env.networks("SOUNDINGS_METRICS_NETWORKS")
METRICS = bool(METRICS_TOKEN or METRICS_NETWORKS)
if METRICS:
    require_library("SOUNDINGS_METRICS_TOKEN", ("prometheus_client",), "metrics")
SENTRY_DSN = env.str("SOUNDINGS_SENTRY_DSN", default="")
if SENTRY_DSN:
    require_library("SOUNDINGS_SENTRY_DSN", ("sentry_sdk",), "sentry")

# Set by somebody who expects something of it, and nothing reads it.
UNREAD_VARIABLES = env.unread()
