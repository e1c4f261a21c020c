/* Drives the interconnect alone: reads commands, answers each with one line.
 *
 *   carry FROM TO BYTES NOW -> free arrival contention
 *   alone FROM TO BYTES     -> cycles of a message that meets no other
 *   hops FROM TO            -> links
 *   nodes                   -> how many there are
 *   speed NODE              -> thousandths
 *   statistics              -> every link that was used: name=transactions/busy/waiting;
 */
#include <inttypes.h>
#include <stdio.h>

#include "sg_calendar.h"
#include "sg_start.h"
#include "sg_wire.h"

static void tell(void *context, const sg_usage *u)
{
    (void)context;
    char name[64];
    sg_usage_name(u, name, sizeof name);
    if (u->transactions)
        printf("%s=%" PRIu64 "/%" PRIu64 "/%" PRIu64 ";", name, u->transactions, u->busy, u->waiting);
}

static void answer(sg_wire *wire, const sg_config *config, const char *line)
{
    sg_transfer t = {0};
    unsigned from, to;
    if (sscanf(line, "carry %u %u %" SCNu64 " %" SCNu64, &from, &to, &t.bytes, &t.now) == 4) {
        t.from = from;
        t.to = to;
        sg_wire_carry(wire, &t);
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t.free, t.arrival, t.contention);
    } else if (sscanf(line, "alone %u %u %" SCNu64, &from, &to, &t.bytes) == 3) {
        printf("%" PRIu64 "\n", sg_wire_alone(wire, from, to, t.bytes));
    } else if (sscanf(line, "hops %u %u", &from, &to) == 2) {
        printf("%u\n", sg_wire_hops(wire, from, to));
    } else if (sscanf(line, "speed %u", &from) == 1) {
        printf("%u\n", sg_config_node_speed(config, from));
    } else if (line[0] == 'n') {
        printf("%u\n", sg_wire_nodes(wire));
    } else {
        sg_wire_statistics(wire, tell, NULL);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    static sg_config config;
    char error[2 * SG_MAX_PATH + 256], line[256];
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2 || sg_config_read(argv[1], &config, error, sizeof error) != 0) {
        puts(error);
        return 2;
    }
    sg_wire *wire = sg_wire_create(&config, error, sizeof error);
    if (!wire) {
        puts(error);
        return 2;
    }
    puts("ready");
    while (fgets(line, sizeof line, stdin))
        answer(wire, &config, line);
    sg_wire_destroy(wire);
    return 0;
}
