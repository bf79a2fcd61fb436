/** Pairs and chains that resolve each other and advance together. */
#ifndef NB6_GROUPS_H
#define NB6_GROUPS_H

struct nb6_sim;

/** Find the groups anew, and when each is due. */
void nb6_pairs_set_groups(struct nb6_sim *sim);

#endif
