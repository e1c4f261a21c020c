/* Rows of the block table that are missing when the run begins.
 *
 * The time of a large program's blocks takes long to find out, and a run executes few of its functions. A
 * block of which nothing is known costs the trap alone; when it is executed, the rows of its function are
 * asked from a process that finds them meanwhile (instrument/functions/answers.py). The host's time is not
 * the program's, so cycles are the same as with all rows known. */
#include "sg_rows.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "sg_arch.h"
#include "sg_inline.h"
#include "sg_overlap.h"
#include "sg_runtime.h"

static struct {
    sg_timing *timing; /* of the blocks, and of the references: writable copies of the file's pages */
    sg_load_row *loads;
    uint32_t loads_count;
    long socket;
} rows = {.socket = -1};

static void lost(void)
{
    sg_stop(SG_STATUS_INTERNAL, "the process that times the program's functions has ended or cannot be "
                                "reached; run the program again");
}

static void reach(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(sg->config.rows_path) >= sizeof at.sun_path)
        lost();
    strcpy(at.sun_path, sg->config.rows_path);
    rows.socket = sg_descriptor_high(sg_arch_syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0));
    if (rows.socket < 0 || sg_arch_syscall(SYS_connect, rows.socket, (long)&at, (long)sizeof at, 0) != 0)
        lost();
}

static void ask(uint32_t number)
{
    bool again = rows.socket >= 0;
    if (!again)
        reach();
    const long a[6] = {rows.socket, (long)&number, sizeof number, MSG_NOSIGNAL, 0, 0};
    if (sg_arch_syscall6(SYS_sendto, a) == (long)sizeof number)
        return;
    if (!again)
        lost();
    rows.socket = -1; /* the program has closed all descriptors */
    ask(number);
}

static void receive(void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        long got = sg_arch_syscall(SYS_read, rows.socket, (long)((char *)to + done), (long)(size - done), 0);
        if (got > 0)
            done += (size_t)got;
        else if (got != -EINTR)
            lost();
    }
}

/* Costs of the segment that the hook of block `number` counts, if it is inlined. */
static void set_slot(uint32_t number)
{
    uint32_t place = sg_inline_place((const void *)(uintptr_t)sg->block_address[number]);
    for (uint32_t i = 0; place != 0 && i < sg->speeds; i++)
        *sg_inline_parts(&sg->speed[i], place) = sg->speed[i].parts[number];
}

static bool learn(uint32_t number)
{
    if (number == 0 || sg->timing[number - 1].millicycles != SG_TIMING_UNKNOWN)
        return false;
    static char text[512] = "";
    sg_rows_answer answer;
    ask(number);
    receive(&answer, sizeof answer);
    if (answer.text >= sizeof text || answer.timings >= sg->blocks_count || answer.loads > rows.loads_count)
        lost();
    uint32_t count = answer.timings + answer.loads, *numbers = sg_new((count + 1) * sizeof *numbers);
    receive(numbers, count * sizeof *numbers);
    for (uint32_t i = 0; i < answer.timings; i++)
        receive(&rows.timing[numbers[i] %= sg->blocks_count - 1], sizeof *rows.timing);
    for (uint32_t i = 0; i < answer.loads; i++)
        receive(&rows.loads[numbers[answer.timings + i] % rows.loads_count], sizeof *rows.loads);
    receive(text, answer.text);
    if (answer.text > 0 || sg->timing[number - 1].millicycles == SG_TIMING_UNKNOWN)
        sg_stop(SG_STATUS_INTERNAL, "a function of the program cannot be timed: %s", text);
    count = 0;
    for (uint32_t i = 0; i < answer.timings; i++)
        if (sg->block_address[numbers[i] + 1] != 0)
            numbers[count++] = numbers[i] + 1;
    for (uint32_t i = 0; i < count; i++)
        sg_cost_set(numbers[i]);
    sg_branch_learn(numbers, count);
    for (uint32_t i = 0; i < count; i++)
        set_slot(numbers[i]);
    return true;
}

void sg_rows_open(void)
{
    if (!sg->config.rows_path[0] || sg->timing == NULL)
        return;
    if (sg->blocks_scaled || sg->config.branches_penalty_cycles == 0)
        sg_stop(SG_STATUS_INTERNAL,
                "a run with missing rows needs a machine with branch prediction, and no what-if");
    rows.timing = (sg_timing *)sg->timing;
    rows.loads = (sg_load_row *)sg_overlap_rows(&rows.loads_count);
    uintptr_t first = (uintptr_t)rows.timing & ~(uintptr_t)4095,
              end = (uintptr_t)(rows.loads + rows.loads_count);
    if (mprotect((void *)first, end - first, PROT_READ | PROT_WRITE) != 0)
        sg_stop(SG_STATUS_INTERNAL, "the block table %s cannot be changed in memory", sg->config.blocks_path);
    sg->learn = learn;
}
