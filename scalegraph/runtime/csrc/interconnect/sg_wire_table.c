/* All kinds of interconnects. */
#include <stddef.h>

#include "sg_wire.h"

#define WIRE(kind) &sg_wire_##kind,
const sg_topology *const sg_wire_table[] = {NULL, SG_WIRES(WIRE)};
const unsigned sg_wire_count = sizeof sg_wire_table / sizeof *sg_wire_table;
