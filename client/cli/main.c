/* minari-cli: from argv to an exit code. */
#include "client/cli/own_hub.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct cli cli = {0};
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    setlocale(LC_CTYPE, "C.UTF-8"); /* widths of characters; numbers stay as they are */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* as a full disk: it is said, and what came is kept */
    if (argc == 3 && strcmp(argv[1], "--generate") == 0)
        return cli_generate(argv[2]);
    cli.terminal = isatty(STDOUT_FILENO);
    cli.err_terminal = isatty(STDERR_FILENO);
    cli.colour = cli.terminal && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
    cli.arguments = calloc((size_t)argc + CLI_OFFERED, sizeof *cli.arguments);
    if (!cli.arguments)
        return cli_error(CLI_FAILED, "no memory");
    const bool offers = argc == 3 && strcmp(argv[1], "--offer") == 0;
    int code = offers ? cli_offer(&cli, argv[2]) : cli_parse(&cli, argc, argv);
    if (code < 0) {
        cli_catch_interrupt();
        code = cli_flush(cli.command->run(&cli));
    }
    minari_client_free(cli.client);
    cli_token_forget(&cli);
    own_hub_end();
    free(cli.arguments);
    return code;
}
