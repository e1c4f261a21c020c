/* The Hankel function of the second kind and order 0, J(x) - i Y(x), for x > 0: the field of a line source.
 *
 * Polynomials of Abramowitz and Stegun, Handbook of Mathematical Functions, 9.4.1 to 9.4.3; errors below
 * 1e-7.
 */
#include <complex.h>
#include <math.h>

/* Operations per value at x > 3, the usual case: two polynomials of degree 6 (24), a root, a cosine and a
 * sine, two quotients, a sum and two products. */
enum { FLOPS_HANKEL = 32 };

static double polynomial(const double c[7], double x)
{
    double sum = c[6];
    for (int i = 5; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

static double complex hankel(double x)
{
    static const double j[7] = {1.0, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.00021};
    static const double y[7] = {0.36746691,  0.60559366, -0.74350384, 0.25300117,
                                -0.04261214, 0.00427916, -0.00024846};
    static const double size[7] = {0.79788456, -0.00000077, -0.0055274, -0.00009512,
                                   0.00137237, -0.00072805, 0.00014476};
    static const double phase[7] = {-0.78539816, -0.04166397, -0.00003954, 0.00262573,
                                    -0.00054125, -0.00029333, 0.00013558};
    if (x <= 3.0) {
        double square = x * x / 9.0, bessel = polynomial(j, square);
        return bessel - I * (2.0 / acos(-1.0) * log(0.5 * x) * bessel + polynomial(y, square));
    }
    double inverse = 3.0 / x, radius = polynomial(size, inverse) / sqrt(x);
    double angle = x + polynomial(phase, inverse);
    return radius * cos(angle) - I * (radius * sin(angle));
}
