/* Form factors of a closed box: the fraction of the radiation from a point of one face that falls on a
 * rectangle of another.
 *
 * Both formulas are exact, so the form factors of a point add up to one over all rectangles of the box.
 * Standard catalogue of configuration factors: a differential element and a parallel or perpendicular
 * rectangle.
 */
#include <math.h>

/* A rectangle of face 0..5: normal along axis face / 2, at its lower or upper end. */
typedef struct patch {
    int face;
    double low[2], high[2]; /* along the other two axes, in ascending order */
} patch;

typedef struct box {
    double size[3];
} box;

static const double pi = 3.14159265358979323846;

/* 2 pi times the form factor of a parallel rectangle with a corner right above the point; a and b: its sides
 * over the distance. 15 operations. */
static double parallel_corner(double a, double b)
{
    double along = sqrt(1.0 + a * a), across = sqrt(1.0 + b * b);
    return a / along * atan(b / along) + b / across * atan(a / across);
}

/* A rectangle of the opposite face: 72 operations. */
static double parallel_factor(const double at[2], const patch *other, double distance)
{
    double a1 = (other->low[0] - at[0]) / distance, a2 = (other->high[0] - at[0]) / distance;
    double b1 = (other->low[1] - at[1]) / distance, b2 = (other->high[1] - at[1]) / distance;
    double sum =
        parallel_corner(a2, b2) - parallel_corner(a1, b2) - parallel_corner(a2, b1) + parallel_corner(a1, b1);
    return sum / (2.0 * pi);
}

/* A rectangle of a perpendicular face: `away` from the point to that face, its ends along the common edge
 * and its heights above the face of the point. 24 operations. */
static double perpendicular_factor(double away, const double along[2], const double height[2])
{
    double square = away * away, sum = 0.0;
    for (int end = 0; end < 2; end++) {
        double radius = sqrt(square + height[end] * height[end]);
        double angle = atan(along[1] / radius) - atan(along[0] / radius);
        sum += (end == 0 ? angle : -angle) * away / radius;
    }
    return sum / (2.0 * pi);
}

/* Operations per form factor, including the differences of coordinates for it; a root, a quotient and an
 * arc tangent count as one each. */
enum { FLOPS_PARALLEL = 76, FLOPS_PERPENDICULAR = 31 };

/* Lower end and upper end of `other` along an axis; a patch is flat along its normal. */
static void extent(const box *room, const patch *other, int axis, double ends[2])
{
    int normal = other->face / 2;
    if (axis == normal) {
        ends[0] = ends[1] = other->face % 2 ? room->size[axis] : 0.0;
        return;
    }
    int which = normal == 0 ? axis - 1 : normal == 1 ? axis / 2 : axis;
    ends[0] = other->low[which];
    ends[1] = other->high[which];
}

/* The fraction of the radiation from the middle of `one` that falls on `other`. */
static double form_factor(const box *room, const patch *one, const patch *other)
{
    int normal = one->face / 2, towards = other->face / 2;
    double at[2] = {0.5 * (one->low[0] + one->high[0]), 0.5 * (one->low[1] + one->high[1])};
    if (one->face == other->face)
        return 0.0;
    if (normal == towards)
        return parallel_factor(at, other, room->size[normal]);
    /* point: its coordinates; along: the other rectangle's ends along the common edge; height: its ends
     * above the face of the point */
    int edge = 3 - normal - towards;
    double point[3], along[2], height[2], plane[2];
    point[normal] = one->face % 2 ? room->size[normal] : 0.0;
    point[normal == 0 ? 1 : 0] = at[0];
    point[normal == 2 ? 1 : 2] = at[1];
    extent(room, other, edge, along);
    extent(room, other, normal, height);
    extent(room, other, towards, plane);
    along[0] -= point[edge];
    along[1] -= point[edge];
    if (one->face % 2) {
        double low = point[normal] - height[1];
        height[1] = point[normal] - height[0];
        height[0] = low;
    }
    return perpendicular_factor(fabs(plane[0] - point[towards]), along, height);
}
