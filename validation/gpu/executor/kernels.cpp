/* The kernels' own source as C++ for a CPU. Each is a unit of its own, hence the namespaces. */
#include "blocked.cuh"
#include "launch.cuh"
#include "shares.cuh"
#include "simt.cuh"
#include "state.cuh"
#include "sum.cuh"
#include "tiled.cuh"

namespace blocked_unit
{
#include "blocked.cu"
}
namespace ladder_unit
{
#include "ladder.cu"
}
namespace motion_unit
{
#include "motion.cu"
}
namespace move_unit
{
#include "move.cu"
}
namespace observe_unit
{
#include "observe.cu"
}
namespace portable_unit
{
#include "portable.cu"
}
namespace rates_unit
{
#include "rates.cu"
}
namespace resident_unit
{
#include "resident.cu"
}
namespace simt_unit
{
#include "simt.cu"
}
namespace step_unit
{
#include "step.cu"
}
namespace symmetric_unit
{
#include "symmetric.cu"
}
namespace textbook_unit
{
#include "textbook-launches.inc" /* textbook.cu, made for C++ by the makefile */
}
namespace tiled_unit
{
#include "tiled.cu"
}
