/** Counts of the calls made by the code of a program, with the linker's help: for a profile (state/profile.h).
 *
 *  A program that is linked with WRAP_FLAGS (Makefile) and wrapped_calls.o calls __wrap_malloc where its objects say
 *  malloc, and so on; these count and pass on. So every call in our code counts, in any file, without a line there, and
 *  the libraries have no state for it. Calls among shared libraries (HDF5, the driver of a GPU, the OpenMP runtime) do
 *  not count. gcc enters every parallel region by one function; clang has no such function, and regions are not counted
 *  then. */
#ifndef NB6_WRAPPED_CALLS_H
#define NB6_WRAPPED_CALLS_H

#include "nbody6/state/profile.h"

extern const struct nb6_call_counter nb6_wrapped_calls;

#endif
