/** The command line and the configuration: options override the input. */
#ifndef NB6_CLI_CONFIG_H
#define NB6_CLI_CONFIG_H

#include "common/nbc.h"
#include "nbody6/app/run_names.h"

struct nb6_cli;
struct nb6_config;

/** NAME of the output: that of --out, or the input file's, without directory and extension. */
void nb6_cli_set_name(const struct nb6_cli *cli, struct nb6_config *config);
/** The checkpoint that --resume names: a file, or NAME for NAME.ckpt.h5.
 *  @param[in,out] cli  checkpoint   @param[out] path  [NB6_NAME_BYTES] kept by the caller while cli is used
 *  @return NBC_OK; NBC_FILE: there is neither */
int nb6_cli_find_checkpoint(struct nb6_cli *cli, char path[NB6_NAME_BYTES], struct nbc_error *err);
/** Options into the configuration of a new run, and its name.
 *  @return NBC_OK; NBC_BAD_INPUT (the option and its error, or as nb6_config_check) */
int nb6_cli_override(const struct nb6_cli *cli, struct nb6_config *config, struct nbc_error *err);

#endif
