/* Work of uninstrumented C library functions that depends on their arguments.
 *
 * Counted with cachegrind in glibc 2.36: instructions, loads, stores and branches of calls that differ in one
 * conversion, with numbers of ordinary length (an integer of 4 digits, a real number of 10). On an
 * out-of-order processor such code fills five sixths of the issue slots (measured: 3.9 to 4.8 of 5.3
 * instructions per cycle). Its memory is private and small and is not simulated. Functions whose work is
 * constant are in instrument/librarycosts.py. On in-order machines only the references of these functions are
 * charged: what the libraries of their time executed is unknown. */
#include <string.h>

#include "sg_work.h"

typedef struct work {
    uint16_t ints, loads, stores, branches;
} work;

static const work print = {210, 105, 105, 60}, print_integer = {110, 25, 20, 25},
                  print_text = {65, 15, 15, 20}, print_real = {1250, 400, 270, 270},
                  print_character = {1, 1, 1, 0}, scan = {290, 120, 110, 80},
                  scan_integer = {190, 60, 40, 50}, scan_text = {120, 50, 40, 40},
                  scan_real = {790, 280, 170, 220}, stream = {25, 12, 8, 8}, sort_step = {6, 2, 1, 2};

static void carry_out(const work *each, uint64_t times, const void *site)
{
    sg_processor *p = sg_now;
    const sg_config *config = &sg->config;
    if (times == 0 || p->coroutine == NULL || !config->out_of_order)
        return;
    const uint32_t *cost = config->op_millicycles;
    uint64_t width = config->issue_width != 0 ? config->issue_width : 1;
    uint64_t ops = (uint64_t)each->ints + each->loads + each->stores + each->branches;
    uint64_t whole =
        (uint64_t)each->ints * cost[SG_OP_INT_ALU] + (uint64_t)each->branches * cost[SG_OP_BRANCH];
    uint64_t loads = (uint64_t)each->loads * cost[SG_OP_LOAD],
             stores = (uint64_t)each->stores * cost[SG_OP_STORE];
    uint64_t issue = ops * 1000 / width * 6 / 5, milli = issue > whole ? issue : whole;
    milli = milli > loads ? milli : loads;
    milli = milli > stores ? milli : stores;
    uint64_t cycles = milli * times / 1000;
    if (SG_UNLIKELY(sg_observed.library != NULL) && sg_observed.library(cycles))
        return;
    p->site = site;
    sg_charge_site(p, SG_CATEGORY_BUSY_INT, cycles);
}

/* Number of conversions of each kind in a format. */
typedef struct conversions {
    uint32_t integers, texts, reals;
} conversions;

static conversions conversions_of(const char *format)
{
    conversions found = {0};
    while ((format = strchr(format, '%')) != NULL) {
        format++;
        format += strspn(format, "-+ #0'*123456789.$hlLqjzt");
        if (*format == 0)
            break;
        if (strchr("fFeEgGaA", *format) != NULL)
            found.reals++;
        else if (strchr("sS[", *format) != NULL)
            found.texts++;
        else if (*format != '%')
            found.integers++;
        format++;
    }
    return found;
}

void sg_work_of_output(const char *format, int written, const void *site)
{
    if (sg == NULL)
        return;
    conversions found = conversions_of(format);
    carry_out(&print, 1, site);
    carry_out(&print_integer, found.integers, site);
    carry_out(&print_text, found.texts, site);
    carry_out(&print_real, found.reals, site);
    carry_out(&print_character, written > 0 ? (uint64_t)written : 0, site);
}

void sg_work_of_input(const char *format, const void *site)
{
    if (sg == NULL)
        return;
    conversions found = conversions_of(format);
    carry_out(&scan, 1, site);
    carry_out(&scan_integer, found.integers, site);
    carry_out(&scan_text, found.texts, site);
    carry_out(&scan_real, found.reals, site);
}

void sg_work_of_stream(size_t bytes, const void *site)
{
    if (sg == NULL)
        return;
    carry_out(&stream, 1 + bytes / 256, site);
}

void sg_work_of_sort(size_t count, uint64_t surprises, const void *site)
{
    for (size_t run = 1; run < count; run *= 2)
        carry_out(&sort_step, count, site);
    if (sg_now->coroutine != NULL && !(sg->config.ideal & SG_SKIMMING))
        sg_charge_site(sg_now, SG_CATEGORY_BUSY_CONTROL, surprises * sg->config.branches_penalty_cycles);
}
