/* Lists of collisions in order of time, which billiard.c and billiard-linked.c share. Each defines ITEM, a
 * structure with `time`, `before` and `after`, before it includes this file. */
static int comes_before(const ITEM *a, const ITEM *b)
{
    return a->time < b->time || (a->time == b->time && a < b);
}

/* Inserts `e` into the list that begins at `*first`, between two consecutive items. */
static void link_item(ITEM **restrict first, ITEM *e, ITEM *before, ITEM *after)
{
    e->before = before;
    e->after = after;
    if (before != NULL)
        before->after = e;
    else
        *first = e;
    if (after != NULL)
        after->before = e;
}

static void unlink_item(ITEM **restrict first, const ITEM *e)
{
    if (e->before != NULL)
        e->before->after = e->after;
    else
        *first = e->after;
    if (e->after != NULL)
        e->after->before = e->before;
}
