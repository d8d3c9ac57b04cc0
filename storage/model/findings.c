/* See findings.h. */
#include "storage/model/findings.h"

#include <stdlib.h>
#include <string.h>

void hub_findings_dispose(struct hub_findings *findings)
{
    for (uint32_t i = 0; i < findings->field_count; i++)
        free(findings->fields[i].layout);
    for (uint32_t i = 0; i < findings->video_count; i++)
        free(findings->videos[i].table);
    while (findings->blocks) {
        struct hub_findings_block *next = findings->blocks->next;
        free(findings->blocks);
        findings->blocks = next;
    }
    free(findings->claims);
    free(findings->facts);
    free(findings->parts);
    free(findings->problems);
    free(findings->fields);
    free(findings->episodes);
    free(findings->media);
    free(findings->videos);
    *findings = (struct hub_findings){0};
}

const char *hub_findings_fact(const struct hub_findings *plan, const char *key)
{
    for (uint32_t i = 0; i < plan->fact_count; i++)
        if (strcmp(plan->facts[i].key, key) == 0)
            return plan->facts[i].text;
    return NULL;
}
