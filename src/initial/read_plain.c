/* Seven columns between blanks: m x y z vx vy vz. Lines that start with # are comments. */
#include "initial/read.h"
#include "initial/rows.h"

static enum status open_table(const struct read_request *request, struct rows *rows,
                              struct error *error)
{
    (void)request, (void)error;
    rows->comments = true;
    rows->width = QUANTITY_REALS;
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        rows->column[q] = q + 1;
    return STATUS_OK;
}

static const struct rows_format format = { open_table };

/* Whatever is nothing else. */
static bool recognise(const char *path, const char *head, size_t length)
{
    (void)path, (void)head, (void)length;
    return true;
}

static enum status measure(const struct read_request *request, struct read_shape *shape,
                           struct error *error)
{
    return rows_measure(&format, request, shape, error);
}

static enum status read_bodies(const struct read_request *request, struct bodies *bodies,
                               struct error *error)
{
    return rows_read(&format, request, bodies, error);
}

const struct read_format read_plain = { "plain", recognise, measure, read_bodies };
