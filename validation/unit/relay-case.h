/* A relay (force/force-options.h) for tests in which the parts that divide the sums are threads,
 * not processes. relay_send() waits until the sums have been received, as large MPI messages do, so
 * that parts that wait for one another in a ring hang and the test shows it. */
#ifndef ORRERY_VALIDATION_RELAY_CASE_H
#define ORRERY_VALIDATION_RELAY_CASE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "force/method.h"

enum { RELAY_PARTS = 5 };

struct relay_office {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct letter {
        double *const *sums; /* NULL: no letter is on its way */
        size_t count;
    } letters[RELAY_PARTS][RELAY_PARTS]; /* [from][to] */
    size_t sent;
};

/* The context of a part's relay. */
struct relay_part {
    struct relay_office *office;
    size_t part;
};

static inline void relay_send(void *context, size_t to, double *const sums[3], size_t count)
{
    const struct relay_part *const own = context;
    struct relay_office *const office = own->office;
    struct letter *const letter = &office->letters[own->part][to];
    pthread_mutex_lock(&office->mutex);
    *letter = (struct letter){ sums, count };
    office->sent++;
    pthread_cond_broadcast(&office->changed);
    while (letter->sums)
        pthread_cond_wait(&office->changed, &office->mutex);
    pthread_mutex_unlock(&office->mutex);
}

static inline void relay_receive(void *context, size_t from, double *const sums[3], size_t count)
{
    const struct relay_part *const own = context;
    struct relay_office *const office = own->office;
    struct letter *const letter = &office->letters[from][own->part];
    pthread_mutex_lock(&office->mutex);
    while (!letter->sums)
        pthread_cond_wait(&office->changed, &office->mutex);
    if (letter->count != count)
        abort(); /* in this thread cmocka could not report a failed assertion */
    for (int axis = 0; axis < 3; axis++)
        memcpy(sums[axis], letter->sums[axis], count * sizeof(double));
    letter->sums = NULL;
    pthread_cond_broadcast(&office->changed);
    pthread_mutex_unlock(&office->mutex);
}

static inline void relay_open(struct relay_office *office)
{
    memset(office, 0, sizeof *office);
    pthread_mutex_init(&office->mutex, NULL);
    pthread_cond_init(&office->changed, NULL);
}

static inline void relay_close(struct relay_office *office)
{
    pthread_mutex_destroy(&office->mutex);
    pthread_cond_destroy(&office->changed);
}

#endif
