/* What nearly all files above the ground include. */
#ifndef SG_RUNTIME_H
#define SG_RUNTIME_H

#include "sg_account.h"
#include "sg_branch.h"
#include "sg_mem.h"
#include "sg_observer.h"
#include "sg_own.h"
#include "sg_reference.h"
#include "sg_sched.h"
#include "sg_state.h"
#include "sg_stop.h"
#include "sg_writer.h"

#endif
