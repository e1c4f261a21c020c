/* Clock ticks: when they occur and what they cost. */
#include "sg_tick.h"

/* The first tick of processor `id`, within the first period. The hash is splitmix64's (Steele, Lea, Flood
 * 2014). */
static uint64_t first_tick(uint32_t id)
{
    uint64_t x = (sg->config.tick_seed + 1ull) * 0x9e3779b97f4a7c15ull + (id + 1ull) * 0xd1b54a32d192ed03ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return 1 + (x ^ x >> 31) % sg->config.tick_period_cycles;
}

void sg_tick_begin(void)
{
    if (sg->config.tick_period_cycles == 0)
        return;
    sg->next_tick = sg_new(sg->processors * sizeof(uint64_t));
    for (uint32_t i = 0; i < sg->processors; i++)
        sg->next_tick[i] = sg->config.tick_spread ? first_tick(i) : sg->config.tick_period_cycles;
}

void sg_tick_handle(sg_processor *p)
{
    for (uint64_t *next = &sg->next_tick[p->id]; *next <= p->clock; *next += sg->config.tick_period_cycles)
        sg_charge_site(p, SG_CATEGORY_PRIM_DISTURBANCE, sg->config.tick_handler_cycles);
}

void sg_tick_miss(const sg_processor *p)
{
    uint64_t *next = &sg->next_tick[p->id], period = sg->config.tick_period_cycles;
    if (*next < p->clock)
        *next += (p->clock - *next + period - 1) / period * period;
}
