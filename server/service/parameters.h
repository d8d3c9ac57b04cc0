/**
 * Rows of parameters, for routes.c alone: see server/http/parameter.h. A route TAKES some of them.
 */
#ifndef HUB_SERVICE_PARAMETERS_H
#define HUB_SERVICE_PARAMETERS_H

#include "server/http/parameter.h"
#include "server/mirror/job_kinds.h"
#include "storage/encode/representation.h"
#include "storage/query/property.h"

#define ROW(row, type_, ...)                                                                                 \
    static const struct hub_parameter row = {.type = HUB_PARAM_##type_, .name = __VA_ARGS__}
#define TAKES(...) ((const struct hub_parameter *const[]){__VA_ARGS__, NULL})
#define TAKES_NONE ((const struct hub_parameter *const[]){NULL})
#define FACT(what) what ", as `facts` says it; upper or lower case."

/* Names of storage/query/property.h: in a text, in a regular expression, and the rules of metrics. */
#define AND_BLANK(KIND, word, ...) word " "
#define OR_WORD(KIND, word, ...) "|" word
#define OR_OF_FIELD(KIND, word, ...) "|" word "\\\\(\\\"[^\\\"]+\\\"\\\\)(\\\\[[0-9]+\\\\])?"
#define PROPERTY_NAMES                                                                                       \
    HUB_KNOWN_PROPERTIES(HUB_PROPERTY_COMMA)                                                                 \
    HUB_METRIC_PROPERTIES(HUB_PROPERTY_COMMA) HUB_FIELD_PROPERTIES(HUB_PROPERTY_OF_FIELD_COMMA)
#define PROPERTY_WORDS                                                                                       \
    HUB_KNOWN_PROPERTIES(OR_WORD) HUB_METRIC_PROPERTIES(OR_WORD) HUB_FIELD_PROPERTIES(OR_OF_FIELD)
#define METRICS HUB_METRIC_PROPERTIES(AND_BLANK)

/* ---- of many routes ---- */

ROW(others, OTHERS, "", NULL, NULL);
ROW(id, TEXT, "id", "D4RL/door/human-v2",
    "Dataset id; may hold slashes, plain or as %2F. Without -vN: an alias of the newest version. A folder "
    "called episodes, files, rows, sample, batch or archive.tar has a ~ behind that word in its id: "
    "lab/episodes~.",
    .schema = "\"minLength\": 1", .in_path = true);
ROW(number, WHOLE, "n", "3", "Episode number, the format's own.", .most = INT64_MAX, .in_path = true);
ROW(field_path, TEXT, "path", "rewards", "Path of a field or of a group of fields; may hold slashes.",
    .schema = "\"minLength\": 1", .in_path = true);
ROW(file_path, TEXT, "path", "data/main_data.hdf5", "File path, may hold slashes.",
    .schema = "\"minLength\": 1", .in_path = true);
ROW(camera, TEXT, "camera", "top.mp4",
    "Its name or label, and `.mp4`: `observation.images.front.mp4` or `front.mp4`; one segment, a slash in "
    "it as `%2F`.",
    .schema = "\"pattern\": \"\\\\.mp4$\"", .in_path = true);
ROW(job_id, TEXT, "id", "k3vq7dmx2abn", "As the listing has it.", .in_path = true);
ROW(draft_id, TEXT, "name", "abcdefghijklmnop", "As the answer to POST has it.", .in_path = true);
ROW(draft_path, TEXT, "path", "data/main_data.hdf5", "Path of a file in the dataset.", .in_path = true);
ROW(draft_state, WORD, "state", "state=published",
    "Only those that are open, being committed, or published; without it all but the published ones.",
    .words = "open committing publishing published");
ROW(draft_after, TEXT, "after", "after=data/main_data.hdf5",
    "Only files whose paths follow this one, in the order of bytes.");
ROW(draft_limit, WHOLE, "limit", "limit=100", "At most this many files; otherwise all.", .least = 1,
    .most = 1000000);
ROW(draft_allow, WORD, "allow", "allow=broken",
    "Publish it although it is `broken`, or although no format claims it (`files`).",
    .words = "broken files");
ROW(mirror_name, TEXT, "name", "aloha", "As the listing has it.", .in_path = true);
ROW(namespace_path, TEXT, "path", "D4RL", "The namespace; it may hold slashes.", .in_path = true);
ROW(for_release, TEXT, "for", "for=0.5.3",
    "Minari release, like 0.4.3: an alias means the newest version that release reads.",
    .schema = "\"pattern\": \"^[0-9]{1,4}(\\\\.[0-9]{1,4}){0,5}((a|b|rc)[0-9]{1,4})?$\"");
ROW(revision, TEXT, "revision", "revision=0123456789abcdef0123456789abcdef01234567",
    "410 unless that revision is the present one; the answer is then immutable. Of a dataset in a cache of "
    "huggingface_hub it may be a commit (all of it, or its first 7 digits or more) or a ref of its repo: the "
    "snapshot of that answers, whose id is ID@COMMIT.");
ROW(limit, WHOLE, "limit", "limit=10", "Items a page.", .least = 1, .most = 1000, .preset = "100");
ROW(cursor, TEXT, "cursor",
    "cursor=MDEyMwowCmE=", "Opaque, from `next`; goes with the sort and the filters it was made with.",
    .schema = "\"pattern\": \"^[A-Za-z0-9+/=_-]+$\"");
ROW(lines_form, FORM, "format", "format=jsonl",
    "jsonl: a line an item and no document around them, with X-Total-Count and the links as headers. Also by "
    "`Accept: application/x-ndjson`.",
    .forms = HUB_LIST_OF_PAGES);

/* ---- datasets ---- */

ROW(words, TEXT, "q", "q=door",
    "Words that a set has all of: in its id, its description, its authors or the names of its fields. Each "
    "may be the beginning of a word; what is joined, such as pick-cube, follows each other. Upper case and "
    "accents do not count. No text is a mistake.");
ROW(prefix, TEXT, "prefix", "prefix=D4RL/", "Ids that begin with this text.");
ROW(of_format, TEXT, "format", "format=minari-hdf5",
    "Only datasets of this format. `jsonl` (or `json`) says how the list is written and may be given beside "
    "it: with `jsonl` and no `limit` all of them come, a line each, made as they are sent.",
    .repeats = true);
ROW(latest, FLAG, "latest", "latest=1", "Only the newest version of each.");
ROW(status, WORD, "status", "status=ready", "Only datasets in this state.",
    .words = "ready pending broken unsupported remote");
ROW(loadable, FLAG, "loadable", "loadable=true",
    "true: those that their own library loads; false: those that it does not, broken ones among them. One "
    "that is still inspected is neither.");
ROW(problems, FLAG, "problems", "problems=false",
    "true: sets that lack data or are not loaded by their own library: broken, unsupported, with "
    "costly_problems or damaged files; false: the others.");
ROW(env, TEXT, "env", "env=AdroitHandDoor-v1", FACT("Environment"));
ROW(task_of_set, TEXT, "task", "task=open", FACT("Task"));
ROW(robot, TEXT, "robot", "robot=so100", FACT("Robot"));
ROW(camera_of_set, TEXT, "camera", "camera=front", FACT("Camera"));
ROW(author, TEXT, "author", "author=Minari Hub", FACT("Author"));
ROW(algorithm, TEXT, "algorithm", "algorithm=human", FACT("Algorithm that chose the actions"));
ROW(kind_of_set, TEXT, "kind", "kind=demos", FACT("Kind, such as demos or random"));
ROW(license, TEXT, "license", "license=MIT", FACT("License"));
ROW(action_dim, WHOLE, "action_dim", "action_dim=28",
    "Numbers of one action, as `facts` says it; upper or lower case.", .least = 1, .most = INT64_MAX);
ROW(facets, LIST, "facets", "facets=env,robot", "Names between commas: count the sets by their values.",
    .words = "env task robot camera author algorithm kind license action_dim format status problems "
             "namespace");
ROW(sort_datasets, WORD, "sort", "sort=-steps",
    "- before the key: descending. Ties go by id. `relevance`, which needs `q` and is its default: the id "
    "itself, words of the id, beginnings of them, what is known of the set, all else. Sets of format `files` "
    "come last in every order.",
    .words = "relevance -relevance id -id name -name episodes -episodes steps -steps size -size modified "
             "-modified");
ROW(returns, WORD, "include", "include=returns",
    "Beside each dataset: how the returns of its episodes are spread.", .words = "returns");
ROW(dataset_columns, TEXT, "columns", "columns=id,steps,return_mean&format=csv",
    "A table of the datasets instead of a page: names separated by commas, from id, namespace, name, "
    "version, format, era, status, reason, loadable, episodes, steps, size, files, problems, description, "
    "revision, modified, return_mean, return_min, return_max, return_count (of the episodes whose return is "
    "known and a finite number; null where there is none), env, task, robot, camera, author, algorithm, "
    "kind, license, action_dim. All chosen datasets, streamed; `limit` has no ceiling, and there is no "
    "`cursor`. As `format=json|jsonl|csv|arrow|npz`.");
ROW(space, WORD, "of", "of=action", "Which space.", .words = "observation action", .required = true);
ROW(columns_limit, WHOLE, "limit", NULL, NULL, .least = 1, .most = INT64_MAX);

/* ---- episodes ---- */

ROW(where, TEXT, "where", "where=steps > 10",
    "What the episodes have: `return > 100 and success = true`, `split in ('train', 'val')`, `not (\"level\" "
    "= 'hard' or steps < 200)`, `mean(\"rewards\") >= 0.5`, `seed is null`. Names: " PROPERTY_NAMES
    "\"ATTRIBUTE\". Values of a FIELD are those that the format's own statistics state, else they are "
    "measured; `last(\"FIELD\")[2]` is the third number of the field's last row. A value that an episode "
    "lacks makes a test unknown, and what is unknown is not chosen; split and task are sets: = contains, != "
    "lacks. At most 64 tests, brackets 16 deep; else 400 `bad-where` with the position. A field, an "
    "attribute, or a text that split, task or name is compared with (=, !=, in) which the dataset does not "
    "have is 400, too, with what is near.",
    .schema = "\"minLength\": 1, \"maxLength\": 1024");
ROW(wait, WHOLE, "wait", "where=jerk >= 0&wait=30",
    "Seconds, two unless it is given, that the request waits for values of `where`, `sort` or `columns` that "
    "are still being measured, before it is 503 `pending` with `done` of `of` parts. What it needs is "
    "measured first.",
    .most = 30); /* no preset: programs made of openapi.json send it to answers that do not wait, too */
ROW(partial, FLAG, "partial", "where=jerk >= 0&partial=1",
    "Answer from the measured parts only: X-Measured and `measured` count them. Without it the answer is "
    "complete, or it is 503 `pending`, or 422 `not-measured` by a hub that measures nothing.");
ROW(sort_episodes, TEXT, "sort", "sort=-return",
    "A name as in `where`: `return`, `-steps`, `mean(\"rewards\")`, `\"level\"`; - before it: descending. "
    "Ties go by number; episodes without the key come last. A field or an attribute that the dataset does "
    "not have is 400.",
    .schema = "\"pattern\": \"^-?(\\\"[^\\\"]+\\\"" PROPERTY_WORDS ")$\"");
ROW(split, TEXT, "split", "split=train",
    "Only episodes of this split. One that the dataset does not have is a mistake, and the problem names "
    "those it has.");
ROW(name, TEXT, "name", "name=demo_3",
    "Only the episode of this name, as the dataset has it: `demo_3`, or "
    "`train/house_12/trajectories_batch_1_of_3.h5/traj_0`.");
ROW(task, TEXT, "task", "task=0",
    "Only episodes of this task: its text, or its `index` in the dataset's `tasks`. An episode of several is "
    "of each. One that the dataset does not have is a mistake, and the problem names those it has.");
ROW(columns, TEXT, "columns", "columns=number,steps,return&format=csv",
    "Names as in `where`, between commas: `number,steps,return,mean(\"rewards\")`. The answer is then a "
    "table of all episodes that are meant, up to `limit` (any number; no cursor). A value that an episode "
    "lacks is null, in csv an empty cell; integers beyond 2^53-1 are texts in JSON; splits are a list, in "
    "csv joined by semicolons.",
    .schema = "\"minLength\": 1, \"maxLength\": 1024");
ROW(include, LIST, "include", "include=metrics",
    "What is measured of each episode, beside what is known of it; while not all is measured, no-store and "
    "X-Measured say so.",
    .words = "metrics spark");
ROW(table_form, FORM, "format", "columns=number,steps,return&format=csv",
    "Of a table: JSON column by column, an object a line, csv (RFC 4180, lines end with LF), an Arrow "
    "stream, an Arrow file (Feather) or npz; wins over Accept. Arrays have one type: of integers, numbers, "
    "truths or texts; a missing value is null in arrow, and NaN (of text: empty) in npz, counted in "
    "X-Null-Count. Splits are one text, joined by semicolons, but in JSON. Without `columns`: jsonl is an "
    "episode a line, and without `limit` all of them, made as they are sent.",
    .forms = HUB_LIST_OF_VALUES);
ROW(at, WHOLE, "at", "at=3&limit=2",
    "The page that holds the episode of this number, among pages of `limit` from the first on.",
    .most = INT64_MAX);
ROW(sample_size, WHOLE, "random", "random=3&seed=1",
    "So many of the chosen episodes, drawn without replacement: those, and the order, of Minari's "
    "sample_episodes with `set_seed(seed)`.",
    .most = INT64_MAX);
ROW(draw_seed, TEXT, "seed", "random=3&seed=1", "Of `random` and `partition`, as of numpy's default_rng.",
    .schema = "\"pattern\": \"^[0-9]+$\"");
ROW(partition, TEXT, "partition", "partition=6,2&seed=1",
    "Sizes between commas, such as 20,5: the chosen episodes are permuted and cut into parts, those of "
    "Minari's split_dataset with this seed. Their sum is at most the chosen episodes.");
ROW(part, WHOLE, "part", "partition=6,2&seed=1&part=1",
    "Which part of the partition is meant, from 0 on; 0 when absent.", .most = INT64_MAX);
ROW(partition_seed, TEXT, "partition_seed", "partition=6,2&partition_seed=1",
    "Seed of the partition; where `seed` means nothing else, that one does.",
    .schema = "\"pattern\": \"^[0-9]+$\"");

/* ---- rows ---- */

ROW(fields, TEXTS, "fields", "fields=rewards&fields=@done",
    "Field or group; repeated. @observation, @action, @reward, @done, @info and @other are all fields of "
    "that role. Each comes whole, unless start, stop, step or final is given: then all are cut by the same "
    "steps, and row i of each belongs to step i.");
ROW(first_step, WHOLE, "start", "fields=rewards&start=-2",
    "With fields: the first step, as in Python's slices: negative counts from the end.");
ROW(stop_step, WHOLE, "stop", "fields=rewards&stop=3", "With fields: the step to stop before.");
ROW(step_of_steps, WHOLE, "step", "fields=rewards&step=2",
    "With fields: distance of steps; negative runs backwards.");
ROW(final, FLAG, "final", "fields=observations&final=1",
    "With fields: cut by steps; 1: `state` fields get one row more, the one that follows the last step (for "
    "a step that runs forwards).");
ROW(sentinel, WORD, "sentinel", "sentinel=drop",
    "How to treat a last action that only says that the policy has ended, in formats that end their episodes "
    "with one (molmospaces; their actions have the axis `shifted`). drop: the last step is left out, and the "
    "rows are cut by steps, of one field too; keep: it is a step like the others.",
    .words = "keep drop");
ROW(form, FORM, "format", "format=jsonl", "Representation; wins over Accept.");
ROW(nonfinite, WORD, "nonfinite", "nonfinite=string", "How NaN and infinities stand in JSON.",
    .words = "null string literal");
ROW(start, WHOLE, "start", "start=-2", "First row, as in Python's slices: negative counts from the end.");
ROW(stop, WHOLE, "stop", "stop=3", "Row to stop before.");
ROW(step, WHOLE, "step", "step=-1", "Distance of rows; negative runs backwards; not 0.");
ROW(row, WHOLE, "row", "row=0",
    "One row, without the leading axis: as x[i] in numpy. Not with start, stop and step.");
ROW(drawn_range, TEXT, "range", "row=0&format=png&range=0,1",
    "format=image of numbers that are not bytes (depth, colours as floats): the values that are drawn black "
    "and white, `range=0.3,4.5`. Without it they are those of the row; X-Range says which.");
ROW(buckets, WHOLE, "buckets", "buckets=16",
    "A curve instead of rows: at most this many buckets of equal width, each with its least and greatest "
    "value in the order of their rows, so that a spike of one step stays visible. The width is the smallest "
    "possible power of two; the grid begins at row 0 of the episode.",
    .least = 16, .most = 2000);
ROW(width, WHOLE, "width", "width=4",
    "Instead of buckets: rows of a bucket, a power of two; at most 2000 buckets.", .least = 1,
    .most = INT64_MAX);
ROW(dims, TEXTS, "dims", "buckets=16&dims=0",
    "With buckets or width: numbers of a row that are meant, counted in C order, as 0-3+7; at most 512. Of "
    "several fields repeated in their order, an empty one means all.");
ROW(bucket_of, WORD, "of", "buckets=16&of=delta",
    "With buckets or width: the values, their running sum (the return of rewards), or each value less the "
    "one before (the first row has none); of a shifted field both begin at row 1, as row 0 belongs to no "
    "step; without it value.",
    .words = "value sum delta");
ROW(leaf, TEXT, "leaf", "buckets=16&leaf=/t",
    "With buckets or width, of rows of JSON text: the number that this JSON pointer names; rows without it "
    "are null.");
ROW(bucket_type, WORD, "dtype", "buckets=16&format=raw&dtype=f8",
    "With buckets or width and format=raw: what the numbers are; without it f4.", .words = "f4 f8");
ROW(runs, WHOLE, "runs", "runs=10",
    "Runs of equal values instead of rows, for bools, integers and texts with one value per row: at most "
    "this many.",
    .least = 1, .most = 4000);
ROW(first_frame, WHOLE, "start", "start=1",
    "First step of the episode; negative counts from its end. A step is a frame, but where the camera ran at "
    "another rate than the rows.");
ROW(stop_frame, WHOLE, "stop", "stop=3",
    "The step behind the last; negative counts from the end, what is beyond it is cut off.");
ROW(poster, WHOLE, "poster", "poster=2",
    "A picture for this step instead: the one frame, or where it needs many bytes the key frame before it.",
    .most = INT64_MAX);
ROW(rows_fields, TEXTS, "fields", "fields=@observation&fields=@action",
    "Field or group; repeated. @observation, @action, @reward, @done, @info and @other are all fields of "
    "that role. Without it all fields.");
ROW(layout, WORD, "layout", "layout=transitions",
    "`rows` as they are stored, or `transitions`: a row is a step and the state it leads to. `view` is an "
    "older name of this parameter.",
    .words = "rows transitions", .was = "view", .preset = "rows");
ROW(episodes_limit, WHOLE, "limit", "limit=10", "At most this many episodes; without it all.", .least = 1,
    .most = INT64_MAX);
ROW(steps_start, WHOLE, "start", "start=-1",
    "The first step of each episode; negative from its end: -1 is its last one.");
ROW(steps_stop, WHOLE, "stop", "stop=10",
    "The step of each episode before which its rows end; negative from its end.");
ROW(steps_step, WHOLE, "step", "step=10", "Every Nth step of each episode.", .least = 1, .most = INT64_MAX);
ROW(step_where, TEXT, "step_where", "step_where=rewards < 0",
    "What the numbers of a step are: `rewards < -10`, `\"actions\"[2] > 0.5 and not (terminations = true)`. "
    "The grammar is that of `where`; a name is a field of numbers or truths with one row per step, as a word "
    "or in quotes, with the index of a number if a row has several. A missing value, or NaN beside <, <=, > "
    "and >=, makes a test unknown, and the step is not chosen. Else 400 `bad-where`.",
    .schema = "\"minLength\": 1, \"maxLength\": 1024");
ROW(rows_form, FORM, "format", "format=csv",
    "Wins over Accept. arrow is an IPC stream, arrow-file an IPC file (Feather version 2).",
    .forms = HUB_LIST_OF_ROWS, .preset = "npz");
ROW(valid, WORD, "valid", "valid=any",
    "Episodes that the dataset itself calls not valid (molmospaces: valid_traj_mask, which becomes the "
    "attribute `valid`). only: they are left out, and X-Left-Out then ends with valid=any; any: they are "
    "taken. Where `name` chooses episodes, or `where` asks for \"valid\", nothing is left out.",
    .words = "only any", .preset = "only");
ROW(windows, WHOLE, "windows", "windows=8", "How many windows.", .least = 1, .most = 4096, .preset = "1");
ROW(window_length, WHOLE, "length", "length=4", "Steps of a window.", .least = 1, .most = 1000000,
    .preset = "1");
ROW(window_fields, TEXTS, "fields", "fields=@action",
    "Field, group or role (@observation, @action, @reward, @done, @info, @other); repeated. Absent: "
    "observations, actions, rewards and what ends episodes. Of groups and roles those fields are taken that "
    "have rows of one shape in every episode; the others are named in X-Left-Out.");
ROW(window_seed, TEXT, "seed", "seed=7",
    "A whole number up to 2^64 - 1, whose draws are those of numpy's PCG64(seed): the same seed and revision "
    "give the same bytes. Absent: one is drawn, which X-Seed reports, and the answer is `no-store`.",
    .schema = "\"pattern\": \"^[0-9]+$\"");
ROW(pad, WORD, "pad", "length=4&pad=edge",
    "none: only windows that lie within their episode; edge, zero: a window may begin at any step, and "
    "behind the last one come its values again, or zeros; `mask` tells them apart.",
    .words = "none edge zero", .preset = "none");
ROW(window_final, FLAG, "final", "length=4&final=1",
    "1: `state` fields get one row more, the one that follows the last step.");
ROW(weight, WORD, "weight", "weight=uniform",
    "steps: every window is equally likely; uniform: every episode that has one, and then each of its "
    "windows.",
    .words = "steps uniform", .preset = "steps");
ROW(sample_form, FORM, "format", "format=npz",
    "Wins over Accept. As arrow (a stream) and arrow-file a window is a row, of fixed-size lists.",
    .forms = HUB_LIST_OF_WINDOWS, .preset = "npz");
ROW(field_dim, TEXT, "dims", "buckets=16&dims=0",
    "With buckets or width: numbers of a row that are meant, counted in C order, as 0-3+7; at most 512.");
ROW(curve_form, WORD, "format", NULL, NULL, .words = "json raw");

/* ---- statistics, files, jobs ---- */

ROW(measured_field, TEXTS, "field", "field=actions",
    "`return`, `steps`, `score`, a metric, or the path of a field, which then has a histogram; several "
    "times. Without it returns, steps and all fields, these without histograms. A field goes with neither "
    "where, split nor task.",
    .schema = "\"maxItems\": 64");
ROW(field_dims, TEXTS, "dims", "field=actions&dims=0-3",
    "Numbers of a row that are shown, counted in C order, as 0-3+7; of several fields repeated in their "
    "order, an empty one means all.");
ROW(bins, WHOLE, "bins", "field=actions&bins=20", "Bins of histograms; with `by` 48 where none are named.",
    .least = 2, .most = 512, .preset = "40");
ROW(by, TEXT, "by", "by=return,steps",
    "Two numbers of episodes, as `return,steps`: counts of their pairs, as a grid. Without `field` nothing "
    "else.");
ROW(rule, WORD, "rule", "rule=frozen", "This rule alone.",
    .words = "lowest_return highest_return shortest longest " METRICS "return steps");
ROW(distance, REAL, "k", "k=3", "Outside means beyond the quartiles by more than k times their distance.",
    .most = 1000, .preset = "1.5");
ROW(rule_limit, WHOLE, "limit", "limit=10", "Episodes of a rule, the worst first.", .least = 1, .most = 1000,
    .preset = "10");
ROW(file_prefix, TEXT, "prefix", "prefix=data/",
    "Files whose path begins with this text; the listing is then paged.");
ROW(delimiter, WORD, "delimiter", "delimiter=/",
    "/: one level; `prefixes` lists the folders below the prefix.", .words = "/");
ROW(files_limit, WHOLE, "limit", "limit=10", "At most this many files and folders per page; without it all.",
    .least = 1, .most = 1000);
ROW(episodes, TEXT, "episodes", "episodes=0:2",
    "Numbers of episodes and ranges of them, as Python slices them: `0:10,15,20:`.");
ROW(job_kind, WORD, "kind", "kind=inspect", "Only this kind.", .words = HUB_JOB_KINDS(HUB_JOB_KIND_WORD));
ROW(job_state, WORD, "state", "state=done", "Only this state.", .words = "waiting running done failed");

/* ---- for the admin ---- */

ROW(import_kind, WORD, "kind", "kind=import", "What is done.",
    .words = HUB_JOB_KINDS_OUTSIDE(HUB_JOB_KIND_WORD), .required = true);
ROW(import_target, TEXT, "target", "target=lab", "What it is done to.", .required = true);
ROW(job_action, WORD, "do", "do=stop",
    "keep: the lease goes on; end: it is done; stop: whoever does it stops.", .words = "keep end stop");
ROW(fence, WHOLE, "fence", "fence=1", "Of the lease.", .preset = "0");
ROW(done, WHOLE, "done", "done=1", "How far it is.", .preset = "0");
ROW(done_of, WHOLE, "of", "of=2", "Of how much.", .preset = "0");
ROW(failure, TEXT, "error", "error=full", "Why it failed.");
ROW(adopt_spec, TEXT, "spec", "spec={%22all%22:%22nobody/%22}", "What to adopt, as a JSON object.",
    .required = true);
ROW(check_spec, TEXT, "spec", "spec={}", "What to check, as a JSON object.", .required = true);
ROW(token_name, TEXT, "name", "name=ann", "What the token is called.", .required = true);
ROW(token_of_path, TEXT, "name", "ann", "As the listing has it.", .in_path = true);
ROW(token_read, TEXTS, "read", "read=lab/",
    "Prefix of ids that it may read: lab/ is all below lab, lab/arm one name, an empty one all.");
ROW(token_label, TEXTS, "label", "label=lab/", "Prefix of ids whose episodes it may also label.");
ROW(token_write, TEXTS, "write", "write=lab/ann/", "Prefix of ids that it may also write.");
ROW(token_admin, FLAG, "admin", "admin=1", "It may do all that the admin of this machine may.");
ROW(token_expires, TEXT, "expires", "expires=90d", "How long it is good; without it: until it is revoked.");
ROW(token_from, TEXTS, "from", "from=10.0.0.0/8", "Network that it is good in; without one: everywhere.");
ROW(token_action, WORD, "do", "do=rotate", "rotate: another secret takes its place; revoke: it ends.",
    .words = "rotate revoke", .required = true);
ROW(token_overlap, TEXT, "overlap", "overlap=1h",
    "How long the secret before it is good yet; 0 when absent.");
ROW(access_who, TEXT, "who", "who=*", "*, signed-in, token:NAME, user:NAME, group:NAME or net:CIDR.",
    .required = true);
ROW(access_level, WORD, "level", "level=none", "What they may do there.",
    .words = "none read label write admin", .required = true);
ROW(access_prefix, TEXT, "prefix", "prefix=lab/",
    "lab/ is all below lab, lab/arm one name with its versions, an empty one all.");
ROW(access_id, TEXT, "id", "id=lab/arm-v1", "The dataset that is asked about.", .required = true);
ROW(audit_since, TEXT, "since", "since=7d", "How long ago, or a time, from which on changes are shown.");
ROW(rule_name, TEXT, "name", "name=aloha", "What the rule is called.");
ROW(mirror_spec, TEXT, "spec", "spec={}", "What to mirror, as a JSON object.", .required = true);
ROW(mirror_action, WORD, "do", "do=pause", "What is done to the rule.",
    .words = "run run-anew pause resume remove", .required = true);
ROW(forget, TEXT, "forget", "forget=data", "The root whose missing datasets are gone.");

/* ---- of pages alone ---- */

ROW(mark, WHOLE, "at", "at=5", "The step that is marked.");
ROW(from, WHOLE, "from", "from=2", "The first step that is drawn.");
ROW(to, WHOLE, "to", "to=8", "The step to stop drawing before.");
ROW(lanes, TEXT, "lanes", "lanes=rewards", "Which numbers are drawn.");
ROW(rate, TEXT, "rate", "rate=2", "How fast it is played.");
ROW(go_to, TEXT, "number", "number=3", "The episode to go to.");
ROW(side, TEXT, "e", "e=0&e=1", "An episode to compare, of this dataset or another.", .repeats = true);
ROW(align, TEXT, "align", "align=end", "Where the episodes begin together.");
ROW(difference, TEXT, "diff", "diff=1", "Draw what the others have more than the first.");
ROW(used_episode, WHOLE, "e", "e=0", "The episode that the programs read.");
ROW(used_field, TEXT, "fields", "fields=rewards", "The field that the programs read.");
ROW(page_field, TEXT, "field", "field=actions", "The field that is shown.");
ROW(page_format, TEXT, "format", "format=lerobot", "Only datasets of this format.");
ROW(next_page, TEXT, "next", "next=/~operations",
    "Path of this hub that is shown once somebody has signed in.");
ROW(guide_words, TEXT, "q", "q=verify", "Words of a section.");

/* ---- of Google's and Hugging Face's protocols: what is read of theirs ---- */

ROW(object_prefix, TEXT, "prefix", "prefix=door", "Names that begin with this text.");
ROW(object_delimiter, TEXT, "delimiter", "delimiter=/", "Where names are cut into folders.");
ROW(page_token, TEXT, "pageToken", "pageToken=", "The next page.");
ROW(start_offset, TEXT, "startOffset", "startOffset=a", "The first name.");
ROW(end_offset, TEXT, "endOffset", "endOffset=z", "The name to stop before.");
ROW(glob, TEXT, "matchGlob", "matchGlob=**.hdf5", "Names that this pattern matches.");
ROW(max_results, WHOLE, "maxResults", "maxResults=10", "Names of a page.");
ROW(object_fields, TEXT, "fields", "fields=items(name)", "Members of the answer; all of them come.");
ROW(soft_deleted, TEXT, "softDeleted", "softDeleted=true", "Only deleted objects: always an empty list.");
ROW(list_type, TEXT, "list-type", "list-type=2", "2: a listing in XML.");
ROW(continuation, TEXT, "continuation-token", "continuation-token=", "The next page.");
ROW(start_after, TEXT, "start-after", "start-after=a", "The name to begin behind.");
ROW(max_keys, WHOLE, "max-keys", "max-keys=10", "Names of a page.");
ROW(alt, TEXT, "alt", "alt=media", "media: the bytes, not what is known of them.");
ROW(generation, TEXT, "generation", "generation=1", "Only this generation.");
ROW(match, TEXT, "ifGenerationMatch", "ifGenerationMatch=1", "Only if it is at this generation.");
ROW(differ, TEXT, "ifGenerationNotMatch", "ifGenerationNotMatch=1", "Only if it is not.");
ROW(meta_match, TEXT, "ifMetagenerationMatch", "ifMetagenerationMatch=1",
    "Only if its metadata is at this generation.");
ROW(meta_differ, TEXT, "ifMetagenerationNotMatch", "ifMetagenerationNotMatch=2", "Only if it is not.");
ROW(search, TEXT, "search", "search=door", "Words of the id.", .repeats = true);
ROW(filter, TEXT, "filter", "filter=lerobot", "Tags.", .repeats = true);
ROW(repo_author, TEXT, "author", "author=farama-minari", "Repos of this organisation.");
ROW(gated, TEXT, "gated", "gated=false", "true: none, as no repo here is gated.");
ROW(sort, TEXT, "sort", "sort=lastModified", "By lastModified or createdAt, which are the same here.");
ROW(direction, TEXT, "direction", "direction=1", "1: the oldest first.");
ROW(repo_limit, WHOLE, "limit", "limit=10", "Repos of a page.");
ROW(repo_cursor, TEXT, "cursor", "cursor=", "The next page.");
ROW(blobs, TEXT, "blobs", "blobs=true", "true: with sizes and digests of files.");
ROW(recursive, TEXT, "recursive", "recursive=true", "true: with what is in folders.");
ROW(expand, TEXT, "expand", "expand=true", "true: with the last commit of each.");

/* ---- groups ---- */

#define OF_A_DATASET &id, &for_release, &revision
#define OF_AN_EPISODE OF_A_DATASET, &number
#define CHOOSING &where, &split, &task, &name
#define WAITING &wait, &partial
#define DRAWING                                                                                              \
    CHOOSING, &sort_episodes, &partition, &part, &partition_seed, &sample_size, &draw_seed, WAITING
#define CATALOGUE                                                                                            \
    &words, &prefix, &latest, &for_release, &status, &loadable, &problems, &env, &task_of_set, &robot,       \
        &camera_of_set, &author, &algorithm, &kind_of_set, &license, &action_dim, &facets, &sort_datasets
#define OF_A_PAGE &limit, &cursor
#define OF_LINES OF_A_PAGE, &lines_form
#define OBJECTS                                                                                              \
    &others, &object_prefix, &object_delimiter, &page_token, &start_offset, &end_offset, &glob,              \
        &max_results, &object_fields, &soft_deleted, &list_type, &continuation, &start_after, &max_keys
#define OBJECT_STATE &others, &alt, &generation, &match, &differ, &meta_match, &meta_differ

#endif
