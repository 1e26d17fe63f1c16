#include "config/parameter-reference.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* --- synonyms --------------------------------------------------------------------------------- */

/* Synonyms are names that the field or other programs have for what a config names differently
 * here: "leapfrog" for velocity-verlet, "dt" for time.step. A synonym is only proposed in an error
 * message and never accepted as a value. */

struct synonym {
    const char *meant; /* a choice ("velocity-verlet") or the path of a key ("time.step") */
    const char *words; /* synonyms in small letters, no hyphens or underscores: "leapfrog kdk" */
    const char *note;  /* description of `meant`, if the words mean something else; else NULL */
};

/* If a word is in several rows, the first row whose `meant` is a possible choice or key counts. */
static const struct synonym synonyms[] = {
    /* integrators */
    { "velocity-verlet", "verlet vv kdk stormerverlet leapfrogkdk", NULL },
    { "velocity-verlet", "leapfrog", "the leapfrog in the order kick, drift, kick" },
    { "leapfrog-dkd", "dkd positionverlet", NULL },
    { "euler", "explicit expliciteuler forwardeuler", NULL },
    { "semi-implicit-euler", "symplectic symplecticeuler eulercromer cromer", NULL },
    { "yoshida4", "forestruth fr yoshida", NULL },
    { "pefrl", "omelyan", NULL },
    { "rk4", "rungekutta rungekutta4 rk", NULL },
    { "hermite4", "hermite aarseth blocksteps", NULL },
    { "hermite4", "nbody6 hermite6", "fourth order with steps of its own for each body" },
    { "block-leapfrog", "gadget", "the leapfrog with a step for each body, by its acceleration" },
    { "block-leapfrog", "blockkdk", NULL },
    { "gauss-radau", "ias15 ias adaptive bulirschstoer",
      "Gauss-Radau quadrature of 15th order with steps of its own" },
    { "gauss-radau", "gaussradau radau radau15 everhart", NULL },
    { "yoshida6", "whfast", "sixth order with a fixed step" },
    { "stages", "ruth ruth3 mclachlan splitting",
      "a list of kicks and drifts of your own, time.stages" },
    { "stages", "custom own", NULL },
    /* backends, precisions, instruction sets, kernels */
    { "cuda", "gpu nvidia", NULL },
    { "openmp", "cpu omp threads parallel multicore", NULL },
    { "serial", "reference", NULL },
    { "single", "float float32 fp32 f32", NULL },
    { "double", "float64 fp64 f64", NULL },
    { "avx512", "avx512f", NULL },
    { "baseline", "sse sse2 generic", NULL },
    { "symmetric", "thirdlaw newton", NULL },
    { "plain", "direct", NULL },
    { "portable", "reproducible bitwise", NULL },
    { "tiled", "shared", NULL },
    { "simt", "naive", NULL },
    /* initial conditions */
    { "uniform-cube", "random uniform cube box", NULL },
    { "cold-sphere", "sphere collapse coldcollapse uniformsphere", NULL },
    { "galaxy", "spiralgalaxy", NULL },
    { "galaxy", "milkyway", "a disc, a bulge and a halo" },
    { "nfw", "halo darkmatter", "a halo of dark matter" },
    { "nfw", "navarrofrenkwhite", NULL },
    { "hernquist", "bulge", "a sphere with a cusp" },
    { "dehnen", "cusp", NULL },
    { "disc", "disk exponentialdisk exponentialdisc spiral", NULL },
    { "bodies.inner_slope", "gamma", NULL },
    { "two-body", "kepler binary", NULL },
    { "outer-solar-system", "solarsystem planets outerplanets", NULL },
    { "figure-eight", "eight", NULL },
    { "pythagorean", "threebody burrau", NULL },
    { "encounter", "merger collision flyby", "two models on a Kepler orbit" },
    { "pericenter", "pericentre periapsis", NULL },
    { "file", "csv snapshot", NULL },
    /* diagnostics */
    { "radial-distribution", "rdf gr g(r) paircorrelation", NULL },
    { "conservation", "energy energies momentum thermo virialratio", NULL },
    { "density-profile", "density profile", NULL },
    { "lagrangian-radii", "lagrange halfmassradius", NULL },
    { "velocity-dispersion", "dispersion", NULL },
    { "close-encounters", "encounters", NULL },
    { "binaries", "binary boundpairs", NULL },
    { "escapers", "unbound", NULL },
    { "orbit", "elements kepler", NULL },
    /* outputs and files */
    { "xyz", "lammps lammpstrj dump", "extended XYZ, which OVITO reads" },
    { "xyz", "trajectory exyz extxyz ovito", NULL },
    { "gadget-hdf5", "hdf5 gadget h5 snapshot", NULL },
    { "hdf5", "gadget h5", NULL },
    { "vtkhdf", "vtk paraview", NULL },
    { "dcd", "charmm namd vmd", NULL },
    { "plain", "txt ascii", NULL },
    /* boundaries and units */
    { "periodic", "pbc", NULL },
    { "open", "vacuum free none", NULL },
    { "nbody", "henon natural", NULL },
    { "si", "mks", NULL },
    { "si", "cgs", "metres, kilograms and seconds" },
    { "astronomical", "au solar", "astronomical units, solar masses and days" },
    { "galactic", "kpc", NULL },
    { "pc-msun-myr", "parsec pc", NULL },
    /* keys */
    { "time.step", "dt timestep stepsize", NULL },
    { "time.end", "tend tmax tstop endtime duration", NULL },
    { "time.integrator", "method scheme", NULL },
    { "bodies.count", "n nbody nbodies particles", NULL },
    { "bodies.initial", "ic initialconditions", NULL },
    { "physics.softening", "eps epsilon softeninglength", NULL },
    { "physics.gravitational_constant", "g grav", NULL },
    { "physics.boundary", "pbc", NULL },
    { "physics.box_length", "box boxsize", NULL },
    { "compute.threads", "nthreads cores jobs", NULL },
    { "compute.devices", "gpus device", NULL },
    { "compute.stream", "batches streamed", NULL },
    { "compute.precision", "dtype", NULL },
    { "every", "interval frequency stride", NULL },
    { "r_max", "rmax cutoff", NULL },
    { "bins", "nbins", NULL },
};

/* Copies a word into `simple`, of `size` bytes, in small letters and without hyphens, underscores,
 * dots and blanks. */
static void simplify(const char *word, char *simple, size_t size)
{
    size_t length = 0;
    for (; *word && length + 1 < size; word++)
        if (!strchr("-_ .", *word))
            simple[length++] = (char)tolower((unsigned char)*word);
    simple[length] = '\0';
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (; *words; words += strcspn(words, " "), words += strspn(words, " "))
        if (strcspn(words, " ") == length && strncmp(words, word, length) == 0)
            return true;
    return false;
}

static bool is_candidate(const char *meant, const char *const *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(candidates[i], meant) == 0)
            return true;
    return false;
}

/* Returns the first synonym that has `word` among its words and whose `meant` is one of the `count`
 * candidates, or NULL. Capitals, hyphens, underscores, dots and blanks in `word` do not matter. */
static const struct synonym *synonyms_find(const char *word, const char *const *candidates,
                                           size_t count)
{
    enum { WORD_SIZE = 32 };
    char simple[WORD_SIZE];
    simplify(word, simple, sizeof simple);
    for (size_t i = 0; i < COUNT_OF(synonyms); i++)
        if (has_word(synonyms[i].words, simple) &&
            is_candidate(synonyms[i].meant, candidates, count))
            return &synonyms[i];
    return NULL;
}

/* Keys of NEMO, NBODY6, REBOUND, GADGET, AMUSE and other programs, in the form that simplify()
 * makes, with the error message that answers them. */
static const struct {
    const char *words, *answer;
} elsewhere[] = {
    { "externalpotential externalfield external potential potname tidalfield drag",
      "external fields are a list at the top level: "
      "external = ( { type = \"plummer\"; ... } ); see orrery info external" },
    { "collisions collision merge mergers",
      "bodies never merge or bounce: physics.softening limits their attraction, and "
      "the diagnostic close-encounters names the pairs" },
    { "theta openingangle erroltheta tree usetree pmgrid",
      "there is no opening angle: with compute.method = \"fmm\" (fast multipoles), "
      "compute.accuracy sets the relative error of the forces" },
    { "imf massfunction", "bodies.masses says how the masses of a cluster are drawn (\"equal\", "
                          "\"salpeter\", \"kroupa\", \"two-components\"), and "
                          "bodies.star_masses their range" },
    { "stellarevolution metallicity sph gas",
      "there is no gas here, and no star evolves: gravity alone" },
    { "hubbleparam hubble omega0 omegalambda cosmology comovingintegrationon redshift",
      "space does not expand here: give physical coordinates and "
      "velocities, not comoving ones" },
    { "errtolintaccuracy rtol", "the accuracy of integrators that choose their own steps is "
                                "time.accuracy (gauss-radau) or time.eta (hermite4, "
                                "block-leapfrog)" },
    { "dtout dtoutput timebetsnapshot snapshotinterval",
      "each diagnostic and each output has a key of its own: every = 10 is each tenth step" },
    { "unitlengthincm unitmassing unitvelocityincmpers",
      "the units of all numbers are physics.units (orrery info "
      "physics.units), and of a file bodies.file_units" },
};

const char *synonyms_elsewhere(const char *word)
{
    enum { WORD_SIZE = 32 };
    char simple[WORD_SIZE];
    simplify(word, simple, sizeof simple);
    for (size_t i = 0; i < COUNT_OF(elsewhere); i++)
        if (has_word(elsewhere[i].words, simple))
            return elsewhere[i].answer;
    return NULL;
}

enum { MAX_CANDIDATES = 256 };

struct candidates {
    const char *keys[MAX_CANDIDATES];
    size_t count;
};

static void add(struct candidates *candidates, const char *key)
{
    if (key && *key && candidates->count < MAX_CANDIDATES)
        candidates->keys[candidates->count++] = key;
}

static void add_table(struct candidates *candidates, const struct parameter *parameters,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(candidates, parameters[i].key);
}

const struct parameter *suggest_find(const struct parameter *parameters, size_t count,
                                     const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(parameters[i].key, key) == 0)
            return &parameters[i];
    return NULL;
}

bool suggest_owners(const struct group *group, const char *key, struct text *owners)
{
    bool found = false;
    if (!group->variant)
        return false;
    for (size_t i = 0; group->variant(i); i++) {
        const struct variant *variant = group->variant(i);
        if (!suggest_find(variant->parameters, variant->parameter_count, key))
            continue;
        if (owners)
            text_print(owners, "%s%s", found ? ", " : "", variant->name);
        found = true;
    }
    return found;
}

static bool has_key(const struct group *group, const char *key)
{
    return suggest_find(group->parameters, group->parameter_count, key) ||
           (group->variant_key && strcmp(group->variant_key, key) == 0) ||
           suggest_owners(group, key, NULL);
}

static void print_path(const struct group *group, const char *key, struct text *path)
{
    text_print(path, "%s%s%s", group->name, *group->name ? "." : "", key);
}

void suggest_choice(const char *word, const char *const *choices, size_t count, struct text *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(word, choices[i]) == 0) {
            text_print(text, "; names are written in small letters: write \"%s\"", choices[i]);
            return;
        }
    const struct synonym *synonym = synonyms_find(word, choices, count);
    const char *nearest = synonym ? synonym->meant : text_nearest(word, choices, count);
    if (synonym && synonym->note)
        text_print(text, "; the nearest here is %s: %s", synonym->meant, synonym->note);
    else if (nearest)
        text_print(text, "; did you mean %s?", nearest);
}

/* Adds to `near` the keys of a group and those of `variant`, or of all its variants if `variant` is
 * NULL; at the top level also the names of all groups. */
static void add_brace(struct candidates *near, const struct schema *schema,
                      const struct group *group, const struct variant *variant)
{
    add(near, group->variant_key);
    add_table(near, group->parameters, group->parameter_count);
    if (variant)
        add_table(near, variant->parameters, variant->parameter_count);
    for (size_t i = 0; !variant && group->variant && group->variant(i); i++)
        add_table(near, group->variant(i)->parameters, group->variant(i)->parameter_count);
    for (size_t i = 0; !*group->name && i < schema->group_count; i++)
        add(near, schema->groups[i].name);
}

/* Appends the path of the key for which `key` is a synonym ("dt": time.step). Returns false if the
 * schema has none. */
static bool add_synonym(const struct schema *schema, const char *key, struct text *path)
{
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        struct candidates keys = { .count = 0 };
        add_brace(&keys, schema, group, NULL);
        for (size_t k = 0; *group->name && k < keys.count; k++) {
            struct text full = { 0 };
            print_path(group, keys.keys[k], &full);
            const char *const candidate = full.bytes;
            const bool found = candidate && synonyms_find(key, &candidate, 1);
            if (found)
                text_print(path, "%s", candidate);
            text_free(&full);
            if (found)
                return true;
        }
    }
    return false;
}

bool suggest_key(const struct schema *schema, const struct group *group,
                 const struct variant *variant, const char *key, struct text *path)
{
    struct candidates near = { .count = 0 };
    add_brace(&near, schema, group, variant);
    const struct synonym *synonym = synonyms_find(key, near.keys, near.count);
    if (synonym) {
        print_path(group, synonym->meant, path);
        return true;
    }
    if (add_synonym(schema, key, path))
        return true;
    for (size_t i = 0; i < schema->group_count; i++)
        if (&schema->groups[i] != group && has_key(&schema->groups[i], key)) {
            print_path(&schema->groups[i], key, path);
            return true;
        }
    const char *nearest = text_nearest(key, near.keys, near.count);
    if (nearest)
        print_path(group, nearest, path);
    return nearest != NULL;
}
