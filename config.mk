# Compilers, flags and libraries of the build. All may be overridden: make CC=clang BUILD=/tmp/x WERROR=1

VERSION := $(shell sed -n 's/^#define NB6_VERSION "\(.*\)"/\1/p' nbody6/run/nbody6.h)
SOVERSION := 0

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin FC),default)
FC := gfortran
endif
ifeq ($(origin AR),default)
AR := ar
endif
# Debian's own interpreter: the one that its numpy and h5py packages belong to.
PYTHON ?= $(or $(wildcard /usr/bin/python3),python3)
CLANG_FORMAT ?= $(notdir $(firstword $(foreach p,clang-format-14 clang-format,$(shell command -v $(p) 2>/dev/null))))
PKG_CONFIG ?= pkg-config

# The processor that CC compiles for
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ifeq ($(MACHINE),x86_64)
# Any x86-64 processor, those that virtual machines pretend to be included; it costs nothing that could be measured.
BASE_ISA ?= -march=x86-64
AVX2_ISA := -mavx2 -mfma
AVX512_ISA := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
endif

# -ffp-contract=off: the same source gives the same bits with and without fused multiply-add.
# Of variables a debugger knows nothing in builds with sanitizers, whose reports have lines; they compile in two thirds of
# the time.
OPT ?= $(if $(filter 1 thread,$(SANITIZE)),-O1 -g1,-O3 -g)
CPPFLAGS += -D_GNU_SOURCE -I.
CFLAGS_ALL := -std=c11 $(OPT) -fopenmp -fPIC -ffp-contract=off -fno-math-errno -Wall -Wextra -Wshadow -Wconversion \
    -Werror=implicit-function-declaration
FFLAGS_ALL := $(OPT) -fPIC -ffp-contract=off -Wall -Wextra
# Continuous integration takes no warning.
WERROR ?= $(if $(CI),1)
ifeq ($(WERROR),1)
CFLAGS_ALL += -Werror
FFLAGS_ALL += -Werror
endif
# Without the checks of a pointer before each access, a quarter of the time: the address sanitizer sees the access.
ifeq ($(SANITIZE),1)
CFLAGS_ALL += -fsanitize=address,undefined -fno-sanitize=null,object-size,pointer-overflow \
    -fsanitize=float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
endif
ifeq ($(SANITIZE),thread)
CFLAGS_ALL += -fsanitize=thread
LDFLAGS += -fsanitize=thread
endif
CFLAGS_ALL += $(CFLAGS)
FFLAGS_ALL += $(FFLAGS)

# Libraries
HDF5_PC := $(firstword $(foreach p,hdf5-serial hdf5,$(shell $(PKG_CONFIG) --exists $(p) 2>/dev/null && echo $(p))))
HDF5_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags $(HDF5_PC) 2>/dev/null)
HDF5_LIBS ?= $(shell $(PKG_CONFIG) --libs $(HDF5_PC) 2>/dev/null)
GSL_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags gsl 2>/dev/null)
GSL_LIBS ?= $(shell $(PKG_CONFIG) --libs gsl 2>/dev/null)
ZLIB_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags zlib 2>/dev/null)
ZLIB_LIBS ?= $(shell $(PKG_CONFIG) --libs zlib 2>/dev/null)
CMOCKA_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags cmocka 2>/dev/null)
CMOCKA_LIBS ?= $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null)
FORTRAN_LIBS ?= $(shell $(FC) -print-file-name=libgfortran.so 2>/dev/null)
# MPI is optional: one shared object calls it, which programs load if a launcher has started them.
MPICC ?= $(shell command -v mpicc 2>/dev/null)
# Where the OpenMP runtime of CC is, for programs that gfortran links
ifneq ($(findstring clang,$(notdir $(CC))),)
OPENMP_LIBS ?= $(firstword $(wildcard $(foreach d,. ../..,$(shell $(CC) -print-resource-dir)/$(d)/libomp.so)) -lomp)
else
OPENMP_LIBS ?= -lgomp
endif

# CUDA: used when nvcc is there and CUDA is not 0. Machine code for each listed architecture that this nvcc knows, and
# PTX of the newest of them for the GPUs to come.
CUDA ?= 1
CUDA_ARCH ?= 70 75 80 86 89 90 100 120
# All files of an ending in a folder and below it
sources-under = $(sort $(foreach p,$(wildcard $(1)/*),$(filter %.$(2),$(p)) $(call sources-under,$(p),$(2))))
CUDA_SOURCES := $(foreach d,gpunb gpuirr nbody6,$(call sources-under,$(d),cu))
ifneq ($(CUDA),0)
NVCC ?= $(shell command -v nvcc 2>/dev/null || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
endif
ifneq ($(and $(filter-out 0,$(CUDA)),$(NVCC),$(CUDA_SOURCES)),)
HAVE_CUDA := 1
CUDA_KNOWN := $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch))
CUDA_USED := $(filter $(CUDA_KNOWN),$(CUDA_ARCH))
CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))
CUDA_LIBS ?= -L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt -lpthread -lstdc++
CUDA_CFLAGS ?= -isystem $(CUDA_HOME)/include
NVCCFLAGS_ALL := -O3 -std=c++17 --fmad=true \
    $(foreach a,$(CUDA_USED),-gencode arch=compute_$(a),code=sm_$(a)) \
    -gencode arch=compute_$(lastword $(CUDA_USED)),code=compute_$(lastword $(CUDA_USED)) \
    -Xcompiler -fPIC,-Wall,-Wextra $(NVCCFLAGS)
endif

# ---- What is missing is said in one line before anything is compiled. Some goals compile nothing, or install first
# what is missing; the force libraries need the C compiler only.
GOALS := $(or $(MAKECMDGOALS),all)
NEED_NOTHING := clean deps deps-build deps-run deps-test deps-mpi deps-site deb dist site format format-check help uninstall run run-cost test test-long bench tsan fuzz \
    arm64-check
NEED_C := libgpu% libstellar install-legacy %/libgpunb.a %/libgpunb.so %/libgpuirr.a %/libgpuirr.so %/libstellar.a %/libstellar.so arm64-libs \
    cuda-check cuda-objects
NEED_CMOCKA := tests test-run test-build% long-tests test-long-run asan% tsan-run tsan-tests coverage% tests/% %/tests/%
C_GOALS := $(filter-out $(NEED_NOTHING),$(GOALS))
NEEDS := $(if $(C_GOALS),c) $(if $(filter-out $(NEED_C),$(C_GOALS)),fortran hdf5 gsl zlib) \
    $(if $(filter $(NEED_CMOCKA),$(C_GOALS)),cmocka)
MISSING := $(if $(C_GOALS),$(shell CC='$(CC)' FC='$(FC)' PKG_CONFIG='$(PKG_CONFIG)' HDF5_LIBS='$(HDF5_LIBS)' \
    GSL_LIBS='$(GSL_LIBS)' ZLIB_LIBS='$(ZLIB_LIBS)' CMOCKA_LIBS='$(CMOCKA_LIBS)' tools/missing.sh $(NEEDS)))
ifneq ($(MISSING),)
$(error missing: $(MISSING). `make deps$(if $(filter cmocka,$(NEEDS)),-test)$(if $(findstring clang,$(CC)), CC=$(CC))` installs what is missing)
endif
