/**
 * All problems that have a stable name, a row each: what HTTP, other protocols, the client's library and
 * minari-cli make of it stands here and nowhere else. A name never changes.
 */
#ifndef HUB_BASE_PROBLEMS_H
#define HUB_BASE_PROBLEMS_H

#include <stdbool.h>

/**
 * X(code, name, HTTP status, status of the client's library, title, further members of hub_problem_row).
 * HTTP 0: a hub answers with the name that belongs to the error's hub_status. Client OK: the library goes
 * by the hub_status too. The remedy is what minari-cli adds: %i is the id at hand, %c the command, %r the
 * remote, %o who chose it, %w how `list` names it, %m the minutes it asks to wait.
 */
#define HUB_PROBLEMS(X)                                                                                      \
    /* What a hub answers requests with. */                                                                  \
    X(BAD_REQUEST, "bad-request", 400, OK, "The request is malformed")                                       \
    X(BAD_PARAMETER, "bad-parameter", 400, OK, "A query parameter is not valid")                             \
    X(BAD_ID, "bad-id", 400, OK, "The dataset id is not valid")                                              \
    X(BAD_CURSOR, "bad-cursor", 400, OK, "The cursor is not valid")                                          \
    X(BAD_WHERE, "bad-where", 400, OK, "The filter of episodes is not valid")                                \
    X(BAD_SLICE, "bad-slice", 400, OK, "The slice is not valid")                                             \
    X(BAD_TOKEN, "bad-token", 401, OK, "The token is not valid",                                             \
      .remedy = "give another token by minari-cli login %r or MINARI_HUB_TOKEN: the hub's administrator "    \
                "makes one")                                                                                 \
    X(TOO_MANY_TRIES, "too-many-tries", 429, OK, "Too many tokens that are not valid", .retry_s = 60)        \
    X(SIGN_IN, "sign-in", 401, OK, "A token is needed", .hugging_face = "RepoNotFound",                      \
      .remedy = "give a token that may read it by minari-cli login %r or MINARI_HUB_TOKEN: the hub's "       \
                "administrator makes one")                                                                   \
    X(FORBIDDEN, "forbidden", 403, OK, "Not allowed",                                                        \
      .remedy = "ask the hub's administrator for a token that may do this")                                  \
    X(READ_ONLY, "read-only", 403, OK, "The hub is read-only",                                               \
      .remedy = "the hub's administrator started it so: ask when it takes changes again")                    \
    X(DATASET_NOT_FOUND, "dataset-not-found", 404, OK, "There is no such dataset",                           \
      .hugging_face = "RepoNotFound", .remedy = "minari-cli list %w --all shows what is there")              \
    X(EPISODE_MISSING, "episode-missing", 404, OK, "There is no such episode",                               \
      .remedy = "minari-cli episodes %i shows the numbers that are there")                                   \
    X(FIELD_NOT_FOUND, "field-not-found", 404, OK, "There is no such field",                                 \
      .remedy = "minari-cli show %i lists the fields")                                                       \
    X(CAMERA_NOT_FOUND, "camera-not-found", 404, OK, "There is no such camera",                              \
      .remedy = "the cameras are named above; the last part of a name is enough")                            \
    X(FILE_NOT_FOUND, "file-not-found", 404, OK, "There is no such file", .hugging_face = "EntryNotFound")   \
    X(NAMESPACE_NOT_FOUND, "namespace-not-found", 404, OK, "There is no such namespace")                     \
    X(REVISION_NOT_FOUND, "revision-not-found", 404, OK, "There is no such revision",                        \
      .hugging_face = "RevisionNotFound", .remedy = "minari-cli revisions %i lists those that there are")    \
    X(MIRROR_NOT_FOUND, "mirror-not-found", 404, OK, "There is no such mirror rule")                         \
    X(TOKEN_NOT_FOUND, "token-not-found", 404, OK, "There is no such token")                                 \
    X(RULE_NOT_FOUND, "rule-not-found", 404, OK, "There is no such access rule")                             \
    X(JOB_NOT_FOUND, "job-not-found", 404, OK, "There is no such job")                                       \
    X(DRAFT_NOT_FOUND, "draft-not-found", 404, OK, "There is no such draft")                                 \
    X(ROUTE_NOT_FOUND, "route-not-found", 404, OK, "There is nothing at this address")                       \
    X(METHOD_NOT_ALLOWED, "method-not-allowed", 405, OK, "The method is not allowed here")                   \
    X(NOT_ACCEPTABLE, "not-acceptable", 406, OK, "The representation is not available",                      \
      .remedy = "try another --format, or one row: --rows N")                                                \
    X(NEEDS_DECODING, "needs-decoding", 406, OK, "The image needs decoding",                                 \
      .remedy = "ask for single frames: --rows N --format image")                                            \
    X(EXISTS, "exists", 409, OK, "It exists already")                                                        \
    X(DRAFT_BUSY, "draft-busy", 409, OK, "The draft is being published, or was")                             \
    X(TOO_MANY_DRAFTS, "too-many-drafts", 429, OK, "Too many drafts are open", .retry_s = 60)                \
    X(UPLOAD_OFFSET, "upload-offset", 409, OK, "The upload does not go on where the file ends")              \
    X(DRAFT_REFUSED, "draft-refused", 422, BROKEN, "The draft cannot be published",                          \
      .remedy = "mend the files and run the same command again: only what changed is sent; or see --allow")  \
    X(REVISION_GONE, "revision-gone", 410, OK, "This revision is no longer here")                            \
    X(PRECONDITION_FAILED, "precondition-failed", 412, OK, "A precondition is not met")                      \
    X(COMMIT_CONFLICT, "commit-conflict", 412, OK, "The dataset was changed meanwhile",                      \
      .remedy = "minari-cli revisions %i shows what is there now; the same command again goes by that")      \
    X(TOO_LARGE, "too-large", 413, OK, "The request or its answer is too large",                             \
      .remedy = "ask for fewer rows with --rows")                                                            \
    X(RANGE_NOT_SATISFIABLE, "range-not-satisfiable", 416, OK, "The range is out of bounds")                 \
    X(DATASET_BROKEN, "dataset-broken", 422, BROKEN, "The dataset is broken")                                \
    X(FIELD_UNREADABLE, "field-unreadable", 422, BROKEN, "The field cannot be read")                         \
    X(FILE_DAMAGED, "file-damaged", 422, OK, "The file is damaged")                                          \
    X(NOT_MEASURED, "not-measured", 422, OK, "It is not measured",                                           \
      .remedy = "ask the hub's administrator to start it with --measure idle or on-demand")                  \
    X(INTERNAL, "internal", 500, UNREACHABLE, "The server failed")                                           \
    X(UPSTREAM_FAILED, "upstream-failed", 502, UNREACHABLE, "The upstream refused")                          \
    X(UPSTREAM_UNAVAILABLE, "upstream-unavailable", 503, UNREACHABLE, "The upstream does not answer",        \
      .retry_s = 15)                                                                                         \
    X(DATASET_CHANGING, "dataset-changing", 503, OK, "The dataset is being changed", .retry_s = 3,           \
      .page = "These files are being written", .page_comes = true)                                           \
    X(PENDING, "pending", 503, OK, "The dataset is still being fetched, inspected or measured",              \
      .retry_s = 2, .page = "This dataset is not ready yet", .page_comes = true,                             \
      .remedy = "the hub is still inspecting it: try again soon")                                            \
    X(STORAGE_UNAVAILABLE, "storage-unavailable", 503, OK, "The storage does not answer", .retry_s = 2)      \
    X(ROOT_MISSING, "root-missing", 503, OK, "A root is not mounted", .retry_s = 60)                         \
    X(OVERLOADED, "overloaded", 503, OK, "The server is overloaded", .retry_s = 1)                           \
    X(STARTING, "starting", 503, OK, "The server is starting", .retry_s = 1, .page = "The hub is starting",  \
      .page_comes = true)                                                                                    \
    X(DRAINING, "draining", 503, OK, "The server is shutting down", .retry_s = 5,                            \
      .page = "The hub is shutting down")                                                                    \
    X(NO_SPACE, "no-space", 507, OK, "The disk is full")                                                     \
    X(QUOTA_EXCEEDED, "quota-exceeded", 507, OK, "The quota is used up")                                     \
    /* What becomes of requests to other hosts. */                                                           \
    X(UNREACHABLE, "unreachable", 0, UNREACHABLE, NULL)                                                      \
    X(NO_TLS, "no-tls", 0, UNREACHABLE, NULL, .remedy = "give the address with http:// instead of https://") \
    X(UPSTREAM, "upstream", 0, UNREACHABLE, NULL)                                                            \
    X(PROTOCOL, "protocol", 0, PROTOCOL, NULL)                                                               \
    X(NO_HUB, "no-hub", 0, PROTOCOL, NULL, .remedy = "check the address: this is not a minari-hub")          \
    X(TOO_LONG, "too-long", 0, OK, NULL, .remedy = "ask for less: --prefix, --limit")                        \
    X(OTHER_HOST, "other-host", 0, OK, NULL, .remedy = "if you trust that host: --trust-redirects")          \
    X(PRIVATE_ADDRESS, "private-address", 0, OK, NULL,                                                       \
      .remedy = "if you trust that host: --trust-redirects")                                                 \
    X(STALLED, "stalled", 0, OK, NULL)                                                                       \
    /* Remotes. */                                                                                           \
    X(BAD_CREDENTIALS, "bad-credentials", 0, OK, NULL,                                                       \
      .remedy = "give another file or --token-file, or unset GOOGLE_APPLICATION_CREDENTIALS")                \
    X(TOKEN_REQUIRED, "token-required", 0, OK, NULL,                                                         \
      .remedy = "minari-cli login %r, or set MINARI_HUB_TOKEN")                                              \
    X(HUB_NEEDED, "hub-needed", 0, OK, NULL,                                                                 \
      .remedy = "name a hub: --remote http://HOST[:PORT], or MINARI_HUB_URL; for a folder: minari-hub "      \
                "serve --root DIR")                                                                          \
    X(REMOTE_CLOSED, "remote-closed", 0, OK, NULL,                                                           \
      .remedy =                                                                                              \
          "give --token-file, or name a service account's JSON file in GOOGLE_APPLICATION_CREDENTIALS; "     \
          "Minari's own datasets are at hf://farama-minari")                                                 \
    X(REMOTE_EMPTY, "remote-empty", 0, OK, NULL,                                                             \
      .remedy = "check the name and the prefix; Minari's own datasets are at hf://farama-minari")            \
    X(REMOTE_MISSING, "remote-missing", 0, OK, NULL,                                                         \
      .remedy = "check the name; Minari's own datasets are at hf://farama-minari")                           \
    X(REPO_CLOSED, "repo-closed", 0, OK, NULL,                                                               \
      .remedy =                                                                                              \
          "give --token-file, or set HF_TOKEN; if the repo is gated, accept its terms on its page first")    \
    X(REPO_EMPTY, "repo-empty", 0, OK, NULL,                                                                 \
      .remedy =                                                                                              \
          "name a repo to take it as it is: hf://ORG/REPO; Minari's own datasets are at hf://farama-minari") \
    X(REPO_MISSING, "repo-missing", 0, OK, NULL, .remedy = "check the name: hf://ORG/REPO")                  \
    X(REVISION_MISSING, "revision-missing", 0, OK, NULL,                                                     \
      .remedy = "name one of these: hf://ORG/REPO@REVISION")                                                 \
    /* Datasets that are copied, imported or verified. */                                                    \
    X(CHANGED, "changed", 0, OK, NULL)                                                                       \
    X(DIGEST_MISMATCH, "digest-mismatch", 422, VERIFY, "The digest does not match")                          \
    X(NO_RECORD, "no-record", 0, OK, NULL, .remedy = "compare it with a hub: --remote http://HOST[:PORT]")   \
    X(DIFFERS_HERE, "differs-here", 0, OK, NULL, .remedy = "to replace it: minari-cli download %i --force")  \
    X(DOWNLOAD_RUNNING, "download-running", 0, OK, NULL, .remedy = "wait for it, or stop it")                \
    X(IMPORT_RUNNING, "import-running", 0, OK, NULL)                                                         \
    X(INCOMPATIBLE, "incompatible", 0, INCOMPATIBLE, NULL, .remedy = "give --force to download it anyway")   \
    X(NOT_A_DATASET, "not-a-dataset", 0, OK, NULL, .remedy = "move it away if you do not need it")           \
    X(NOT_A_MINARI_DATASET, "not-a-minari-dataset", 0, INVALID, NULL,                                        \
      .remedy = "give -o DIR to download it to another folder than that of Minari's datasets")               \
    X(NOT_READY, "not-ready", 0, BROKEN, NULL,                                                               \
      .remedy = "minari-cli show %i shows why; --force downloads its files as they are")                     \
    X(NO_DATASET, "no-dataset", 0, OK, NULL)                                                                 \
    X(NOT_A_FILE, "not-a-file", 0, OK, NULL)                                                                 \
    X(NOT_A_TAR, "not-a-tar", 0, OK, NULL)                                                                   \
    X(COMPRESSED, "compressed", 0, OK, NULL)                                                                 \
    X(TRUNCATED, "truncated", 0, OK, NULL)                                                                   \
    X(UNSAFE_NAME, "unsafe-name", 0, OK, NULL)                                                               \
    X(FENCED, "fenced", 0, OK, NULL)                                                                         \
    X(WAITS_FOR_OUTER, "waits-for-outer", 0, OK, NULL)                                                       \
    X(WAITS_FOR_ROOM, "waits-for-room", 0, OK, NULL)                                                         \
    /* The inspection of a dataset. */                                                                       \
    X(INSPECTION_LIMIT, "inspection-limit", 0, OK, NULL)                                                     \
    X(INSPECTION_TIMEOUT, "inspection-timeout", 0, OK, NULL)                                                 \
    X(INSPECTION_UNREAD, "inspection-unread", 0, OK, NULL)                                                   \
    X(INSPECTOR_CRASHED, "inspector-crashed", 0, OK, NULL)                                                   \
    X(INSPECTOR_KILLED, "inspector-killed", 0, OK, NULL)                                                     \
    X(INSPECTOR_LIED, "inspector-lied", 0, OK, NULL)                                                         \
    X(INSPECTOR_STOPPED, "inspector-stopped", 0, OK, NULL)                                                   \
    X(SANDBOX_UNAVAILABLE, "sandbox-unavailable", 0, OK, NULL)                                               \
    X(BAD_METADATA, "bad-metadata", 0, OK, NULL)                                                             \
    X(BAD_VIDEO, "bad-video", 0, OK, NULL)                                                                   \
    X(CUT_VIDEO, "cut-video", 0, OK, NULL)                                                                   \
    X(MISSING_FILE, "missing-file", 0, OK, NULL)                                                             \
    X(NO_VERSION, "no-version", 0, OK, NULL)                                                                 \
    X(NOT_FETCHED, "not-fetched", 0, OK, NULL)                                                               \
    X(NOT_FINALIZED, "not-finalized", 0, OK, NULL)                                                           \
    X(PERMISSION_DENIED, "permission-denied", 0, OK, NULL)                                                   \
    /* What minari-cli says of datasets of this machine. */                                                  \
    X(NO_LOCAL_DATASET, "no-local-dataset", 0, OK, NULL,                                                     \
      .remedy = "minari-cli list local shows what is there; for a hub: --remote http://HOST[:PORT], or "     \
                "MINARI_HUB_URL")                                                                            \
    X(PATH_MEANT, "path-meant", 0, OK, NULL,                                                                 \
      .remedy = "a path begins with ./, ../, ~ or /: minari-cli %c ./%i")                                    \
    X(SEVERAL_DATASETS, "several-datasets", 0, OK, NULL, .remedy = "name one of them")                       \
    X(NO_DATASET_THERE, "no-dataset-there", 0, OK, NULL, .remedy = "minari-inspect %i describes it")         \
    X(BROKEN_HERE, "broken-here", 0, OK, NULL, .remedy = "minari-cli show %i gives the problems")            \
    X(BROKEN_THERE, "broken-there", 0, OK, NULL, .remedy = "minari-inspect %i gives the problems")           \
    X(NO_HUB_PROGRAM, "no-hub-program", 0, OK, NULL,                                                         \
      .remedy = "datasets of this machine are read by minari-hub: install it beside minari-cli, or set "     \
                "MINARI_HUB_PROGRAM; for a hub: --remote http://HOST[:PORT]")                                \
    X(NO_TEMPORARY, "no-temporary", 0, OK, NULL, .remedy = "set TMPDIR to a directory that can be written")  \
    X(HUB_ENDED, "hub-ended", 0, OK, NULL, .remedy = "minari-hub serve --root DIR may show more")

#define HUB_PROBLEM_CODE(code, ...) HUB_PROBLEM_##code,

enum hub_problem_code {
    HUB_PROBLEM_NONE = 0, /* the name that belongs to the status */
    HUB_PROBLEMS(HUB_PROBLEM_CODE) HUB_PROBLEM_COUNT
};

struct hub_problem_row {
    const char *name;
    unsigned status;         /* of HTTP; 0: by the hub_status */
    const char *reason;      /* of that in JSON of Google Cloud Storage */
    const char *google_code; /* in XML; S3's too */
    const char *title;
    unsigned retry_s;         /* Retry-After where the error gives none; 0: no advice */
    const char *hugging_face; /* X-Error-Code; NULL: none */
    const char *page;         /* title of the page for people; NULL: by the status */
    bool page_comes;          /* that page becomes by itself what the request asks for */
    const char *remedy;       /* NULL: by the status */
};

extern const struct hub_problem_row hub_problem_rows[HUB_PROBLEM_COUNT];

/** "dataset-not-found"; "" of HUB_PROBLEM_NONE. */
const char *hub_problem_name(enum hub_problem_code code);
/** The same, or `otherwise` of HUB_PROBLEM_NONE. */
const char *hub_problem_name_or(enum hub_problem_code code, const char *otherwise);
/** By its name; HUB_PROBLEM_NONE: there is none. */
enum hub_problem_code hub_problem_find(const char *name);

#endif
