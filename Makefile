# nbody6: `make run` sets everything up and integrates an example, `make test` tests everything, `make help` lists the
# rest.
# Nothing is written outside $(BUILD), which may be anywhere: make BUILD=/tmp/x.

include config.mk

comma := ,
# One line for each file; V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all libs programs help FORCE
all: libs programs

O := $(BUILD)/obj
LIB := $(BUILD)/lib

# ---- Sources -> objects. A new .c, .f90 or .cu file at any depth of these folders is compiled without being named here.
isa-sources = $(if $(filter x86_64,$(MACHINE)),$(1),$(filter-out %_avx2.c %_avx512.c,$(1)))
objects = $(patsubst %,$(O)/%.o,$(basename $(call isa-sources,$(1))))

# Sources that replace those of CUDA in a build without it, and sources that such a build leaves out
CUDA_NONE := device/cuda/cuda_none.c gpunb/cuda/backend_cuda_none.c gpuirr/cuda/backend_cuda_none.c nbody6/engine/cuda/engine_none.c \
    nbody6/collisionless/residence_cuda_none.c
CUDA_ONLY := $(filter-out $(CUDA_NONE),$(foreach d,device gpunb gpuirr nbody6/engine,$(call sources-under,$(d)/cuda,c)) \
    nbody6/collisionless/residence_cuda.c)
WITHOUT := $(if $(HAVE_CUDA),$(CUDA_NONE),$(CUDA_ONLY))
# Objects in every library; loaded.c is in shared libraries with legacy calls alone.
COMMON_OBJ := $(call objects,$(filter-out $(WITHOUT) common/loaded.c, \
    $(call sources-under,common,c) $(call sources-under,device,c)))
GPUNB_OBJ := $(call objects,$(filter-out gpunb/fortran/% $(WITHOUT),$(call sources-under,gpunb,c)))
GPUIRR_OBJ := $(call objects,$(filter-out gpuirr/fortran/% $(WITHOUT),$(call sources-under,gpuirr,c)))
REG_OBJ := $(call objects,$(call sources-under,regularization,c))
STELLAR_OBJ := $(call objects,$(call sources-under,stellar,c))
# Programs that profile: the linker lets wrapped_calls.c stand between our code and these functions, and count.
WRAP_SRC := nbody6/app/wrapped_calls.c
WRAP_FLAGS := $(addprefix -Wl$(comma)--wrap=,nbc_alloc nbc_realloc malloc calloc realloc nbc_team_run GOMP_parallel)
CLI_SRC := nbody6/app/cli.c nbody6/app/cli_config.c
MAIN_SRC := nbody6/app/main.c $(CLI_SRC) $(WRAP_SRC)
MAIN_OBJ := $(call objects,$(wildcard $(MAIN_SRC)))
CHAIN_MAIN := nbody6/app/chain_main.c
CHAIN_OBJ := $(call objects,$(CHAIN_MAIN))
COLLISIONLESS_MAIN := nbody6/app/collisionless/main.c
COLLISIONLESS_OBJ := $(call objects,$(COLLISIONLESS_MAIN) $(CLI_SRC))
MPI_SRC := nbody6/world/mpi/object.c
NBODY6_OBJ := $(call objects,$(filter-out $(MAIN_SRC) $(CHAIN_MAIN) $(COLLISIONLESS_MAIN) $(MPI_SRC) $(WITHOUT), \
    $(call sources-under,nbody6,c)) $(call sources-under,nbody6,f90))
ifeq ($(HAVE_CUDA),1)
NBODY6_OBJ += $(patsubst %.cu,$(O)/%.cu.o,$(filter nbody6/%,$(CUDA_SOURCES)))
GPUNB_OBJ += $(patsubst %.cu,$(O)/%.cu.o,$(filter gpunb/%,$(CUDA_SOURCES)))
GPUIRR_OBJ += $(patsubst %.cu,$(O)/%.cu.o,$(filter gpuirr/%,$(CUDA_SOURCES)))
endif
shim = $(call objects,$(wildcard $(addprefix $(1)/fortran/,$(addsuffix .c,$(2)))))

# ---- Libraries. Each is self-contained: it holds the objects of the libraries below it, so that a legacy build needs
# one name in its link line. Objects that occur twice are the same, and a linker takes an archive member only once.
# A shared library shows what its map lists, and calls its own functions, also where another one with the same objects
# was loaded first. libnbody6 stays where it was loaded: HDF5 holds its driver, and OpenMP its threads.
# All have the C interface; the legacy symbols are those of one dialect, of NA12 and of NBODY6 where the name says none.
LIBRARIES := gpunb gpunb_nbody6 gpunb_nbody6pp gpuirr gpuirr_nbody6pp stellar nbody6
# Those with legacy calls
FORCE_LIBRARIES := $(filter-out stellar nbody6,$(LIBRARIES))
OBJ_gpunb := $(GPUNB_OBJ) $(COMMON_OBJ) $(call shim,gpunb,common open stop na12 host)
OBJ_gpunb_nbody6 := $(GPUNB_OBJ) $(COMMON_OBJ) $(call shim,gpunb,common open stop nbody6 host)
OBJ_gpunb_nbody6pp := $(GPUNB_OBJ) $(COMMON_OBJ) $(call shim,gpunb,common open stop nbody6pp)
OBJ_gpuirr := $(GPUIRR_OBJ) $(COMMON_OBJ) $(call shim,gpuirr,common open gpuirr)
OBJ_gpuirr_nbody6pp := $(GPUIRR_OBJ) $(COMMON_OBJ) $(call shim,gpuirr,common open nbody6pp)
OBJ_stellar := $(STELLAR_OBJ) $(COMMON_OBJ)
OBJ_nbody6 := $(NBODY6_OBJ) $(GPUNB_OBJ) $(GPUIRR_OBJ) $(REG_OBJ) $(STELLAR_OBJ) $(COMMON_OBJ)

# The check of legacy calls when a library is loaded, and the calls, from its map
LOADED := $(patsubst %,$(O)/loaded_lib%.o,$(FORCE_LIBRARIES))
$(LOADED): $(O)/loaded_%.o: common/loaded.c packaging/exports/%.map $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,'$< for $*')
	@sed -n '/legacy Fortran/,$$s/^ *\([a-z0-9_]*_\);$$/    "\1",/p' packaging/exports/$*.map > $(@:.o=.inc)
	$(Q)$(CC) $(CPPFLAGS) -I$(O) -DNBC_LIBRARY='"$*"' -DNBC_SYMBOLS='"loaded_$*.inc"' $(CFLAGS_ALL) $(BASE_ISA) \
	    -MMD -MP -c -o $@ $<

BASE_LIBS := $(CUDA_LIBS) -lm
NBODY6_LIBS := $(HDF5_LIBS) $(GSL_LIBS) $(ZLIB_LIBS) $(FORTRAN_LIBS) $(BASE_LIBS) -ldl
libs-of = $(if $(filter nbody6,$(1)),$(NBODY6_LIBS),$(BASE_LIBS))

define library
$(LIB)/lib$(1).a: $$(OBJ_$(1))
	@mkdir -p $$(@D)
	$$(call say,AR,$$@)
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
$(LIB)/lib$(1).so.$(SOVERSION): $$(OBJ_$(1)) $$(filter %/loaded_lib$(1).o,$$(LOADED)) $(O)/flags \
    packaging/exports/lib$(1).map
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) -shared -fopenmp $$(LDFLAGS) -Wl,--no-undefined -Wl,--version-script=packaging/exports/lib$(1).map \
	    -Wl,-Bsymbolic-functions -Wl,-soname,lib$(1).so.$(SOVERSION) \
	    $$(if $$(filter nbody6,$(1)),-Wl$$(comma)-z$$(comma)nodelete) \
	    -o $$@ $$(filter %.o,$$^) $$(call libs-of,$(1)) $$(if $$(filter $(1),$(FORCE_LIBRARIES)),-ldl)
$(LIB)/lib$(1).so: $(LIB)/lib$(1).so.$(SOVERSION)
	@ln -sf $$(<F) $$@
lib$(1): $(LIB)/lib$(1).a $(LIB)/lib$(1).so
.PHONY: lib$(1)
endef
$(foreach l,$(LIBRARIES),$(eval $(call library,$(l))))
libs: $(addprefix lib,$(LIBRARIES))

# For tests of common/ and device/ alone
$(LIB)/libnbcommon.a: $(COMMON_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

MPI_OBJECT := $(if $(MPICC),$(BUILD)/nbody6-mpi.so)
programs: $(BUILD)/nbody6 $(BUILD)/nbody6-chain $(BUILD)/nbody6-collisionless $(MPI_OBJECT)
$(BUILD)/nbody6: $(MAIN_OBJ) $(LIB)/libnbody6.a
	$(call say,LD,$@)
	$(Q)$(CC) -fopenmp $(LDFLAGS) $(WRAP_FLAGS) -o $@ $^ $(NBODY6_LIBS)
$(BUILD)/nbody6-chain: $(CHAIN_OBJ) $(LIB)/libnbody6.a
	$(call say,LD,$@)
	$(Q)$(CC) -fopenmp $(LDFLAGS) -o $@ $^ $(NBODY6_LIBS)

$(BUILD)/nbody6-collisionless: $(COLLISIONLESS_OBJ) $(LIB)/libnbody6.a
	$(call say,LD,$@)
	$(Q)$(CC) -fopenmp $(LDFLAGS) -o $@ $^ $(NBODY6_LIBS)

# The calls of MPI (nbody6/world/launch.h), by the compiler of the MPI that is here
MPI_OBJ := $(if $(MPICC),$(call objects,$(MPI_SRC)))
$(O)/mpicc: FORCE
	@mkdir -p $(@D)
	@echo '$(MPICC)' | cmp -s - $@ || echo '$(MPICC)' > $@
$(MPI_OBJ): $(O)/%.o: %.c $(O)/flags $(O)/mpicc
	@mkdir -p $(@D)
	$(call say,MPICC,$<)
	$(Q)$(MPICC) $(CPPFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS_ALL)) -MMD -MP -c -o $@ $<
$(BUILD)/nbody6-mpi.so: $(MPI_OBJ)
	$(call say,LD,$@)
	$(Q)$(MPICC) -shared -o $@ $<

# ---- Compilation
# Objects depend on these files, which change when a compiler or a flag does: those of CUDA sources on the second one as
# well. (Expanded here, because in the recipe the variables would have the values of the object that asks first.)
FLAGS_TEXT := $(VERSION) $(CC) $(CPPFLAGS) $(BASE_ISA) $(CFLAGS_ALL) $(HDF5_CFLAGS) $(GSL_CFLAGS) $(ZLIB_CFLAGS) \
    $(FC) $(FFLAGS_ALL) $(NVCC) $(LDFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; echo '$(FLAGS_TEXT)' > $$new; cmp -s $$new $@ && rm $$new || mv $$new $@
NVCC_TEXT := $(NVCCFLAGS_ALL)
$(O)/nvcc-flags: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; echo '$(NVCC_TEXT)' > $$new; cmp -s $$new $@ && rm $$new || mv $$new $@

isa-flags = $(if $(filter %_avx512.c,$(1)),$(AVX512_ISA),$(if $(filter %_avx2.c,$(1)),$(AVX2_ISA)))
$(O)/device/%.o $(O)/gpunb/%.o $(O)/gpuirr/%.o: CPPFLAGS += $(CUDA_CFLAGS)
$(O)/%/fortran/open.o: CPPFLAGS += -DNBC_VERSION='"$(VERSION)"'
$(O)/nbody6/%.o: CPPFLAGS += $(HDF5_CFLAGS) $(GSL_CFLAGS) $(ZLIB_CFLAGS) $(CUDA_CFLAGS)
$(O)/tests/%.o: CPPFLAGS += $(HDF5_CFLAGS) $(GSL_CFLAGS) $(ZLIB_CFLAGS) $(CMOCKA_CFLAGS)
# The code under test is compiled elsewhere: tests compile in half of the time, and take as long.
$(O)/tests/%.o: CFLAGS_ALL += -O1
$(O)/tests/conformance/%_device.o: CPPFLAGS += $(if $(HAVE_CUDA),-DNBC_TEST_CUDA $(CUDA_CFLAGS))
$(O)/bench/%.o: CPPFLAGS += $(HDF5_CFLAGS) $(GSL_CFLAGS) $(ZLIB_CFLAGS)
$(O)/bench/plain/%.o: CFLAGS_ALL += -ffast-math -ffp-contract=fast
# The same bits as from the processor.
$(O)/nbody6/engine/cuda/pulls.cu.o: NVCCFLAGS_ALL := $(subst --fmad=true,--fmad=false,$(NVCCFLAGS_ALL))
$(O)/nbody6/collisionless/%.cu.o: NVCCFLAGS_ALL := $(subst --fmad=true,--fmad=false,$(NVCCFLAGS_ALL))

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(BASE_ISA) $(call isa-flags,$<) -MMD -MP -c -o $@ $<
$(O)/%.o: %.f90 $(O)/flags
	@mkdir -p $(@D) $(BUILD)/mod
	$(call say,FC,$<)
	$(Q)$(FC) $(FFLAGS_ALL) -J$(BUILD)/mod -c -o $@ $<
$(O)/%.cu.o: %.cu $(O)/flags $(O)/nvcc-flags
	@mkdir -p $(@D)
	$(call say,NVCC,$<)
	$(Q)$(NVCC) $(CPPFLAGS) $(NVCCFLAGS_ALL) -MMD -MP -MF $(O)/$*.cu.d -c -o $@ $<

# ---- Tests and benchmarks: one program for each file
TEST_SRC := $(wildcard $(foreach k,unit conformance convergence physics,tests/$(k)/test_*.c))
LONG_SRC := $(wildcard tests/long/*.c tests/*/long_*.c)
BENCH_SRC := $(wildcard bench/*.c)
TEST_BIN := $(patsubst %.c,$(BUILD)/%,$(TEST_SRC))
LONG_BIN := $(patsubst %.c,$(BUILD)/%,$(sort $(LONG_SRC)))
CUDA_BENCH_SRC := $(if $(HAVE_CUDA),$(wildcard bench/*.cu))
BENCH_BIN := $(patsubst %.c,$(BUILD)/%,$(BENCH_SRC)) $(patsubst %.cu,$(BUILD)/%,$(CUDA_BENCH_SRC))
SUPPORT_OBJ := $(call objects,$(wildcard tests/support/*.c))

$(BUILD)/tests/libsupport.a: $(SUPPORT_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

BENCH_SUPPORT_OBJ := $(call objects,$(wildcard bench/support/*.c))
$(BUILD)/bench/libsupport.a: $(BENCH_SUPPORT_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# A test of one library links that library only: as a shared one with all symbols, which spares two hundred copies of 25
# MB and the time to write them. Programs that stand between the library and what it calls, and those that call CUDA
# themselves, whose runtime is to be there once, have copies all the same; lld, which clang's sanitizers come with, would
# take members of archives that nobody has asked for yet, such as tests/support/faults.c.
TEST_LIB := $(BUILD)/tests/lib
WRAPPED_TESTS := $(addprefix tests/unit/,test_transactions test_adjust_transaction test_engine_faults \
    test_set_masses_faults test_ageing)
is-shared = $(if $(findstring clang,$(CC)),,$(filter tests/%,$(filter-out $(WRAPPED_TESTS) %_device,$(1))))
library-of = $(if $(filter test_common% long_common% test_device%,$(1)),nbcommon,$(if $(filter test_gpunb% long_gpunb% \
    gpunb%,$(1)),gpunb,$(if $(filter test_gpuirr% long_gpuirr% gpuirr%,$(1)),gpuirr,$(if \
    $(filter test_stellar% long_stellar% bench_stellar%,$(1)),stellar,nbody6))))
test-lib = $(if $(call is-shared,$(1)),$(TEST_LIB)/libtest_$(call library-of,$(notdir $(1))).so,$(LIB)/lib$(call \
    library-of,$(notdir $(1))).a)
# The other linker of binutils, where it is, takes half of the time.
TEST_LINKER := $(if $(findstring clang,$(CC)),,$(if $(shell command -v ld.gold 2>/dev/null),-fuse-ld=gold))
$(TEST_LIB)/libtest_%.so: $(LIB)/lib%.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -fopenmp $(TEST_LINKER) $(LDFLAGS) -Wl,--no-undefined -Wl,-Bsymbolic-functions \
	    -Wl,-soname,$(@F) -o $@ -Wl,--whole-archive $< -Wl,--no-whole-archive $(call libs-of,$*)
define c-program
$(BUILD)/$(1): $(O)/$(1).o $(2) $(call test-lib,$(1))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) -fopenmp $(TEST_LINKER) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter-out %.o,$$^) $(3) \
	    $(if $(call is-shared,$(1)),-Wl$(comma)-rpath$(comma)'$$$$ORIGIN/../lib') \
	    $$(if $$(filter %nbody6.a %nbody6.so,$$^),$$(NBODY6_LIBS),$$(BASE_LIBS))
endef
$(foreach t,$(TEST_SRC) $(sort $(LONG_SRC)),$(eval $(call \
    c-program,$(basename $(t)),$(BUILD)/tests/libsupport.a,$$(CMOCKA_LIBS))))
$(foreach t,$(BENCH_SRC),$(eval $(call c-program,$(basename $(t)),$(BUILD)/bench/libsupport.a,)))

# Programs that time kernels themselves
$(patsubst %.cu,$(BUILD)/%,$(CUDA_BENCH_SRC)): $(BUILD)/%: $(O)/%.cu.o $(LIB)/libgpunb.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -fopenmp $(LDFLAGS) -o $@ $^ $(BASE_LIBS)

# The plain force loops that bench_gpunb compares with
PLAIN_OBJ := $(call objects,$(wildcard bench/plain/*.c))
$(BUILD)/bench/bench_gpunb: $(PLAIN_OBJ)
# Expansions of the orders 1 to 15, for the program that times them and for their test
$(BUILD)/bench/bench_orders $(BUILD)/tests/convergence/test_gpunb_expansions: $(call objects,$(wildcard bench/orders/*.c))

# The program for profiles counts calls, and is tested
$(BUILD)/bench/bench_run: $(call objects,$(WRAP_SRC))
$(BUILD)/bench/bench_run: override LDFLAGS += $(WRAP_FLAGS)
tests: $(BUILD)/bench/bench_run $(BUILD)/bench/model_ranks

# The programs that model and measure trees are tested
tests: $(addprefix $(BUILD)/bench/,bench_block_steps bench_collapse bench_orders bench_tree \
    bench_walks model_domains model_tree)

# Calls that fail in these tests: tests/support/faults.c stands between the driver and them
$(addprefix $(BUILD)/,$(WRAPPED_TESTS)): override LDFLAGS += $(addprefix \
    -Wl$(comma)--wrap=,gpuirr_begin gpuirr_set_list gpuirr_set_lists gpuirr_get_holders gpuirr_set_jp gpuirr_pred_act \
    gpuirr_pred_all gpuirr_firr_vec gpuirr_firr_noise gpunb_push_jp gpunb_predict gpunb_regf_start gpunb_regf_wait \
    gpunb_potential ks_init ks_start ks_advance_some ks_finish ks_unperturbed chain_init chain_advance)

# Fortran tests: as a legacy program calls the libraries, once for each dialect; as a new program uses the module.
FORTRAN_BIN :=
define fortran-program
FORTRAN_BIN += $(BUILD)/tests/fortran/$(1)
$(BUILD)/tests/fortran/$(1): $(2) $(patsubst %,$(LIB)/lib%.a,$(3))
	@mkdir -p $$(@D)/$(1).mod $$(BUILD)/mod
	$$(call say,FC,$$@)
	$$(Q)$$(FC) $$(FFLAGS_ALL) -cpp -fopenmp $(4) -I$$(BUILD)/mod -J$$(@D)/$(1).mod $$(LDFLAGS) -o $$@ $$^ \
	    $$(OPENMP_LIBS) $$(call libs-of,$(firstword $(3)))
endef
legacy-test = $(eval $(call fortran-program,$(1)_$(2),tests/fortran/$(1).F90,$(4),-DDIALECT_$(3)))
$(call legacy-test,gpunb_legacy,na12,NA12,gpunb)
$(call legacy-test,gpunb_legacy,nbody6,NBODY6,gpunb_nbody6)
$(call legacy-test,gpunb_legacy,nbody6pp,NBODY6PP,gpunb_nbody6pp)
$(call legacy-test,gpuirr_legacy,nbody6,NBODY6,gpuirr)
$(call legacy-test,gpuirr_legacy,nbody6pp,NBODY6PP,gpuirr_nbody6pp)
$(call legacy-test,legacy_run,na12,NA12,gpunb gpuirr)
$(call legacy-test,legacy_run,nbody6,NBODY6,gpunb_nbody6 gpuirr)
$(call legacy-test,legacy_run,nbody6pp,NBODY6PP,gpunb_nbody6pp gpuirr_nbody6pp)
$(foreach f,$(wildcard tests/fortran/*_module.F90),$(eval $(call \
    fortran-program,$(basename $(notdir $(f))),$(f),nbody6,)))
# It compares types with the structs of C
LAYOUT_OBJ := $(call objects,tests/fortran/layout.c)
$(BUILD)/tests/fortran/gpunb_tree_module: $(LAYOUT_OBJ)

include tests/toys/toys.mk

CLI_TESTS := $(wildcard tests/cli/test_*.py tests/cli/test_*.sh)
LONG_SCRIPTS := $(wildcard tests/*/long_*.py tests/long/*.py tests/long/*.sh)
TESTS := $(TEST_BIN) $(FORTRAN_BIN) $(CLI_TESTS)
# Tests that run once more with each lower level of instruction sets: of both libraries, and whole runs of the driver.
# Backends are the same code at each level: a test that calls each by its name, and never leaves the choice to the
# library, would only repeat itself.
LEGACY_BIN := $(filter $(addprefix $(BUILD)/tests/fortran/,gpunb_legacy_% gpuirr_legacy_% legacy_run_%),$(FORTRAN_BIN))
ISA_REPEATS := $(addprefix $(BUILD)/tests/conformance/test_,gpunb gpunb_tiles gpunb_predict gpunb_softened gpunb_start \
    gpunb_tree gpunb_tree_calls gpunb_tree_device gpunb_tree_kept gpunb_tree_misuse gpunb_tree_root gpunb_essential \
    gpunb_regular gpunb_regf_device gpunb_softened_device)
ISA_TESTS := $(filter-out $(ISA_REPEATS),$(filter $(addprefix $(BUILD)/tests/,conformance/% physics/test_forces \
    unit/test_determinism),$(TEST_BIN))) $(LEGACY_BIN)

# Suites that make test-long runs with more values that memory is filled with: they read and write files, and hand
# memory about.
PERTURBED := $(addprefix $(BUILD)/tests/unit/test_,snapshot checkpoint checkpoint_fields) \
    $(addprefix tests/cli/test_,foreign_hdf5.py own_stars.py restart.py python.py)
# Suites that have more seeds, stops or examples than make test takes (tests/support/test_size.h): make test-long has all.
WHOLE := $(patsubst %.c,$(BUILD)/%,$(shell grep -l test_seeds $(TEST_SRC))) \
    $(filter-out %/test_build.py,$(shell grep -lE 'test_seeds|NB6_WHOLE' $(wildcard tests/cli/test_*.py)))

.PHONY: tests long-tests benches test test-run test-builds test-build test-build-asan test-long test-long-run bench \
    asan asan-run asan-all asan-tests tsan tsan-run tsan-tests coverage coverage-run fuzz nocuda cuda-check arm64-check
tests: all $(TEST_BIN) $(FORTRAN_BIN)
long-tests: all $(LONG_BIN) $(filter $(TEST_BIN),$(PERTURBED) $(WHOLE))
benches: all $(BENCH_BIN)

RUNNER = env NB6_BUILD=$(BUILD) CC='$(CC)' FC='$(FC)' PYTHON='$(PYTHON)' $(PYTHON) tests/run-tests --build $(BUILD)
SUBMAKE = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# The last line of these is the sum, also if something failed: a make that is asked a question (-q) runs recipes that
# begin with + all the same, and adds no line of its own if one fails with status 1. tests/summed.sh takes the q away.
ifeq ($(filter-out test test-long asan tsan,$(GOALS)),)
MAKEFLAGS += -q --no-print-directory
endif
SUMMED = exec tests/summed.sh '$(SUBMAKE)'

# Targets that need packages call make again after `deps-test`, so that what was just installed is found. What cannot be
# built counts as failed.
test:
	+@$(SUMMED) deps-test test-run
test-run:
	-+@$(SUBMAKE) -k test-builds
	@exec $(RUNNER) --timeout 300 $(addprefix --make ,format-check docs-check arm64-check asan-all) \
	    $(TESTS) --sanitized $(BUILD)/asan $(SANITIZED) $(foreach level,avx2 baseline,--isa $(level) $(ISA_TESTS))
# Side by side, so that no core waits for the longest compilation of one of them
test-builds: test-build test-build-asan
test-build:
	+@$(SUBMAKE) -k tests
test-build-asan:
	+@$(SUBMAKE) -k $(ASAN_MAKE) asan-tests
test-long:
	+@$(SUMMED) deps-test test-long-run
test-long-run:
	-+@$(SUBMAKE) -k long-tests
	@exec $(RUNNER) --timeout 21600 --jobs 1 --make cuda-check $(LONG_BIN) $(LONG_SCRIPTS) \
	    $(foreach value,1 90 255,--perturb $(value) $(PERTURBED)) --whole $(WHOLE)
bench: deps-build
	+@$(SUBMAKE) benches
	@set -e; for b in $(BENCH_BIN); do echo "== $$b"; $$b; done

# Unit and conformance tests once more under the address and undefined-behaviour sanitizers, those tests of physics in
# which bodies come and go most, as far as they take less than half a minute then, the legacy calls (gfortran links the
# sanitizers of gcc only) and one run by them, ten realistic clusters and forged checkpoints
SANITIZED_PHYSICS := hierarchies chains galactic_pairs chain_rotation pairs
SANITIZED_LEGACY := $(filter-out %/legacy_run_na12 %/legacy_run_nbody6,$(LEGACY_BIN))
SANITIZED_BIN := $(filter $(addprefix $(BUILD)/tests/,unit/% conformance/%),$(TEST_BIN)) \
    $(SANITIZED_PHYSICS:%=$(BUILD)/tests/physics/test_%) $(if $(findstring clang,$(CC)),,$(SANITIZED_LEGACY))
SANITIZED := $(SANITIZED_BIN:$(BUILD)/%=$(BUILD)/asan/%) \
    $(addprefix tests/cli/test_,realistic.py forged_checkpoints.py)
ASAN_MAKE := BUILD=$(BUILD)/asan SANITIZE=1 CUDA=0
asan:
	+@$(SUMMED) asan-run
asan-run:
	-+@$(SUBMAKE) -k $(ASAN_MAKE) asan-tests
	@exec $(RUNNER) --timeout 300 --sanitized $(BUILD)/asan $(SANITIZED)
asan-tests: $(SANITIZED_BIN) $(BUILD)/nbody6 $(BUILD)/nbody6-collisionless
# All libraries and programs link without nvcc: that build is one, so that nothing is compiled for this
asan-all:
	+@$(SUBMAKE) $(ASAN_MAKE) all
# Tests in which threads share most under clang's thread sanitizer, to which clang's OpenMP runtime tells what its
# barriers and locks order (Archer). gcc's does not, so that every loop would look like a race; the probe sees to that.
TSAN_CC ?= $(if $(findstring clang,$(CC)),$(CC),clang)
TSAN_BIN := $(addprefix $(BUILD)/tests/,$(addprefix conformance/test_,gpunb gpunb_contract gpunb_predict gpuirr \
    gpuirr_bits gpuirr_blocks gpuirr_contract gpuirr_lists gpuirr_threads) $(addprefix unit/test_,chains determinism \
    engine kdtree models pairs ranks spread structure team world))
tsan:
	+@if tests/tsan/probe.sh '$(TSAN_CC)'; then \
	    exec tests/summed.sh '$(SUBMAKE) BUILD=$(BUILD)/tsan SANITIZE=thread CC=$(TSAN_CC) CUDA=0' tsan-run; fi
tsan-run:
	-+@$(SUBMAKE) -k tsan-tests
	@TSAN_OPTIONS="ignore_noninstrumented_modules=1 die_after_fork=0" OMP_NUM_THREADS=3 KMP_BLOCKTIME=0 \
	    exec $(RUNNER) --timeout 7200 $(TSAN_BIN)
tsan-tests: $(TSAN_BIN)
# Lines that the tests run through, by folder
coverage:
	+@$(SUBMAKE) BUILD=$(BUILD)/coverage OPT='-O1 -g --coverage' LDFLAGS=--coverage CUDA=0 coverage-run
coverage-run: tests
	@$(RUNNER) $(TESTS) || echo 'some tests failed; what follows counts what they ran'
	@$(PYTHON) tools/coverage.py $(BUILD)
# The readers of input files under random input, with clang's libFuzzer
FUZZ_SECONDS ?= 600
fuzz:
	tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(BUILD)
# Everything builds where there is no nvcc
nocuda:
	+@$(SUBMAKE) BUILD=$(BUILD)/nocuda CUDA=0 all
# Every CUDA source for every architecture that this nvcc knows
cuda-check:
ifeq ($(HAVE_CUDA),1)
	+@$(SUBMAKE) BUILD=$(BUILD)/cuda-check CUDA_ARCH='$(CUDA_KNOWN)' cuda-objects
else
	@echo 'skipped: cuda-check: there is no nvcc on this machine'
endif
.PHONY: cuda-objects
cuda-objects: $(patsubst %.cu,$(O)/%.cu.o,$(CUDA_SOURCES))
# One archive with programs, tests and libraries for a machine that has a GPU and no packages
.PHONY: gpu-bundle
gpu-bundle: tests benches
	@packaging/gpu-bundle.sh $(BUILD) $(BUILD)/nbody6-gpu-bundle.tar.xz nbody6 nbody6-chain nbody6-collisionless \
	    $(patsubst $(BUILD)/%,%,$(TEST_BIN) $(BENCH_BIN))
# The libraries compile for arm64 without the SIMD files
arm64-check:
	@if command -v aarch64-linux-gnu-gcc >/dev/null; then \
	    $(SUBMAKE) BUILD=$(BUILD)/arm64 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar CUDA=0 arm64-libs; \
	else echo 'skipped: arm64-check: there is no aarch64-linux-gnu-gcc on this machine'; fi
.PHONY: arm64-libs
arm64-libs: $(foreach l,$(filter-out nbody6,$(LIBRARIES)),lib$(l))

# ---- Packages of the system
# In Debian 12 matplotlib brings sympy, scipy and boost with it, by hard dependencies: only who draws gets it.
.PHONY: deps deps-build deps-run deps-test deps-mpi deps-site
DEPS = LOG='$(BUILD)/deps.log' tools/deps.sh
deps:
	@$(DEPS) --tell build read
deps-build:
	@$(DEPS) build
deps-run:
	@$(DEPS) build read plot
# MPI is optional: its tests are skipped without it.
deps-test:
	@$(DEPS) build read plot test site
	@$(DEPS) mpi || echo 'deps: MPI is not here; runs on several processes are not tested'
deps-mpi:
	@$(DEPS) mpi
deps-site:
	@$(DEPS) site

# ---- The example
# Passive waiting: with other programs on the cores, threads that spin while they wait would slow each other down.
RUN_DIR := $(BUILD)/run/plummer-1k
RUN_COST := make run: builds in $(BUILD), about a minute on two cores and 160 MB$(if $(HAVE_CUDA),; GPU code for one \
    kind of GPU takes longer$(comma) CUDA=0 leaves it out$(comma) make all compiles for all kinds)
# GPU code for the GPU that is here, as far as this nvcc knows its kind, or else for the first kind of the list, unless
# the caller says which: `make all` compiles for all of them, which takes minutes.
GPU_HERE = $(filter $(CUDA_KNOWN),$(firstword $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap \
    --format=csv$(comma)noheader 2>/dev/null))))
RUN_ARCH = $(if $(HAVE_CUDA),$(if $(filter command environment,$(firstword $(origin CUDA_ARCH))),,CUDA_ARCH=$(or \
    $(GPU_HERE),$(firstword $(CUDA_USED)))))
.PHONY: run run-cost run-example
run: run-cost deps-run
	+@$(SUBMAKE) $(RUN_ARCH) run-example
run-cost:
	@[ -x $(BUILD)/nbody6 ] || echo '$(RUN_COST)'
run-example: all
	@mkdir -p $(RUN_DIR)
	@echo 'Integrating a Plummer cluster of 1000 stars in $(RUN_DIR) ...'
	$(BUILD)/nbody6 --overwrite --out $(RUN_DIR)/plummer-1k \
	    input_examples/plummer-1k/plummer-1k.inp
	@$(PYTHON) tools/nbody6-plot $(RUN_DIR)/plummer-1k

# ---- Documents made from the program
.PHONY: docs docs-check
REFERENCE_C := nbody6/run/nbody6.h nbody6/input/config.h nbody6/input/input.h nbody6/model/model.h nbody6/state/event.h \
    nbody6/analysis/adjust_row.h nbody6/state/ledger.h nbody6/input/units.h nbody6/analysis/frame.h \
    nbody6/run/frame_make.h nbody6/output/snapshot.h gpunb/gpunb.h gpunb/tree.h gpunb/softened_device.h gpunb/tree_kept.h \
    gpunb/regf_device.h gpunb/device/sums.h gpuirr/gpuirr.h gpuirr/cuda_irregular.h regularization/kepler.h \
    regularization/ks.h regularization/chain.h regularization/hierarchy.h stellar/stellar.h common/nbc.h
REFERENCE_FORTRAN := nbody6/run/nbody6.f90 gpunb/fortran/gpunb.f90 gpunb/fortran/gpunb_legacy.f90 gpuirr/fortran/gpuirr.f90 \
    regularization/chain.f90 regularization/regularization.f90 stellar/stellar.f90
# Into a folder
write-docs = $(BUILD)/nbody6 --help-input --markdown > $(1)/input.md && \
    $(PYTHON) tools/reference.py c $(REFERENCE_C) > $(1)/reference_c.md && \
    $(PYTHON) tools/reference.py fortran $(REFERENCE_FORTRAN) > $(1)/reference_fortran.md
docs: $(BUILD)/nbody6
	$(call write-docs,docs)
docs-check: $(BUILD)/nbody6
	@mkdir -p $(BUILD)/docs
	@$(call write-docs,$(BUILD)/docs)
	@for name in input reference_c reference_fortran; do cmp -s $(BUILD)/docs/$$name.md docs/$$name.md || \
	    { echo "docs/$$name.md is not what program and headers say: run make docs"; exit 1; }; done

# The documents as a site, by mkdocs, which is installed if it is missing; nothing is compiled for it
.PHONY: site
site: deps-site
	@$(PYTHON) tools/make_site.py $(BUILD)/site-source $(BUILD)/site
	@echo 'the documents: $(BUILD)/site/index.html'

# ---- What each source is compiled with, for editors and tools that read C: what make would do, asked of make. clangd
# looks in build/ by itself. Programs in examples/ stand by themselves.
C_FOLDERS := common gpunb gpuirr regularization stellar nbody6 bench tests
COMPILED = $(call objects,$(filter-out tests/toys/% common/loaded.c $(if $(MPICC),,$(MPI_SRC)),$(foreach d,$(C_FOLDERS),$(call sources-under,$(d),c)))) \
    $(firstword $(LOADED)) \
    $(patsubst %.c,$(O)/toys/%.o,$(wildcard tests/toys/*.c)) \
    $(if $(HAVE_CUDA),$(patsubst %.cu,$(O)/%.cu.o,$(CUDA_SOURCES) $(CUDA_BENCH_SRC)))
.PHONY: compile-commands
compile-commands:
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory -nB -j1 V=1 $(COMPILED) > $(BUILD)/compile_commands.txt
	@$(PYTHON) tools/compile_commands.py < $(BUILD)/compile_commands.txt > $(BUILD)/compile_commands.json.new
	@rm $(BUILD)/compile_commands.txt
	@mv $(BUILD)/compile_commands.json.new $(BUILD)/compile_commands.json
	@echo 'what sources are compiled with: $(BUILD)/compile_commands.json'

# ---- Format. What clang-format 14 makes of .clang-format is the rule; other versions differ in details.
FORMAT_SRC := $(foreach d,common device gpunb gpuirr regularization stellar nbody6,$(foreach e,c h cu cuh, \
    $(call sources-under,$(d),$(e)))) $(wildcard $(foreach d,bench bench/* tests/* examples/*,$(d)/*.c $(d)/*.h $(d)/*.cu))
.PHONY: format format-check
HAVE_FORMAT = $(if $(CLANG_FORMAT),$(findstring version 14.,$(shell $(CLANG_FORMAT) --version 2>/dev/null)))
format:
	$(if $(HAVE_FORMAT),@$(CLANG_FORMAT) -i $(FORMAT_SRC),@echo 'format: clang-format 14 is not on this machine'; exit 1)
format-check:
	$(if $(HAVE_FORMAT),@$(CLANG_FORMAT) --dry-run -Werror $(FORMAT_SRC),@echo \
	    'skipped: format-check: clang-format 14 is not on this machine')

# ---- Installation
include packaging/install.mk

.PHONY: clean
clean:
	rm -rf $(BUILD)

help:
	@sed 's/VERSION/$(VERSION)/' packaging/targets.txt

ALL_OBJ := $(sort $(foreach l,$(LIBRARIES),$(OBJ_$(l))) $(MAIN_OBJ) $(CHAIN_OBJ) $(COLLISIONLESS_OBJ) $(MPI_OBJ) \
    $(BENCH_SUPPORT_OBJ) $(SUPPORT_OBJ) $(PLAIN_OBJ) $(LAYOUT_OBJ) $(patsubst %.c,$(O)/%.o,$(TEST_SRC) $(LONG_SRC) $(BENCH_SRC)))
-include $(ALL_OBJ:.o=.d)
