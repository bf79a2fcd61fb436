# make install PREFIX=/usr/local DESTDIR=, make install-legacy, make uninstall. Headers lie in a folder for each library
# below include/nbody6, the one place that pkg-config names: nbody6/nbody6.h, gpunb/gpunb.h, common/nbc.h, without the
# rooms of the driver. Fortran modules are installed as sources because .mod files belong to one compiler version.

BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include/nbody6
DATADIR ?= $(PREFIX)/share/nbody6
PYTHONDIR ?= $(DATADIR)/python
MANDIR ?= $(PREFIX)/share/man/man1
PCDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR ?= $(LIBDIR)/cmake/nbody6
# Where the programs look for it, ../lib/nbody6 (nbody6/world/launch.h)
MPIDIR ?= $(PREFIX)/lib/nbody6
INSTALL ?= install

PUBLIC_HEADERS := common/nbc.h common/hd.h common/predictor.h gpunb/gpunb.h gpunb/softened_device.h \
    gpunb/regf_device.h gpunb/tree.h gpunb/tree_kept.h gpunb/device/sums.h gpuirr/gpuirr.h gpuirr/cuda_irregular.h \
    $(addprefix regularization/,kepler.h ks.h chain.h \
    hierarchy.h) stellar/stellar.h $(addprefix nbody6/,run/nbody6.h run/frame_make.h input/config.h input/input.h input/units.h model/model.h \
    galaxy/external.h galaxy/field_state.h $(addprefix state/,body.h body_rows.h energy_ledger.h event.h ledger.h stuck.h subsystems.h) \
    analysis/adjust_row.h analysis/energy.h analysis/frame.h analysis/structure.h \
    output/checkpoint.h output/run_id.h output/snapshot.h app/script.h)
# A header by the name that programs include it by
header-name = $(firstword $(subst /, ,$(1)))/$(notdir $(1))
HEADER_NAMES := $(foreach h,$(PUBLIC_HEADERS),$(call header-name,$(h)))
# Names without a folder, which go with the next version: of headers that had one
OLD_HEADERS := $(filter-out nbody6/field_state.h common/predictor.h gpunb/regf_device.h gpunb/softened_device.h gpunb/sums.h gpunb/tree.h gpunb/tree_kept.h \
    stellar/stellar.h, \
    $(HEADER_NAMES))
FORTRAN_MODULES := $(wildcard gpunb/fortran/*.f90 gpuirr/fortran/*.f90 regularization/*.f90 stellar/*.f90 nbody6/run/*.f90)
MAN_PAGES := $(addprefix docs/man/nbody6,.1 -chain.1 -collisionless.1 -plot.1 -star.1)

PC_TEXT_gpunb := Regular gravitational forces and neighbour lists, for C and for Fortran as in Nitadori and Aarseth 2012
PC_TEXT_gpunb_nbody6 := Regular forces for NBODY6 (Fortran)
PC_TEXT_gpunb_nbody6pp := Regular forces for NBODY6++GPU (Fortran)
PC_TEXT_gpuirr := Irregular forces from neighbour lists, for C and for NBODY6 (Fortran)
PC_TEXT_gpuirr_nbody6pp := Irregular forces for NBODY6++GPU (Fortran)
PC_TEXT_stellar := Single stars that age, after Hurley, Pols and Tout 2000
PC_TEXT_nbody6 := Collisional N-body integration of star clusters

.PHONY: install install-legacy uninstall
pc-file = sed -e 's|@NAME@|$(1)|g' -e 's|@TEXT@|$(PC_TEXT_$(1))|' -e 's|@VERSION@|$(VERSION)|' \
    -e 's|@PREFIX@|$(PREFIX)|' -e 's|@DATADIR@|$(DATADIR)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
    -e 's|@PRIVATE@|$(strip $(call libs-of,$(1)) $(OPENMP_LIBS))|' packaging/lib.pc.in \
    > $(DESTDIR)$(PCDIR)/lib$(1).pc && chmod 644 $(DESTDIR)$(PCDIR)/lib$(1).pc
# The files that find_package(nbody6) of CMake reads. Lists have semicolons there.
semicolons = $(subst $(subst ,, ),;,$(strip $(1)))
cmake-file = sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|' -e 's|@DATADIR@|$(DATADIR)|' \
    -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@LIBRARIES@|$(LIBRARIES)|' \
    -e 's|@NEEDS_NBODY6@|$(call semicolons,$(NBODY6_LIBS) $(OPENMP_LIBS))|' \
    -e 's|@NEEDS_FORCES@|$(call semicolons,$(BASE_LIBS) $(OPENMP_LIBS))|' packaging/$(1).in \
    > $(DESTDIR)$(CMAKEDIR)/$(1) && chmod 644 $(DESTDIR)$(CMAKEDIR)/$(1)
CMAKE_FILES := nbody6-config.cmake nbody6-config-version.cmake
define install-libraries
	$(INSTALL) -m 644 $(patsubst %,$(LIB)/lib%.a,$(1)) $(DESTDIR)$(LIBDIR)
	for l in $(1); do \
	    $(INSTALL) -m 755 $(LIB)/lib$$l.so.$(SOVERSION) $(DESTDIR)$(LIBDIR) && \
	    ln -sf lib$$l.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/lib$$l.so || exit 1; done
	$(foreach l,$(1),$(call pc-file,$(l)) &&) true
endef
# Headers find each other by where they lie, whatever path the compiler was given. Those of the version before
# have a second name for one version more, without the folder.
define install-headers
	for h in $(PUBLIC_HEADERS); do \
	    name=$${h%%/*}/$${h##*/}; \
	    sed 's|^#include "\([a-z0-9]*\)/\(.*/\)*|#include "../\1/|' $$h > $(DESTDIR)$(INCLUDEDIR)/$$name && \
	    chmod 644 $(DESTDIR)$(INCLUDEDIR)/$$name || exit 1; done
	for name in $(OLD_HEADERS); do \
	    old=$${name##*/}; \
	    echo "#include \"$$name\" /* include <$$name>: the name $$old goes with the next version */" \
	        > $(DESTDIR)$(INCLUDEDIR)/$$old && \
	    chmod 644 $(DESTDIR)$(INCLUDEDIR)/$$old || exit 1; done
endef
# Where the loader looks is the business of whoever unpacks what is under DESTDIR.
find-libraries = $(if $(DESTDIR),,@packaging/ldconfig.sh $(LIBDIR))
# Files are listed before they are installed, so that an installation that fails can be taken away too.
INSTALLED := $(DATADIR)/installed
library-names = $(foreach l,$(1),$(addprefix $(LIBDIR)/lib$(l),.a .so .so.$(SOVERSION)) $(PCDIR)/lib$(l).pc)
make-folders = packaging/manifest.sh folders $(INSTALLED) '$(DESTDIR)' $(1)
list-files = packaging/manifest.sh files $(INSTALLED) '$(DESTDIR)' $(1)
# The libraries that legacy programs link; they take a C compiler only
install-legacy: $(foreach l,$(FORCE_LIBRARIES),lib$(l))
	$(call make-folders,$(LIBDIR) $(PCDIR) $(DATADIR))
	$(call list-files,$(call library-names,$(FORCE_LIBRARIES)))
	$(call install-libraries,$(FORCE_LIBRARIES))
	$(find-libraries)
# Folders of examples, as they are in the sources
EXAMPLE_FOLDERS = $(patsubst input_examples%,$(DATADIR)/examples%,$(patsubst examples%,$(DATADIR)/programs%, \
    $(shell find input_examples examples -type d)))
EXAMPLE_FILES = $(patsubst input_examples/%,$(DATADIR)/examples/%,$(patsubst examples/%,$(DATADIR)/programs/%, \
    $(shell find input_examples examples -type f)))
PYTHON_FILES = $(patsubst python/%,%,$(wildcard python/nbody6/*.py python/nbody6/plot/*.py))
install: all
	$(call make-folders,$(BINDIR) $(LIBDIR) $(addprefix $(INCLUDEDIR)/,$(sort $(dir $(HEADER_NAMES)))) $(PCDIR) \
	    $(if $(MPI_OBJECT),$(MPIDIR)) $(CMAKEDIR) $(MANDIR) $(DATADIR)/fortran $(PYTHONDIR)/nbody6/plot $(EXAMPLE_FOLDERS))
	$(call list-files,$(addprefix $(BINDIR)/,nbody6 nbody6-chain nbody6-collisionless nbody6-plot nbody6-star) \
	    $(if $(MPI_OBJECT),$(MPIDIR)/nbody6-mpi.so) $(addprefix $(PYTHONDIR)/,nbody6_reader.py $(PYTHON_FILES)) $(call library-names,$(LIBRARIES)) \
	    $(addprefix $(INCLUDEDIR)/,$(HEADER_NAMES) $(notdir $(OLD_HEADERS))) $(addprefix $(DATADIR)/fortran/,$(notdir \
	    $(FORTRAN_MODULES))) $(addprefix $(CMAKEDIR)/,$(CMAKE_FILES)) $(addprefix $(MANDIR)/,$(notdir $(MAN_PAGES))) \
	    $(EXAMPLE_FILES))
	$(INSTALL) -m 755 $(BUILD)/nbody6 $(BUILD)/nbody6-chain $(BUILD)/nbody6-collisionless tools/nbody6-plot \
	    tools/nbody6-star $(DESTDIR)$(BINDIR)
	$(if $(MPI_OBJECT),$(INSTALL) -m 755 $(MPI_OBJECT) $(DESTDIR)$(MPIDIR))
	$(INSTALL) -m 644 tools/nbody6_reader.py $(DESTDIR)$(PYTHONDIR)
	$(INSTALL) -m 644 python/nbody6/*.py $(DESTDIR)$(PYTHONDIR)/nbody6
	$(INSTALL) -m 644 python/nbody6/plot/*.py $(DESTDIR)$(PYTHONDIR)/nbody6/plot
	$(call install-libraries,$(LIBRARIES))
	$(foreach f,$(CMAKE_FILES),$(call cmake-file,$(f)) &&) true
	$(install-headers)
	$(if $(FORTRAN_MODULES),$(INSTALL) -m 644 $(FORTRAN_MODULES) $(DESTDIR)$(DATADIR)/fortran)
	$(INSTALL) -m 644 $(MAN_PAGES) $(DESTDIR)$(MANDIR)
	cp -r input_examples/. $(DESTDIR)$(DATADIR)/examples
	cp -r examples/. $(DESTDIR)$(DATADIR)/programs
	$(find-libraries)
# Takes away what the list names, and nothing else: folders may be shared with others.
uninstall:
	@packaging/manifest.sh remove $(INSTALLED) '$(DESTDIR)'

# ---- Archives and packages
DIST := $(BUILD)/nbody6-$(VERSION).tar.gz
.PHONY: dist deb
dist:
	@packaging/dist.sh nbody6-$(VERSION) $(DIST)
deb: dist
	@packaging/deb.sh $(DIST) $(VERSION) $(BUILD)/deb
