/* Some thousands of deterministic mutations of valid files through each reader, with any compiler; as many as
 * NB6_MUTATIONS says, beginning with the seed NB6_SEED, where these are set (tests/cli/long_texts.py). The long search
 * is libFuzzer's: tests/fuzz/fuzz.sh. */
#include "tests/support/fuzz_targets.h"
#include "tests/support/test_size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

enum { SIZE_MAX_BYTES = 8192, LIMIT_S = 10 };

static uint64_t seed;

/* xorshift64*: the same mutations everywhere */
static uint32_t draw(uint32_t n)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (uint32_t)((seed * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

static const char *const namelists[] = {
    "&ININPUT\nN=100,ETAI=0.01,ETAR=0.02,TCRIT=5.0,KZ(1:10)= 1 1 1 0 1 0 3 2 3 2\nKZ(11:20)=10*0 SMAX=0.5,Level='0' /\n"
    "&INDATA ALPHAS=2.35,BODY1=150.0,BODYN=0.08 /\n&INSCALE Q=0.5,VXROT=0.0 /\n",
    "&INSETUP SEMI=,ECC=,ZM1=,ZM2,ZMH,RCUT= /\n&INXTRNL0 GMG=1.78E11,RG0=13.3,DISK=,A=,RG=,,,VG=,,,MP= /\n"
    "&ININPUT N=1000,KZ(14)=2 KZ(22:23)=1,2 RBAR=1.2 ZMBAR=0.7 DTADJ=1d0 /",
    "$innbody6 kstart=1, tcomp=1.0e8 $end ! comment 'x\n&INMODEL MODEL=\"king\" W0=6 /\n&INRUN DEVICE='auto', "
    "NNBMAX=,CKPT=60 /",
    "&INOPTIONS GALAXY='solar', ESCAPERS='write' WRITE_MODEL='off' SLOW_DOWN='pairs' / &ININPUT KZ(14)=1 KZ(23)=2 /\n"
    "&INMODEL DATA='s.csv' UNITS='Msun AU km/s' COLUMNS='m, x, y, z, vx, vy, vz, id' /",
    "&INMODEL DATA='t' KEEP='kw, radius' RADII='collide' STELLAR='fort.12' / &ININPUT KZ(14)=5 / &INXTRNL0 RG=8 VG=0 9 "
    "/",
    "&INMODEL UNITS='astro' DATA='t' COLUMNS='1 2 3 4 5 6 7' / &INOPTIONS MASS_FUNCTION='kroupa2001' /",
    "! nothing\n&INDATA ALPHAS= /",
    "&ININPUT N=3 KZ(22)=10 / &INMODEL DATA='it''s' / &INBINPOP SEMI0=0.0005, ECC0=-1.0 /",
};
static const char *const positional[] = {
    "1 10000.0\n1024 1 10 199 80 1\n0.02 0.02 0.3 2.0 2.0 2.0 2.0D-04 1.0 0.5\n0 1 0 0 1 0 0 0 0 0\n"
    "0 0 0 0 0 1 0 0 0 0\n1 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 3\n10*0\n2.0E-05 0.001 0.2 1.0 1.0E-06 0.001\n"
    "2.3 10.0 0.1 0 0 0.002 0.0 5.0\n0.5 0.0 0.0 0.0 1.0\n",
    "1 1.0E8 1000. 40 40 0\n300 1 10 43532 80 1 1\n.01 .01 0.15 1 1 10 1.0 1.223 0.7\n0 1 1 0 1 0 4 3 0 2\n"
    "0 0 0 2 2 0 0 0 0 6\n1 0 2 0 0 2 0 0 0 2\n1 0 2 0 1 0 1 1 2 1\n5*0 1 3 0 1 0 KZ\n\n"
    "2.5E-6 8.E-5,0.1,,1.0E-06 0.01 1.0\n2.35 20.0 0.08 100 0 0.001 0 1.0 DATA\n0.5 0 0 0\n7.54E10 5.19 XTRNL0\n"
    "0.0005 -1.0 1.0 5.0 5 0 BINPOP\n\nKSTART, TCOMP\n",
    "1 5000000.0 0\n500 1 10 7 60 1\n0.02 0.02 0.1 1.0 1.0 10. 0.002 1.3 0.5\n2 2 1 0 1 0 2 4 0 2\n"
    "-1 1 0 3 2 1 0 2 3 3\n0 4 3 0 1 2 0 1 0 -2\n0 0 0 2 1 0 0 2 2 3\n0 1 0 1 -1 0 0 0 0 0\n"
    "0.000045 0.00126 0.2 1.0 0.000001 0.001\n1.0 20. 20. 30 0 0.02 0. 0.\n0.50 0.0 0.0 0.00000 0.125\n"
    "1.0E7 5E10 4 0.5 220 10 5E10 1 1\n10 0 0 -10 200 100\n0 1 0 0\n.001 -1 1 5 0 0 1\n0.1 -1 1 5 0\n10000.0 2 0\n",
    "1 1e6 0 40 40\n60 1 10 3 20 1\n.02 .02 0 .25 .5 .5 1 4 .5\n13*0 5 1 1 5*0 2 2 2*0 2 3*0 1 20*0\n"
    "0 0 .2 1 1e-6 .01\n1 1 1 0 0 .02 0 1\n.5 0 0 0\n8 0 .02 10 225 7\n",
    "1 10\n60 1 10 3 20 1\n.02 .02 0 .25 .5 .5 1 4 .5\n11*0 2 2*0 1 1 5*0 4 3*0 2 3*0 1 20*0\n"
    "0 0 .2 1 1e-6 .01\n1 1 1 0 0 .02 0 1\n.5 0 0 0 .125\n",
    "3 100.0 \n0 0 0 0 2 0 0 0\n",
    "1 1\n9 1 0 1 9 1/\n/\n4*0 1 5*0 2 12*0 3/\n/\n,,,2,/\n,2*\n0 0\n0.1 0 1 1\n1 6*0\n1 6*0\n1 6*0\n1 6*0",
};
static const char *const changes[] = {
    "&INNBODY6 KSTART=2, TCOMP=100, TCRTP0=0.5 /\n&ININPUT N=100 ETAI=0.01 ETAR=0.01 DTADJ=0.5 DELTAT=2 TCRIT=5 "
    "QE=1e-3 "
    "KZ(1:10)= 1 2 1 0 1 0 3 0 3 2 KZ(23)=2 ETAU=0.1 SMAX=0.3 /\n&INRUN CKPT=5 CHAIN='ar' FCHECK=1 /",
    "3 100.0 \n0 0 0 0 2 0 0 0\n",
    "5 100.0\n0.125 0.3 0 0 3.0 2e-3 23 4\n0.01 0 0.1 1D-4 1e-3 20\n",
    "4 1000. 1000. 40 40 10 0\n.01, 2*0.02 3*0\n",
    "2 1 1E3 40 40 0\n",
    "&INNBODY6 KSTART=3 / &ININPUT N=50 RBAR=3 ZMBAR=2 ETAI=0.01 /",
    "&ININPUT KZ(16)=0 RMIN=1e-3 DTMIN=1e-4 NNBOPT=20 / &INRUN NNBMAX=50 / &INMODEL MODEL='plummer' /",
};
static const char *const tables[] = {
    "0.5 1 0 0 0 0.5 0\n0.5 -1 0 0 0 -0.5 0\n",
    ("# m x y z vx vy vz\n 0.3D0, 1.0D0, 3.0, 0.0, 0.0, 0.0, 0.0\n0.4 -2 -1 0 0 0 0 ! second\n"
     "0.5 1 -1 0 1e-3 0 +1.E2\n\n"),
    "#Mass_[Msun]\tx_[pc]\ty_[pc]\tz_[pc]\tvx_[km/s]\tvy_[km/s]\tvz_[km/s]\tkw\tname\n"
    "0.5 1 0 0 0 0.5 0 1 a\n0.5 -1 0 0 0 -0.5 0 0.0 b!\n1 0 2 0 0 0 0, 1, c\n",
    "id,mass_msun,x_pc,y_pc,z_pc,vx_kms,vy_kms,vz_kms,type\n1,0.5,1,0,0,0,0.5,0,\"a, b\"\n7,0.5,-1,0,0,0,-0.5,0,\n"
    "3,1,0,2,0,0,0,0,MS\n",
    "# - {name: mass, unit: solMass, datatype: float64}\n# - {name: x, unit: kpc}\nx y z vx vy vz mass (Msun)\n"
    "1 0 0 0 0.5 0 3\n-1 0 0 0 -0.5 0 1\n2 2 2 1 1 1 1\n",
    "mass x y z vx vy vz radius [Rsun] kw Z epoch1_[Myr] L_[Lsun]\n0.5 1 0 0 0 0.5 0 1.5 1 .02 -3 1\n"
    "0.5 -1 0 0 0 -0.5 0 0 14 .02 -3 1e3\n0.1 -1 3 0 0 0.1 0 2D0 1 .02 0 nan\n",
    "1.0 0.1 0.2 0.3 0 0 0\r\n1.0 1.1 0.2 0.3 0 0 0\r\n1.0 0.1 1.2 0.3 1 2 3\r\n",
};
static const char *const stellar[] = {
    "5.00000000\t1 5.10000000 -12.50000000 2900.00000000\n3.0 1 3.0 -12.5 1D3\n2.0 14 30.0 -4 0\n",
    "0.5 1 0.5 0 0 0.1\n0.3, 1, 0.3, 0, 0, 0.0\n# comment\n0.2 0 0.2 0 0 0.\n",
    "12.0 100 1.0 0.5 0.3\n0.5 1 0.5 0 0 0.1\n0.3 1 0.3 0 0 0.0\n0.2 0 0.2 0 0 0.\n",
};
static const char *const pieces[] = {"&",
                                     "/",
                                     "=",
                                     ",",
                                     "'",
                                     "\"",
                                     "(1:10)",
                                     "3*",
                                     "1e999",
                                     "NaN",
                                     "-",
                                     "\n",
                                     "!",
                                     "KZ(51)=1 ",
                                     "N=",
                                     " ",
                                     "$END",
                                     "0",
                                     "99999999999999999999",
                                     "\r",
                                     "\t",
                                     "\xff",
                                     "(",
                                     ")",
                                     ":",
                                     "1.5",
                                     "2*",
                                     "1D-3",
                                     ",,"};

static void insert(uint8_t *data, size_t *size, size_t at, const void *piece, size_t length)
{
    if (*size + length > SIZE_MAX_BYTES) return;
    memmove(data + at + length, data + at, *size - at);
    memcpy(data + at, piece, length);
    *size += length;
}

static void mutate(uint8_t *data, size_t *size)
{
    size_t at = draw((uint32_t)*size);
    size_t length = 1 + draw(12);
    if (length > *size - at) length = *size - at;
    uint8_t copy[16];
    memcpy(copy, data + at, length);
    const char *piece = pieces[draw(sizeof pieces / sizeof pieces[0])];
    switch (draw(5)) {
    case 0:
        data[at] = (uint8_t)draw(256);
        break;
    case 1:
        insert(data, size, at, piece, strlen(piece));
        break;
    case 2:
        insert(data, size, draw((uint32_t)*size), copy, length);
        break;
    case 3:
        data[at] = (uint8_t)(' ' + draw(95));
        break;
    default: /* remove */
        if (*size - length < 2) break;
        memmove(data + at, data + at + length, *size - at - length);
        *size -= length;
    }
}

struct seed {
    uint8_t bytes[1024];
    size_t size;
};

/* Of the environment. */
static long number_in(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

static void run_seeds(const char *(*target)(const uint8_t *, size_t), const struct seed *seeds, size_t n_seeds)
{
    uint8_t data[SIZE_MAX_BYTES];
    const int mutations = (int)number_in("NB6_MUTATIONS", test_seeds(test_size(2000, 3000), 20000));
    seed = 0x9e3779b97f4a7c15ULL + (uint64_t)number_in("NB6_SEED", 0);
    for (int k = 0; k < mutations; k++) {
        const struct seed *from = &seeds[(size_t)k % n_seeds];
        size_t size = from->size + 1;
        data[0] = (uint8_t)draw(256);
        memcpy(data + 1, from->bytes, size - 1);
        for (uint32_t m = draw(8) + (k >= (int)n_seeds); m > 0; m--) mutate(data, &size);
        alarm(LIMIT_S); /* ends the program */
        const char *broken = target(data, size);
        alarm(0);
        if (broken) fail_msg("mutation %d: %s\n%.*s", k, broken, (int)size - 1, (const char *)data + 1);
    }
}

static void run(const char *(*target)(const uint8_t *, size_t), const char *const *texts, size_t n_texts)
{
    static struct seed seeds[16];
    assert_true(n_texts <= 16);
    for (size_t k = 0; k < n_texts; k++) {
        seeds[k].size = strlen(texts[k]);
        assert_true(seeds[k].size <= sizeof seeds[k].bytes);
        memcpy(seeds[k].bytes, texts[k], seeds[k].size);
    }
    run_seeds(target, seeds, n_texts);
}

static void test_namelist(void **state)
{
    (void)state;
    run(fuzz_namelist, namelists, sizeof namelists / sizeof namelists[0]);
}

static void test_positional(void **state)
{
    (void)state;
    run(fuzz_namelist, positional, sizeof positional / sizeof positional[0]);
}

static void test_changes(void **state)
{
    (void)state;
    run(fuzz_changes, changes, sizeof changes / sizeof changes[0]);
}

static void test_dat10(void **state)
{
    (void)state;
    run(fuzz_dat10, tables, sizeof tables / sizeof tables[0]);
}

static void test_stellar(void **state)
{
    (void)state;
    run(fuzz_stellar, stellar, sizeof stellar / sizeof stellar[0]);
}

/* Damaged archives: the result is a table with faults, or nothing. */
static void test_gzip(void **state)
{
    (void)state;
    static struct seed seeds[sizeof tables / sizeof tables[0]];
    const size_t n = sizeof tables / sizeof tables[0];
    for (size_t k = 0; k < n; k++) {
        z_stream z = {.next_in = (Bytef *)(uintptr_t)tables[k], .avail_in = (uInt)strlen(tables[k])};
        z.next_out = seeds[k].bytes;
        z.avail_out = sizeof seeds[k].bytes;
        /* 15 + 16: with the head and the checksum of gzip; level 0 stores, so that mutations reach the text */
        assert_int_equal(deflateInit2(&z, k % 2 ? 0 : 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        seeds[k].size = z.total_out;
        assert_int_equal(deflateEnd(&z), Z_OK);
    }
    run_seeds(fuzz_dat10, seeds, n);
}

/* ---- numbers that have no place in an int or an int64_t, or just have one */

static const char *const extremes[] = {
    "1e56",       "-1e300",     "4.9e-324", "9223372036854775807", "-9223372036854775808", "4611686018427387904",
    "4294967297", "-2147483649"};
static const char numeric[] = "0123456789.+-eEdD";

/* Each in the place of each number of a text; the sanitizer sees a cast that has no value. */
static void put_extremes(const char *(*target)(const uint8_t *, size_t), const char *const *texts, size_t n_texts)
{
    char data[2048];
    for (size_t k = 0; k < n_texts; k++)
        for (const char *at = texts[k] + strcspn(texts[k], numeric); *at;) {
            const size_t length = strspn(at, numeric), before = (size_t)(at - texts[k]);
            for (size_t e = 0; e < sizeof extremes / sizeof extremes[0]; e++) {
                const int size = snprintf(data, sizeof data, "%c%.*s%s%s", (int)(e & 1), (int)before, texts[k],
                                          extremes[e], at + length);
                assert_in_range(size, 2, sizeof data - 1);
                const char *broken = target((const uint8_t *)data, (size_t)size);
                if (broken) fail_msg("%s\n%s", broken, data + 1);
            }
            at += length;
            at += strcspn(at, numeric);
        }
}

static void test_extremes(void **state)
{
    (void)state;
    put_extremes(fuzz_namelist, namelists, sizeof namelists / sizeof namelists[0]);
    put_extremes(fuzz_namelist, positional, sizeof positional / sizeof positional[0]);
    put_extremes(fuzz_namelist, changes, sizeof changes / sizeof changes[0]);
    put_extremes(fuzz_changes, changes, sizeof changes / sizeof changes[0]);
    put_extremes(fuzz_dat10, tables, sizeof tables / sizeof tables[0]);
    put_extremes(fuzz_stellar, stellar, sizeof stellar / sizeof stellar[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_namelist), cmocka_unit_test(test_positional),
                                       cmocka_unit_test(test_changes),  cmocka_unit_test(test_dat10),
                                       cmocka_unit_test(test_gzip),     cmocka_unit_test(test_stellar),
                                       cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
