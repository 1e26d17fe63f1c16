#include "force/direct/task.h"

#include "base/share.h"

struct range team_share(const struct team *team, struct range range)
{
    enum { BLOCK = 32 };
    if (team->size == 1 && team->rank == 0)
        return range;
    if (team->rank >= team->size)
        return (struct range){ range.last, range.last };
    const size_t blocks = (range.last - range.first + BLOCK - 1) / BLOCK;
    const size_t first = range.first + share_start(blocks, team->size, team->rank) * BLOCK;
    const size_t last = range.first + share_start(blocks, team->size, team->rank + 1) * BLOCK;
    return (struct range){ first, last < range.last ? last : range.last };
}

void task_open(struct task *task, enum precision precision, size_t system)
{
    const struct force *const force = task->force;
    task->packing = (struct packing){ .precision = precision, .packed = task->scratch->packed };
    packing_open(&task->packing, &force->physics, task->bodies, system);
    task->all = team_share(&task->team, (struct range){ 0, task->bodies->stride });
    task->mine = team_share(&task->team, (struct range){ force->share.first, force->share.last });
    packing_fill(&task->packing, task->bodies, task->all);
    task->kernels = &force->kernels->force[precision];
    task->form = force->physics.boundary == BOUNDARY_PERIODIC ? FORM_PERIODIC : FORM_OPEN;
    task->masses = task->packing.packed.equal ? MASSES_EQUAL : MASSES_ANY;
    double *const a[3] = { task->bodies->ax, task->bodies->ay, task->bodies->az };
    for (int axis = 0; axis < 3; axis++)
        task->total[axis] = a[axis] + task->packing.first;
    team_wait(&task->team);
}
