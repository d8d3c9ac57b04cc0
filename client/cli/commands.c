/* The commands on one page. */
#include "client/cli/cli.h"

#include "storage/query/property.h"

#define HERE                                                                                                 \
    "Without a remote an ID names a dataset on this machine, below MINARI_DATASETS_PATH, and a path "        \
    "(/..., ./...,\n../..., ~/...) always does: no hub needs to run.\n"

const struct cli_command cli_commands[] = {
    {"list",
     cli_list,
     "local | remote | REMOTE",
     "local|remote",
     "list the datasets of a hub, or of this machine",
     "Shows the newest version of each dataset; --all shows every version, and plain files. (Minari's -a "
     "adds what "
     "its\n"
     "release cannot load. Here nothing is left out for that, unless --for RELEASE asks for it.) Groups of "
     "more than "
     "ten\n"
     "become one row: give --prefix to list them. --facets counts datasets by what a hub's lists can be "
     "filtered by:\n"
     "env, task, robot, camera, author, algorithm, kind, license, action_dim, format, status.\n\n"
     "  minari-cli list remote                         the hub of --remote or MINARI_HUB_URL\n"
     "  minari-cli list http://hub:8080 -p D4RL/door   that hub, only IDs that begin with it\n"
     "  minari-cli list remote --for 0.4.3             only what Minari 0.4.3 reads\n"
     "  minari-cli list local                          what is under MINARI_DATASETS_PATH\n"
     "  minari-cli list remote --env AdroitHandDoor-v1 --author 'Rodrigo de Lazcano'\n"
     "  minari-cli list remote --facets env,robot      how many datasets have each\n"
     "  minari-cli list local --robot so100\n"
     "  minari-cli list remote --json | jq -r '.items[].id'",
     0,
     1,
     {OPT_ALL, OPT_PREFIX, OPT_FOR, OPT_STATUS, OPT_ENV, OPT_TASK, OPT_ROBOT, OPT_CAMERA, OPT_AUTHOR,
      OPT_ALGORITHM, OPT_KIND, OPT_LICENSE, OPT_ACTION_DIM, OPT_OF_FORMAT, OPT_LOADABLE, OPT_FACETS, OPT_SORT,
      OPT_END}},
    {"search",
     cli_search,
     "WORD...",
     NULL,
     "find datasets of a hub by words",
     "Finds datasets with all the words, or words that begin with them, in the ID, the environment, tasks "
     "and robot,\nthe description, the authors, the names of fields; matches in the ID come first. Case and "
     "accents do not count.\n\n"
     "  minari-cli search door human\n"
     "  minari-cli search lift --robot Panda\n"
     "  minari-cli search lift --facets robot,camera\n"
     "  minari-cli search open door --sort=-episodes -n 10 --json",
     1,
     -1,
     {OPT_ALL, OPT_PREFIX, OPT_FOR, OPT_STATUS, OPT_ENV, OPT_TASK, OPT_ROBOT, OPT_CAMERA, OPT_AUTHOR,
      OPT_ALGORITHM, OPT_KIND, OPT_LICENSE, OPT_ACTION_DIM, OPT_OF_FORMAT, OPT_LOADABLE, OPT_FACETS, OPT_SORT,
      OPT_LIMIT, OPT_END}},
    {"show",
     cli_show,
     "ID | PATH",
     NULL,
     "describe a dataset",
     "A dataset on this machine is described from its files, any other by the hub; --remote always asks the "
     "hub.\n"
     "An ID without -vN is the newest version; a path (/..., ./..., ../..., ~/...) is a file or folder "
     "here.\n\n"
     "  minari-cli show D4RL/door/human-v2\n"
     "  minari-cli show http://hub:8080/D4RL/door/human\n"
     "  minari-cli show ./demos/lift.hdf5\n"
     "  minari-cli show D4RL/door/human-v2 --json | jq .fields",
     1,
     1,
     {OPT_FOR, OPT_END}},
    {"download",
     cli_download,
     "ID... | PATTERN... | -p PREFIX",
     NULL,
     "download datasets",
     "Datasets go under MINARI_DATASETS_PATH, where minari.load_dataset finds them, with what they were "
     "combined from.\n"
     "To continue an interrupted download, run the same command again. A dataset appears complete or not at "
     "all;\n\"verified\" means that every file agrees with the SHA-256 the hub gave.\n\n"
     "  minari-cli download D4RL/door/human-v2 D4RL/pen/human-v2\n"
     "  minari-cli download D4RL/door/human-v2 --force          replace the one that is there\n"
     "  minari-cli download door-human --for 0.4.3              the newest version Minari 0.4.3 reads\n"
     "  minari-cli download 'D4RL/door/*' --yes                 all that match, their newest versions\n"
     "  minari-cli download -p D4RL/door --yes --limit 20M       all below the prefix, at 20 MB/s\n"
     "  minari-cli download so100/pick-place -o ~/robots        any format: goes to "
     "~/robots/so100/pick-place\n"
     "  minari-cli download so100/pick-place -o ~/few --episodes 0:2    only the files that these need\n"
     "  minari-cli download hf://lab/robot@v2.1 -o ~/robots --exclude 'videos/*'\n"
     "  minari-cli download -r gcp://bucket/prefix --as lab/grasps -o ~/robots    everything there, "
     "unchanged",
     0,
     -1,
     {OPT_FORCE,       OPT_OUTPUT, OPT_FOR,   OPT_ALONE, OPT_CONNECTIONS, OPT_DIGEST_WAIT, OPT_RATE,
      OPT_NO_PROGRESS, OPT_PREFIX, OPT_ALL,   OPT_YES,   OPT_AS,          OPT_INCLUDE,     OPT_EXCLUDE,
      OPT_EPISODES,    OPT_WHERE,  OPT_SPLIT, OPT_TASK,  OPT_DRY_RUN,     OPT_END}},
    {"upload",
     cli_upload,
     "PATH [ID]",
     NULL,
     "push a dataset to a hub",
     "The folder becomes a new dataset of the hub: complete and inspected, or not at all. With --replace it "
     "takes the\nplace of the dataset that is there, unless somebody else changes that meanwhile; revert has "
     "the old one back.\n"
     "minari-inspect looks at it here first. To continue an interrupted push, run the same command again: "
     "files\nthat the hub has are not sent again.\n"
     "Without an ID it is the one that data/metadata.json states, else the path below MINARI_DATASETS_PATH, "
     "else the\nlast two names of the path. It needs a token that may write the ID.\n\n"
     "  minari-cli upload ./lab/arm-v0                          becomes lab/arm-v0, or what it calls itself\n"
     "  minari-cli upload ./recorded lab/arm-v0 --message 'first 50 episodes'\n"
     "  minari-cli upload ./recorded lab/arm --next-version     lab/arm-v1 where the hub has lab/arm-v0\n"
     "  minari-cli upload ./recorded lab/arm-v0 --replace       only what changed; what was there can be had "
     "back\n"
     "  minari-cli upload ./recorded lab/arm-v0 --dry-run       what would be sent\n"
     "  minari-cli upload ./notes lab/notes --allow files       files of no format that the hub knows",
     1,
     2,
     {OPT_MESSAGE, OPT_ALLOW, OPT_NEXT_VERSION, OPT_REPLACE, OPT_NO_INSPECT, OPT_TAR, OPT_DRY_RUN,
      OPT_CONNECTIONS, OPT_RATE, OPT_NO_PROGRESS, OPT_END}},
    {"drafts",
     cli_drafts,
     "[drop DRAFT...]",
     "drop",
     "list or drop datasets that are being pushed",
     "A draft is what came of a push that has not ended; one that is not changed for 7 days ends by "
     "itself.\n\n"
     "  minari-cli drafts                     your own, or all of an administrator's hub\n"
     "  minari-cli drafts drop DRAFT          with all that came of it",
     0,
     -1,
     {OPT_END}},
    {"revisions",
     cli_revisions,
     "ID",
     NULL,
     "list what was pushed to a hub under an ID",
     "The newest first; also of a dataset that was deleted. The files of a revision that is kept can be had "
     "back.\n\n"
     "  minari-cli revisions lab/arm-v0 --limit 10\n"
     "  minari-cli revisions lab/arm-v0 --json | jq -r '.items[] | select(.state == \"kept\") | .commit'",
     1,
     1,
     {OPT_LIMIT, OPT_END}},
    {"revert",
     cli_revert,
     "ID --revision COMMIT",
     NULL,
     "have a revision of a dataset back",
     "Its files take the place of what the hub has now, which stays as a revision; nothing is transferred. A "
     "dataset\nthat was deleted comes back. It needs a token that may write the ID.\n\n"
     "  minari-cli revisions lab/arm-v0                         which ones there are\n"
     "  minari-cli revert lab/arm-v0 --revision 1a2b3c4d5e --message 'the labels were wrong'",
     1,
     1,
     {OPT_REVISION, OPT_MESSAGE, OPT_END}},
    {"namespace",
     cli_namespace,
     "list | create|update|delete NAME",
     "list|create|update|delete",
     "list, create, describe or delete namespaces",
     "A namespace is a folder of datasets that says something of itself, in the file in which Python Minari "
     "keeps it.\n"
     "Without --remote it is one on this machine, below MINARI_DATASETS_PATH. update replaces all that it "
     "says; only an\n"
     "empty one is deleted. A change of a hub needs a token that may write below the name.\n\n"
     "  minari-cli namespace create lab/arms --description 'Arms on the bench'\n"
     "  minari-cli namespace update lab/arms --description 'Arms' --metadata '{\"room\": 12}'\n"
     "  minari-cli namespace list --remote http://hub:8080\n"
     "  minari-cli namespace delete lab/arms",
     1,
     2,
     {OPT_DESCRIPTION, OPT_METADATA, OPT_END}},
    {"delete",
     cli_delete,
     "ID...",
     NULL,
     "delete datasets from this machine, or from a hub",
     "Asks first, unless --yes. The whole ID with its version is needed.\n"
     "With --remote, or a URL as the ID, it is deleted from the hub: from that of --remote REMOTE, else of "
     "MINARI_HUB_URL.\nThe hub keeps its files for a while, and minari-cli revert has it back.\n\n"
     "  minari-cli delete D4RL/door/human-v2",
     1,
     -1,
     {OPT_YES, OPT_END}},
    {"verify",
     cli_verify,
     "ID | DIR",
     NULL,
     "compare a dataset on this machine with what was downloaded",
     "Compares sizes and SHA-256 with the record its download left; with --remote, with what the hub has "
     "now.\n"
     "Exit code 5: something is missing or changed.\n\n"
     "  minari-cli verify D4RL/door/human-v2\n"
     "  minari-cli verify /data/sets/D4RL/door/human-v2 --remote http://hub:8080",
     1,
     1,
     {OPT_END}},
    {"episodes",
     cli_episodes,
     "ID | PATH",
     NULL,
     "list the episodes of a dataset",
     HERE "\n"
          "  minari-cli episodes D4RL/door/human-v2 --limit 10\n"
          "  minari-cli episodes D4RL/door/human-v2 --sort=-return -n 5\n"
          "  minari-cli episodes so100/pick-place --task 0\n"
          "  minari-cli episodes D4RL/door/human-v2 --where 'steps > 200 and success = true'\n"
          "  minari-cli episodes D4RL/door/human-v2 --where \"task is null and number >= 2\" --json\n"
          "  minari-cli episodes D4RL/door/human-v2 --csv --columns number,steps,return,jerk > episodes.csv\n"
          "  minari-cli episodes D4RL/door/human-v2 --sort=-return -n 50 -o best.arrow",
     1,
     1,
     {OPT_WHERE, OPT_SORT, OPT_SPLIT, OPT_TASK, OPT_LIMIT, OPT_CSV, OPT_COLUMNS, OPT_FORMAT, OPT_OUTPUT,
      OPT_NO_PROGRESS, OPT_END}},
    {"stats",
     cli_stats,
     "ID | PATH",
     NULL,
     "show statistics of a dataset",
     "Returns, steps and fields as far as the hub has measured them. Metrics, which are names for --where "
     "too:\n" HUB_METRIC_PROPERTIES(
         HUB_PROPERTY_COMMA) "score.\n" HERE "\n"
                             "  minari-cli stats D4RL/door/human-v2\n"
                             "  minari-cli stats D4RL/door/human-v2 --field actions\n"
                             "  minari-cli stats D4RL/door/human-v2 --field return --where 'steps > 15'\n"
                             "  minari-cli stats D4RL/door/human-v2 --findings\n"
                             "  minari-cli stats D4RL/door/human-v2 --json | jq .fields.return.quantiles",
     1,
     1,
     {OPT_FIELD, OPT_FINDINGS, OPT_WHERE, OPT_SPLIT, OPT_TASK, OPT_END}},
    {"get",
     cli_get,
     "ID|PATH (EPISODE FIELD... | EPISODE ~media/CAMERA | files/FILE | archive.tar)",
     NULL,
     "get rows of a field, the video of a camera, a file, or all files as a tar",
     "Rows are sliced as in Python; one number is one row, episode -1 is the last one. The format is that of "
     "--format, else\nof the name given to -o, else json. Several fields come as one npz of the same steps. "
     "Pictures come as stored.\n"
     "~media/CAMERA is the episode's video as an mp4; --rows chooses its frames.\n" HERE "\n"
     "  minari-cli get D4RL/door/human-v2 3 observations --rows 10:20\n"
     "  minari-cli get D4RL/door/human-v2 -1 rewards\n"
     "  minari-cli get ./demos/lift.hdf5 0 actions              a dataset of this machine\n"
     "  minari-cli get D4RL/door/human-v2 3 observations actions --rows 0:100 -o both.npz\n"
     "  minari-cli get D4RL/door/human-v2 3 observations -o obs.npy    then: numpy.load(\"obs.npy\")\n"
     "  minari-cli get pictures/corridor-v0 0 observations --rows 5 -o frame.jpg\n"
     "  minari-cli get so100/pick-place 1 ~media/wrist -o wrist.mp4\n"
     "  minari-cli get D4RL/door/human-v2 files/data/metadata.json | jq .total_steps\n"
     "  minari-cli get D4RL/door/human-v2 archive.tar -o door.tar    then: minari-hub import door.tar, or "
     "tar x",
     2,
     -1,
     {OPT_ROWS, OPT_FORMAT, OPT_OUTPUT, OPT_NO_PROGRESS, OPT_END}},
    {"rows",
     cli_rows,
     "ID|PATH [FIELD...]",
     NULL,
     "get rows of all episodes, one after another",
     "The columns episode and step say where each row is from. A field is a name, a group or a role; the "
     "default is\nobservations, actions, rewards and ends. The name given to -o says the format: npz, "
     "csv,\narrow (a file, which Feather is too), arrows (a stream), jsonl.\n" HERE "\n"
     "  minari-cli rows D4RL/door/human-v2 -o all.npz           then: numpy.load(\"all.npz\")\n"
     "  minari-cli rows so100/pick-place @action --where 'success = true' -o actions.arrow\n"
     "  minari-cli rows D4RL/door/human-v2 --layout transitions -o qlearning.npz\n"
     "  minari-cli rows D4RL/door/human-v2 --partition 6,2 --partition-seed 1 --part 1 -o test.npz\n"
     "  minari-cli rows D4RL/door/human-v2 --random 3 --seed 1 -o three.npz\n"
     "  minari-cli rows D4RL/door/human-v2 --start -10 -o last-ten.npz\n"
     "  minari-cli rows D4RL/door/human-v2 --step-where 'rewards < -10' -o bad.npz\n"
     "  minari-cli rows D4RL/door/human-v2 rewards | head",
     1,
     -1,
     {OPT_WHERE,      OPT_SORT,   OPT_SPLIT,    OPT_TASK,   OPT_PARTITION,   OPT_PART, OPT_PARTITION_SEED,
      OPT_RANDOM,     OPT_SEED,   OPT_SENTINEL, OPT_VALID,  OPT_START,       OPT_STOP, OPT_STEP,
      OPT_STEP_WHERE, OPT_LAYOUT, OPT_FORMAT,   OPT_OUTPUT, OPT_NO_PROGRESS, OPT_END}},
    {"sample",
     cli_sample,
     "ID|PATH [FIELD...]",
     NULL,
     "draw windows of steps at random",
     "One npz: each field is an array (windows, length, ...), beside mask, episode and start; as arrow a "
     "window is a\nrow. A field is a name, a group or a role; the default is observations, actions, rewards "
     "and ends. The same --seed\ndraws the same windows.\n" HERE "\n"
     "  minari-cli sample D4RL/door/human-v2 --windows 256 --length 16 --seed 7 -o batch.npz\n"
     "  minari-cli sample D4RL/door/human-v2 @observation @action --length 8 --pad edge -o batch.npz\n"
     "  minari-cli sample D4RL/door/human-v2 --where 'success = true' --weight uniform -o batch.npz\n"
     "  minari-cli sample D4RL/door/human-v2 --windows 64 --partition 6,2 --partition-seed 1 -o train.npz",
     1,
     -1,
     {OPT_WINDOWS, OPT_LENGTH, OPT_SEED, OPT_PAD, OPT_WEIGHT, OPT_FINAL, OPT_SENTINEL, OPT_VALID, OPT_WHERE,
      OPT_SPLIT, OPT_TASK, OPT_PARTITION, OPT_PART, OPT_PARTITION_SEED, OPT_FORMAT, OPT_OUTPUT,
      OPT_NO_PROGRESS, OPT_END}},
    {"login",
     cli_login,
     "[URL]",
     NULL,
     "keep a token of a hub",
     "Asks for the token on the terminal, where it is not shown, or takes that of --token-file; asks the hub "
     "whose it is,\n"
     "and keeps it in ~/.config/minari/tokens.json, for you alone. From then on each command sends it to "
     "that "
     "hub,\n"
     "and to no other, unless --token-file or MINARI_HUB_TOKEN gives another one.\n\n"
     "  minari-cli login http://hub:8080\n"
     "  minari-cli login                               the hub of --remote or MINARI_HUB_URL\n"
     "  pass show lab/hub | minari-cli login http://hub:8080 --token-file -",
     0,
     1,
     {OPT_END}},
    {"logout",
     cli_logout,
     "[URL]",
     NULL,
     "forget the token of a hub",
     "The token stays good until the hub's administrator revokes it.\n\n"
     "  minari-cli logout http://hub:8080",
     0,
     1,
     {OPT_END}},
    {"whoami",
     cli_whoami,
     "[URL]",
     NULL,
     "show whose token a hub gets, and its role",
     "\"anonymous\" without a token.\n\n"
     "  minari-cli whoami http://hub:8080\n"
     "  minari-cli whoami --json | jq -r .name",
     0,
     1,
     {OPT_END}},
    {"help",
     cli_help_command,
     "[COMMAND]",
     "list|search|show|download|upload|drafts|revisions|revert|namespace|delete|verify|episodes|stats|get|"
     "rows|"
     "sample|login|logout|"
     "whoami",
     "show what a command takes, with examples",
     "",
     0,
     1,
     {OPT_END}},
    {"version", cli_version, "", NULL, "print this program's version", "", 0, 0, {OPT_END}},
    {NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, {OPT_END}},
};
