#include "config/suggest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* --- synonyms --------------------------------------------------------------------------------- */

/*
 * The names that the field and other programs have for the things that a config file names here:
 * "leapfrog" for velocity-verlet, "dt" for time.step. A synonym is only ever proposed in an error
 * message and never accepted as a value.
 */

struct synonym {
    const char *word;  /* in small letters, without hyphens and underscores: "leapfrog" */
    const char *meant; /* a choice ("velocity-verlet") or the path of a key ("time.step") */
    const char *note;  /* what `meant` is, if not exactly what the word says; else NULL */
};

static const char sixth_order[] = "sixth order with a fixed step";
static const char block_steps[] = "fourth order with steps of its own for each body";
static const char leapfrog_steps[] = "the leapfrog with a step for each body, by its acceleration";
static const char radau[] = "Gauss-Radau quadrature of 15th order with steps of its own";

/* If a word has several rows, the first one that fits the key counts. */
static const struct synonym synonyms[] = {
    /* integrators */
    { "verlet", "velocity-verlet", NULL },
    { "vv", "velocity-verlet", NULL },
    { "kdk", "velocity-verlet", NULL },
    { "stormerverlet", "velocity-verlet", NULL },
    { "leapfrog", "velocity-verlet", "the leapfrog in the order kick, drift, kick" },
    { "leapfrogkdk", "velocity-verlet", NULL },
    { "dkd", "leapfrog-dkd", NULL },
    { "positionverlet", "leapfrog-dkd", NULL },
    { "explicit", "euler", NULL },
    { "expliciteuler", "euler", NULL },
    { "forwardeuler", "euler", NULL },
    { "symplectic", "semi-implicit-euler", NULL },
    { "symplecticeuler", "semi-implicit-euler", NULL },
    { "eulercromer", "semi-implicit-euler", NULL },
    { "cromer", "semi-implicit-euler", NULL },
    { "forestruth", "yoshida4", NULL },
    { "fr", "yoshida4", NULL },
    { "yoshida", "yoshida4", NULL },
    { "omelyan", "pefrl", NULL },
    { "rungekutta", "rk4", NULL },
    { "rungekutta4", "rk4", NULL },
    { "rk", "rk4", NULL },
    { "hermite", "hermite4", NULL },
    { "aarseth", "hermite4", NULL },
    { "nbody6", "hermite4", block_steps },
    { "blocksteps", "hermite4", NULL },
    { "hermite6", "hermite4", block_steps },
    { "gadget", "block-leapfrog", leapfrog_steps },
    { "blockkdk", "block-leapfrog", NULL },
    { "ias15", "gauss-radau", radau },
    { "ias", "gauss-radau", radau },
    { "gaussradau", "gauss-radau", NULL },
    { "radau", "gauss-radau", NULL },
    { "radau15", "gauss-radau", NULL },
    { "everhart", "gauss-radau", NULL },
    { "adaptive", "gauss-radau", radau },
    { "bulirschstoer", "gauss-radau", radau },
    { "whfast", "yoshida6", sixth_order },
    /* backends, precisions, instruction sets, kernels */
    { "gpu", "cuda", NULL },
    { "nvidia", "cuda", NULL },
    { "cpu", "openmp", NULL },
    { "omp", "openmp", NULL },
    { "threads", "openmp", NULL },
    { "parallel", "openmp", NULL },
    { "multicore", "openmp", NULL },
    { "reference", "serial", NULL },
    { "float", "single", NULL },
    { "float32", "single", NULL },
    { "fp32", "single", NULL },
    { "f32", "single", NULL },
    { "float64", "double", NULL },
    { "fp64", "double", NULL },
    { "f64", "double", NULL },
    { "avx512f", "avx512", NULL },
    { "sse", "baseline", NULL },
    { "sse2", "baseline", NULL },
    { "generic", "baseline", NULL },
    { "thirdlaw", "symmetric", NULL },
    { "newton", "symmetric", NULL },
    { "direct", "plain", NULL },
    { "shared", "tiled", NULL },
    { "naive", "simt", NULL },
    /* initial conditions */
    { "random", "uniform-cube", NULL },
    { "uniform", "uniform-cube", NULL },
    { "cube", "uniform-cube", NULL },
    { "box", "uniform-cube", NULL },
    { "sphere", "cold-sphere", NULL },
    { "collapse", "cold-sphere", NULL },
    { "coldcollapse", "cold-sphere", NULL },
    { "uniformsphere", "cold-sphere", NULL },
    { "spiralgalaxy", "galaxy", NULL },
    { "milkyway", "galaxy", "a disc, a bulge and a halo" },
    { "halo", "nfw", "a halo of dark matter" },
    { "darkmatter", "nfw", "a halo of dark matter" },
    { "navarrofrenkwhite", "nfw", NULL },
    { "bulge", "hernquist", "a sphere with a cusp" },
    { "cusp", "dehnen", NULL },
    { "disk", "disc", NULL },
    { "exponentialdisk", "disc", NULL },
    { "exponentialdisc", "disc", NULL },
    { "spiral", "disc", NULL },
    { "gamma", "bodies.inner_slope", NULL },
    { "kepler", "two-body", NULL },
    { "binary", "two-body", NULL },
    { "solarsystem", "outer-solar-system", NULL },
    { "planets", "outer-solar-system", NULL },
    { "outerplanets", "outer-solar-system", NULL },
    { "eight", "figure-eight", NULL },
    { "threebody", "pythagorean", NULL },
    { "burrau", "pythagorean", NULL },
    { "merger", "encounter", "two models on a Kepler orbit" },
    { "collision", "encounter", "two models on a Kepler orbit" },
    { "flyby", "encounter", "two models on a Kepler orbit" },
    { "pericentre", "pericenter", NULL },
    { "periapsis", "pericenter", NULL },
    { "csv", "file", NULL },
    { "snapshot", "file", NULL },
    /* diagnostics */
    { "rdf", "radial-distribution", NULL },
    { "gr", "radial-distribution", NULL },
    { "g(r)", "radial-distribution", NULL },
    { "paircorrelation", "radial-distribution", NULL },
    { "energy", "conservation", NULL },
    { "energies", "conservation", NULL },
    { "momentum", "conservation", NULL },
    { "thermo", "conservation", NULL },
    { "virialratio", "conservation", NULL },
    { "density", "density-profile", NULL },
    { "profile", "density-profile", NULL },
    { "lagrange", "lagrangian-radii", NULL },
    { "halfmassradius", "lagrangian-radii", NULL },
    { "dispersion", "velocity-dispersion", NULL },
    { "encounters", "close-encounters", NULL },
    { "binary", "binaries", NULL },
    { "unbound", "escapers", NULL },
    { "boundpairs", "binaries", NULL },
    { "elements", "orbit", NULL },
    { "kepler", "orbit", NULL },
    /* outputs and files */
    { "lammps", "xyz", "extended XYZ, which OVITO reads" },
    { "lammpstrj", "xyz", "extended XYZ, which OVITO reads" },
    { "dump", "xyz", "extended XYZ, which OVITO reads" },
    { "trajectory", "xyz", NULL },
    { "exyz", "xyz", NULL },
    { "extxyz", "xyz", NULL },
    { "ovito", "xyz", NULL },
    { "hdf5", "gadget-hdf5", NULL },
    { "gadget", "gadget-hdf5", NULL },
    { "gadget", "hdf5", NULL },
    { "h5", "gadget-hdf5", NULL },
    { "h5", "hdf5", NULL },
    { "snapshot", "gadget-hdf5", NULL },
    { "txt", "plain", NULL },
    { "ascii", "plain", NULL },
    /* boundaries and units */
    { "pbc", "periodic", NULL },
    { "vacuum", "open", NULL },
    { "free", "open", NULL },
    { "none", "open", NULL },
    { "henon", "nbody", NULL },
    { "natural", "nbody", NULL },
    { "mks", "si", NULL },
    { "cgs", "si", "metres, kilograms and seconds" },
    { "au", "astronomical", "astronomical units, solar masses and days" },
    { "solar", "astronomical", "astronomical units, solar masses and days" },
    { "kpc", "galactic", NULL },
    { "parsec", "pc-msun-myr", NULL },
    { "pc", "pc-msun-myr", NULL },
    /* keys */
    { "dt", "time.step", NULL },
    { "timestep", "time.step", NULL },
    { "stepsize", "time.step", NULL },
    { "tend", "time.end", NULL },
    { "tmax", "time.end", NULL },
    { "tstop", "time.end", NULL },
    { "endtime", "time.end", NULL },
    { "duration", "time.end", NULL },
    { "method", "time.integrator", NULL },
    { "scheme", "time.integrator", NULL },
    { "n", "bodies.count", NULL },
    { "nbody", "bodies.count", NULL },
    { "nbodies", "bodies.count", NULL },
    { "particles", "bodies.count", NULL },
    { "ic", "bodies.initial", NULL },
    { "initialconditions", "bodies.initial", NULL },
    { "eps", "physics.softening", NULL },
    { "epsilon", "physics.softening", NULL },
    { "softeninglength", "physics.softening", NULL },
    { "g", "physics.gravitational_constant", NULL },
    { "grav", "physics.gravitational_constant", NULL },
    { "pbc", "physics.boundary", NULL },
    { "box", "physics.box_length", NULL },
    { "boxsize", "physics.box_length", NULL },
    { "nthreads", "compute.threads", NULL },
    { "cores", "compute.threads", NULL },
    { "jobs", "compute.threads", NULL },
    { "gpus", "compute.devices", NULL },
    { "device", "compute.devices", NULL },
    { "dtype", "compute.precision", NULL },
    { "interval", "every", NULL },
    { "frequency", "every", NULL },
    { "stride", "every", NULL },
    { "rmax", "r_max", NULL },
    { "cutoff", "r_max", NULL },
    { "nbins", "bins", NULL },
};

/* Without capitals, hyphens, underscores and blanks. */
static void simplify(const char *word, char *simple, size_t size)
{
    size_t length = 0;
    for (; *word && length + 1 < size; word++)
        if (!strchr("-_ .", *word))
            simple[length++] = (char)tolower((unsigned char)*word);
    simple[length] = '\0';
}

static bool is_candidate(const char *meant, const char *const *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(candidates[i], meant) == 0)
            return true;
    return false;
}

/*
 * The first synonym of `word` whose meaning is one of the `count` candidates, or NULL. Capitals,
 * hyphens, underscores and blanks in `word` do not matter.
 */
static const struct synonym *synonyms_find(const char *word, const char *const *candidates,
                                           size_t count)
{
    enum { WORD_SIZE = 32 };
    char simple[WORD_SIZE];
    simplify(word, simple, sizeof simple);
    for (size_t i = 0; i < COUNT_OF(synonyms); i++)
        if (strcmp(synonyms[i].word, simple) == 0 &&
            is_candidate(synonyms[i].meant, candidates, count))
            return &synonyms[i];
    return NULL;
}

static const char
    fields[] = "external fields are a list at the top level: "
               "external = ( { type = \"plummer\"; ... } ); see orrery info external",
    no_merging[] = "bodies never merge or bounce: physics.softening limits their attraction, and "
                   "the diagnostic close-encounters names the pairs",
    no_tree[] = "there is no opening angle: compute.method = \"fmm\" (fast multipoles) takes "
                "from compute.accuracy the error of the forces that you accept",
    masses[] = "bodies.masses says how the masses of a cluster are drawn (\"equal\", "
               "\"salpeter\", \"kroupa\", \"two-components\"), and "
               "bodies.star_masses their range",
    no_gas[] = "there is no gas here, and no star evolves: gravity alone",
    no_space[] = "space does not expand here: give physical coordinates and "
                 "velocities, not comoving ones",
    no_tolerance[] = "the accuracy of integrators that choose their own steps is "
                     "time.accuracy (gauss-radau) or time.eta (hermite4, "
                     "block-leapfrog)",
    no_interval[] =
        "each diagnostic and each output has a key of its own: every = 10 is each tenth step",
    no_units[] = "the units of all numbers are physics.units (orrery info "
                 "physics.units), and of a file bodies.file_units";

/* Keys of NEMO, NBODY6, REBOUND, GADGET, AMUSE and others, as simplify() leaves them. */
static const struct {
    const char *word, *answer;
} elsewhere[] = {
    { "externalpotential", fields },
    { "externalfield", fields },
    { "external", fields },
    { "potential", fields },
    { "potname", fields },
    { "tidalfield", fields },
    { "drag", fields },
    { "collisions", no_merging },
    { "collision", no_merging },
    { "merge", no_merging },
    { "mergers", no_merging },
    { "theta", no_tree },
    { "openingangle", no_tree },
    { "erroltheta", no_tree },
    { "tree", no_tree },
    { "usetree", no_tree },
    { "pmgrid", no_tree },
    { "imf", masses },
    { "massfunction", masses },
    { "stellarevolution", no_gas },
    { "metallicity", no_gas },
    { "sph", no_gas },
    { "gas", no_gas },
    { "hubbleparam", no_space },
    { "hubble", no_space },
    { "omega0", no_space },
    { "omegalambda", no_space },
    { "cosmology", no_space },
    { "comovingintegrationon", no_space },
    { "redshift", no_space },
    { "errtolintaccuracy", no_tolerance },
    { "rtol", no_tolerance },
    { "dtout", no_interval },
    { "dtoutput", no_interval },
    { "timebetsnapshot", no_interval },
    { "snapshotinterval", no_interval },
    { "unitlengthincm", no_units },
    { "unitmassing", no_units },
    { "unitvelocityincmpers", no_units },
};

const char *synonyms_elsewhere(const char *word)
{
    enum { WORD_SIZE = 32 };
    char simple[WORD_SIZE];
    simplify(word, simple, sizeof simple);
    for (size_t i = 0; i < COUNT_OF(elsewhere); i++)
        if (strcmp(elsewhere[i].word, simple) == 0)
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

/* The keys of the brace; where no variant was chosen, those of all of them. */
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

/* The path that a synonym stands for ("dt": time.step), if the schema has it. */
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
