# Toys: additions as CONTRIBUTING.md describes them, a file of tests/toys and a line in a list each. A list with a line
# more is a copy under $(TOYS), which the compiler finds before the list itself; sources made from a list are compiled
# once more. The program with toys has these objects in place of those in the library. tests/cli/test_toys.py runs it.

TOYS := $(BUILD)/tests/toys
TOY_LISTS := gpunb/backends.def nbody6/input/potentials.def nbody6/analysis/columns.def nbody6/fewbody/kinds.def \
    nbody6/input/input_table.c
# Sources that are made from the lists, and the toys
TOY_SRC := gpunb/backends.c nbody6/galaxy/external.c nbody6/input/input_options.c nbody6/analysis/columns.c \
    nbody6/fewbody/kinds.c $(wildcard tests/toys/*.c)
TOY_OBJ := $(TOY_SRC:%.c=$(O)/toys/%.o) $(O)/toys/nbody6/input/input_table.o

# $(1): list, $(2): the line after which sed puts the line, $(3): file with the line
define toy-list
$(TOYS)/$(1): $(1) tests/toys/$(3)
	@mkdir -p $$(@D)
	$$(Q)sed '$(2)r tests/toys/$(3)' $$< > $$@
endef
$(eval $(call toy-list,gpunb/backends.def,$$$$,backend.line))
$(eval $(call toy-list,nbody6/input/potentials.def,$$$$,potential.line))
$(eval $(call toy-list,nbody6/fewbody/kinds.def,$$$$,kind.line))
$(eval $(call toy-list,nbody6/analysis/columns.def,/^MEMBER.COUNT. "escapers"/,column.line))
$(eval $(call toy-list,nbody6/input/input_table.c,/run.force_check.}.$$$$/,variable.line))

toy-compile = $(CC) -I$(TOYS) $(CPPFLAGS) $(HDF5_CFLAGS) $(GSL_CFLAGS) $(ZLIB_CFLAGS) $(CFLAGS_ALL) $(BASE_ISA) -MMD -MP -c
$(TOY_SRC:%.c=$(O)/toys/%.o): $(O)/toys/%.o: %.c $(TOY_LISTS:%=$(TOYS)/%) $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(toy-compile) -o $@ $<
$(O)/toys/nbody6/input/input_table.o: $(TOYS)/nbody6/input/input_table.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(toy-compile) -o $@ $<

$(TOYS)/nbody6-toys: $(MAIN_OBJ) $(TOY_OBJ) $(LIB)/libnbody6.a
	$(call say,LD,$@)
	$(Q)$(CC) -fopenmp $(LDFLAGS) $(WRAP_FLAGS) -o $@ $^ $(NBODY6_LIBS)

# The conformance suite, for the toy of a backend
TOY_SUITES := test_gpunb test_gpunb_contract test_gpunb_predict
$(TOY_SUITES:%=$(TOYS)/%): $(TOYS)/%: $(O)/tests/conformance/%.o $(O)/toys/gpunb/backends.o \
    $(O)/toys/tests/toys/toy_backend.o $(BUILD)/tests/libsupport.a $(LIB)/libgpunb.a
	$(call say,LD,$@)
	$(Q)$(CC) -fopenmp $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS) $(BASE_LIBS)

tests: $(TOYS)/nbody6-toys $(TOY_SUITES:%=$(TOYS)/%)
-include $(TOY_OBJ:.o=.d)
