/** Names of backends in a configuration. */
#ifndef NB6_BACKEND_NAME_H
#define NB6_BACKEND_NAME_H

/** A backend as the libraries name it, of what a configuration says: NULL for "auto", the first one on a processor for
 *  "cpu". */
const char *nb6_backend_name(const char *wanted);

#endif
