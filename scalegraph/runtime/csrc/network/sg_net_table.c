/* All kinds of networks. */
#include "sg_net.h"

#define ENTRY(kind) &sg_net_##kind,
const sg_net_ops *const sg_net_table[] = {SG_NETWORKS(ENTRY)};
const unsigned sg_net_count = sizeof sg_net_table / sizeof *sg_net_table;
