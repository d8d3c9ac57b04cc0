/* What is wrong with the hub itself: see alerts.h. */
#include "server/api/operations/alerts.h"

#include "server/api/hooks.h"
#include "server/mirror/document.h"
#include "storage/episodes/measures.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/truth/damage.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define STATE_LOW_BYTES (64 * MIB) /* a publication of a large dataset, with its journal */

static struct hub_alert *add(struct hub_alerts *out, const char *code, const char *fmt, ...) HUB_PRINTF(3, 4);

static struct hub_alert *add(struct hub_alerts *out, const char *code, const char *fmt, ...)
{
    assert(out->count < HUB_MAX_ALERTS);
    struct hub_alert *c = &out->items[out->count++];
    va_list args;
    va_start(args, fmt);
    c->code = code;
    c->key = "";
    c->local[0] = '\0';
    vsnprintf(c->detail, sizeof c->detail, fmt, args);
    va_end(args);
    return c;
}

static void look_at_roots(const struct hub_roots *roots, struct hub_alerts *out)
{
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        if (access(root->path, R_OK | X_OK) == 0)
            continue;
        const int errnum = errno;
        struct hub_alert *c = add(
            out, "root-unreadable",
            "root %u (%s) cannot be read; its datasets stay listed as they were: mount it, or let the user "
            "of the hub read it",
            i + 1, root->name ? root->name : "root");
        snprintf(c->local, sizeof c->local, "%.500s: %s (as user %u)", root->path, strerror(errnum),
                 (unsigned)geteuid());
    }
}

static void add_missing(const struct hub_app *app, const struct hub_scan_progress *p, struct hub_alerts *out)
{
    for (uint32_t i = 0; i < app->roots->count; i++) {
        const struct hub_root *root = &app->roots->roots[i];
        if (!(p->roots_missing >> i & 1))
            continue;
        struct hub_alert *c =
            add(out, "root-missing",
                "root %u (%s) had datasets and has none now: nothing is fetched into it, and its datasets "
                "stay listed, until it is mounted again or `minari-hub scan --forget ROOT` removes them",
                i + 1, root->name ? root->name : "root");
        c->key = root->path;
        snprintf(c->local, sizeof c->local, "%.500s", root->path);
    }
}

static void add_state(const struct hub_app *app, const struct hub_scan_progress *p, struct hub_alerts *out)
{
    if (out->state_free == UINT64_MAX || (out->state_free >= STATE_LOW_BYTES && !p->no_space))
        return;
    struct hub_alert *c =
        add(out, "state-disk-full",
            "%" PRIu64 " KiB are free for the hub's state; below 64 MiB the hub may not store what it finds: "
            "free some, or move the state directory (--state)",
            out->state_free / KIB);
    snprintf(c->local, sizeof c->local, "%.590s", app->state);
}

static void add_scanner(const struct hub_scan_progress *p, struct hub_alerts *out)
{
    if (p->trouble[0]) {
        struct hub_alert *c =
            add(out, "sweep-failed",
                "the last scan of the directories ended early, so changes may be missed; the hub repeats it");
        snprintf(c->local, sizeof c->local, "%s", p->trouble);
    }
    if (p->given_up + p->postponed > 0)
        add(out, "inspections-failed",
            "%" PRIu64 " datasets could not be inspected for trouble of this machine (%" PRIu64
            " wait for another try): see the log; a sweep tries them again",
            p->given_up + p->postponed, p->postponed);
    if (p->unwatched > 0)
        add(out, "folders-not-watched",
            "%" PRIu64 " folders are not watched, so only the next sweep sees changes in them: raise "
            "fs.inotify.max_user_watches (sysctl), or sweep more often (--sweep)",
            p->unwatched);
    if (p->not_entered > 0)
        add(out, "folders-not-entered",
            "%" PRIu64 " folders could not be entered and are listed as broken, with the reason: let the "
            "user of the hub read them, or move them out of the root",
            p->not_entered);
    if (p->clashes > 0)
        add(out, "ids-collide",
            "%" PRIu64
            " datasets are left out because one of an earlier root has their id: give the roots names "
            "(--root NAME=DIR)",
            p->clashes);
}

static void add_damage(const struct hub_app *app, struct hub_alerts *out)
{
    const uint32_t count = hub_damage_count(app->truth, 0, NULL);
    if (count)
        add(out, "files-damaged",
            "%u files are damaged and are not served: `minari-hub problems` names them, `minari-hub check "
            "--repair` fetches copied ones again",
            count);
}

static void count_edited(void *user, const struct hub_damage *damage)
{
    *(uint32_t *)user += damage->served;
}

static void add_edited(const struct hub_app *app, struct hub_alerts *out)
{
    uint32_t count = 0;
    (void)hub_damage_each(app->truth, 0, NULL, count_edited, &count);
    if (count)
        add(out, "files-changed",
            "%u files that were published here were changed in place, and are served as they are: "
            "`minari-hub "
            "problems` names them, `minari-hub check --deep --from DIR` says where the published ones can "
            "come "
            "from, `minari-hub adopt ID` makes a commit of what is there",
            count);
}

static void add_unread(const struct hub_app *app, struct hub_alerts *out)
{
    char which[900];
    if (!app->hasher || !hub_digest_queue_unread(app->hasher, which, sizeof which))
        return;
    struct hub_alert *c = add(out, "file-not-hashed",
                              "a file could not be read for its digests: check the disk (the log names each "
                              "such file); it is tried again when a digest is wanted");
    snprintf(c->local, sizeof c->local, "%.500s", which);
}

struct unmeasured {
    char first[400]; /* "ID: why" */
};

static void note_unmeasured(void *user, const char *id, const char *why)
{
    struct unmeasured *u = user;
    if (!*u->first)
        snprintf(u->first, sizeof u->first, "%.200s: %.150s", id, why);
}

static void add_unmeasured(const struct hub_app *app, struct hub_alerts *out)
{
    struct unmeasured u = {0};
    const uint32_t count = hub_measure_failures_each(app->catalog, note_unmeasured, &u);
    if (count)
        add(out, "measuring-failed",
            "%u part%s of datasets could not be measured (%s): answers lack their values; the hub tries "
            "again",
            count, hub_plural(count), u.first);
}

static void add_hook(const struct hub_app *app, struct hub_alerts *out)
{
    struct hub_hook_figures f;
    if (!hub_hooks_figures(app->hooks, &f) || !f.trouble[0])
        return;
    struct hub_alert *c =
        add(out, "hook-failing",
            "the address of --on-publish-url does not take events of pushes: %" PRIu64
            " wait%s, and are sent again; %" PRIu64 " were dropped; check it (the log says why)",
            f.waiting, f.waiting == 1 ? "s" : "", f.dropped);
    snprintf(c->local, sizeof c->local, "%.590s", f.trouble);
}

struct rules {
    int64_t up_s; /* the hub; nothing lags for that it was not */
    unsigned failing, late, unlisting, leaving;
    char failed[150], lagged[150], unlisted[150], left[150]; /* names, as far as there is room */
};

static void name(char *names, size_t size, unsigned before, const char *rule)
{
    const size_t at = strlen(names);
    snprintf(names + at, size - at, "%s%s", before ? ", " : "", rule);
}

/* It was made for the datasets of Minari alone, and leaves the others out on purpose. */
static bool takes_minari_only(const struct hub_rule *rule)
{
    const char *only = json_string_value(json_object_get(rule->spec, "only"));
    return only && strcmp(only, "minari") == 0;
}

/* A rule lags when two passes in a row did not come to their end. */
static enum hub_status look_at_rule(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    struct rules *r = user;
    const int64_t every_s = json_integer_value(json_object_get(rule->spec, "every"));
    (void)err;
    if (rule->unlisted)
        name(r->unlisted, sizeof r->unlisted, r->unlisting++, rule->name);
    if (rule->left_out && !takes_minari_only(rule))
        name(r->left, sizeof r->left, r->leaving++, rule->name);
    if (rule->paused)
        return HUB_OK;
    if (*rule->error)
        name(r->failed, sizeof r->failed, r->failing++, rule->name);
    else if (HUB_MIN(hub_mirror_lag_s(rule), r->up_s) > 3 * HUB_MAX(every_s, INT64_C(600)))
        name(r->lagged, sizeof r->lagged, r->late++, rule->name);
    return HUB_OK;
}

static void add_rules(const struct hub_app *app, struct hub_alerts *out)
{
    struct rules r = {.up_s = hub_time_now_s() - app->started_ms / 1000};
    if (hub_rules_each(app->truth, look_at_rule, &r, NULL))
        return;
    if (r.failing)
        add(out, "mirrors-failing",
            "%u mirror rule%s failed in the last pass: %s; `minari-hub mirror list` shows why", r.failing,
            hub_plural(r.failing), r.failed);
    if (r.late)
        add(out, "mirrors-lagging",
            "%u mirror rule%s took three times longer than the last pass should take: %s", r.late,
            hub_plural(r.late), r.lagged);
    if (r.leaving)
        add(out, "mirrors-partial",
            "%u mirror rule%s leave%s something of the remote out: %s; `minari-hub mirror list` names it",
            r.leaving, hub_plural(r.leaving), r.leaving == 1 ? "s" : "", r.left);
    if (r.unlisting)
        add(out, "mirrors-unlisted",
            "%u mirror rule%s no longer list%s datasets that may still be on the remote: %s; their copies "
            "stay and are not updated: add a rule for them, or delete them here",
            r.unlisting, hub_plural(r.unlisting), r.unlisting == 1 ? "s" : "", r.unlisted);
}

void hub_reason_local(const struct hub_app *app, struct hub_view reason, char out[HUB_LOCAL_BYTES])
{
    out[0] = '\0';
    if (memmem(reason.data, reason.size, "permission denied", 17))
        snprintf(out, HUB_LOCAL_BYTES, "the hub runs as %s", app->user);
}

void hub_alerts_look(const struct hub_roots *roots, const char *state, struct hub_alerts *out)
{
    out->count = 0;
    look_at_roots(roots, out);
    if (hub_fs_free_bytes(state, &out->state_free, NULL))
        out->state_free = UINT64_MAX;
}

void hub_alerts_add(const struct hub_app *app, struct hub_alerts *out)
{
    struct hub_scan_progress progress;
    hub_scanner_progress(app->scanner, &progress);
    add_missing(app, &progress, out);
    add_state(app, &progress, out);
    add_scanner(&progress, out);
    add_damage(app, out);
    add_edited(app, out);
    add_unread(app, out);
    add_unmeasured(app, out);
    add_rules(app, out);
    add_hook(app, out);
}

void hub_alerts_read(const struct hub_app *app, struct hub_alerts *out)
{
    hub_alerts_look(app->roots, app->state, out);
    hub_alerts_add(app, out);
}
