! Fortran interface of libstellar: single stars that age. Nothing here has code: link libstellar, or libnbody6.
!
! The header stellar/stellar.h says what each call does, what it returns, and what the values are. Texts that go in
! end with c_null_char.

module stellar
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int32_t, c_int64_t, c_null_char, c_ptr
  implicit none
  private :: c_char, c_double, c_int, c_int32_t, c_int64_t, c_null_char, c_ptr

  ! Status codes of nbc.h that the calls return
  integer(c_int), parameter :: stellar_ok = 0, stellar_bad_argument = 2, stellar_no_memory = 3, &
       stellar_non_finite = 4, stellar_bad_input = 6

  ! Types of stars
  integer(c_int32_t), parameter :: stellar_ms_low = 0, stellar_ms = 1, stellar_hg = 2, stellar_gb = 3, &
       stellar_cheb = 4, stellar_eagb = 5, stellar_tpagb = 6, stellar_he_ms = 7, stellar_he_hg = 8, stellar_he_gb = 9, &
       stellar_he_wd = 10, stellar_co_wd = 11, stellar_one_wd = 12, stellar_ns = 13, stellar_bh = 14, stellar_none = 15

  ! Kinds of events
  integer(c_int32_t), parameter :: stellar_change = 0, stellar_white_dwarf = 1, stellar_supernova = 2, &
       stellar_electron_capture = 3, stellar_pair_instability = 4, stellar_disruption = 5
  integer, parameter :: stellar_events_most = 16

  ! struct nbc_error: the text of the failure, which ends with c_null_char
  type, bind(c) :: stellar_error
    integer(c_int) :: status = 0
    character(kind=c_char) :: text(4096) = c_null_char
  end type stellar_error

  type, bind(c) :: stellar_options
    integer(c_int32_t) :: nsflag, psflag, ecflag, mdflag, bhflag, kmech, wdflag, bhspinfl
    real(c_double) :: mch, mxns0, mxns1, nwind, hewind, flbv, disp, ecsig, wdsig1, wdsig2, wdkmax
    integer(c_int64_t) :: nrand
  end type stellar_options

  type, bind(c) :: stellar_star
    integer(c_int32_t) :: type, n_event
    integer(c_int64_t) :: name
    real(c_double) :: z, time_myr, age_myr, mass_track, mass, core_mass, co_core_mass, spin, step_myr
  end type stellar_star

  type, bind(c) :: stellar_view
    integer(c_int32_t) :: type, phase_ends
    real(c_double) :: time_myr, mass, luminosity, radius, temperature_k, core_mass, co_core_mass, wind, spin
    real(c_double) :: ask_again_myr
  end type stellar_view

  type, bind(c) :: stellar_event
    integer(c_int32_t) :: kind, type_before, type_after, number
    real(c_double) :: time_myr, mass_before, mass_after, fallback, kick_kms(3)
  end type stellar_event

  type, bind(c) :: stellar_events
    integer(c_int32_t) :: n
    type(stellar_event) :: event(stellar_events_most)
  end type stellar_events

  interface
    integer(c_int) function stellar_options_level(level, options, error) bind(c, name='stellar_options_level')
      import :: c_char, c_int, stellar_error, stellar_options
      character(kind=c_char), value :: level
      type(stellar_options), intent(out) :: options
      type(stellar_error), intent(inout) :: error
    end function stellar_options_level

    integer(c_int) function stellar_options_set(options, name, value, error) bind(c, name='stellar_options_set')
      import :: c_char, c_int, stellar_error, stellar_options
      type(stellar_options), intent(inout) :: options
      character(kind=c_char), intent(in) :: name(*), value(*)
      type(stellar_error), intent(inout) :: error
    end function stellar_options_set

    integer(c_int) function stellar_create(z, options, model, error) bind(c, name='stellar_create')
      import :: c_double, c_int, c_ptr, stellar_error, stellar_options
      real(c_double), value :: z
      type(stellar_options), intent(in) :: options
      type(c_ptr), intent(out) :: model
      type(stellar_error), intent(inout) :: error
    end function stellar_create

    subroutine stellar_free(model) bind(c, name='stellar_free')
      import :: c_ptr
      type(c_ptr), value :: model
    end subroutine stellar_free

    integer(c_int) function stellar_birth(model, name, mass, time_myr, star, error) bind(c, name='stellar_birth')
      import :: c_double, c_int, c_int64_t, c_ptr, stellar_error, stellar_star
      type(c_ptr), value :: model
      integer(c_int64_t), value :: name
      real(c_double), value :: mass, time_myr
      type(stellar_star), intent(inout) :: star
      type(stellar_error), intent(inout) :: error
    end function stellar_birth

    integer(c_int) function stellar_birth_helium(model, name, mass, time_myr, star, error) &
         bind(c, name='stellar_birth_helium')
      import :: c_double, c_int, c_int64_t, c_ptr, stellar_error, stellar_star
      type(c_ptr), value :: model
      integer(c_int64_t), value :: name
      real(c_double), value :: mass, time_myr
      type(stellar_star), intent(inout) :: star
      type(stellar_error), intent(inout) :: error
    end function stellar_birth_helium

    integer(c_int) function stellar_evolve(model, star, time_myr, view, events, error) bind(c, name='stellar_evolve')
      import :: c_double, c_int, c_ptr, stellar_error, stellar_events, stellar_star, stellar_view
      type(c_ptr), value :: model
      type(stellar_star), intent(inout) :: star
      real(c_double), value :: time_myr
      type(stellar_view), intent(inout) :: view
      type(stellar_events), intent(inout) :: events
      type(stellar_error), intent(inout) :: error
    end function stellar_evolve

    integer(c_int) function stellar_evolve_all(model, n, star, time_myr, view, events, error) &
         bind(c, name='stellar_evolve_all')
      import :: c_double, c_int, c_int64_t, c_ptr, stellar_error, stellar_events, stellar_star, stellar_view
      type(c_ptr), value :: model
      integer(c_int64_t), value :: n
      type(stellar_star), intent(inout) :: star(*)
      real(c_double), value :: time_myr
      type(stellar_view), intent(inout) :: view(*)
      type(stellar_events), intent(inout) :: events(*)
      type(stellar_error), intent(inout) :: error
    end function stellar_evolve_all

    integer(c_int) function stellar_set_mass(model, star, time_myr, mass, view, events, error) &
         bind(c, name='stellar_set_mass')
      import :: c_double, c_int, c_ptr, stellar_error, stellar_events, stellar_star, stellar_view
      type(c_ptr), value :: model
      type(stellar_star), intent(inout) :: star
      real(c_double), value :: time_myr, mass
      type(stellar_view), intent(inout) :: view
      type(stellar_events), intent(inout) :: events
      type(stellar_error), intent(inout) :: error
    end function stellar_set_mass

    integer(c_int) function stellar_merge(model, star, other_model, other, time_myr, kept, product, view, events, &
         error) bind(c, name='stellar_merge')
      import :: c_double, c_int, c_ptr, stellar_error, stellar_events, stellar_star, stellar_view
      type(c_ptr), value :: model, other_model
      type(stellar_star), intent(in) :: star, other
      real(c_double), value :: time_myr, kept
      type(stellar_star), intent(inout) :: product
      type(stellar_view), intent(inout) :: view
      type(stellar_events), intent(inout) :: events
      type(stellar_error), intent(inout) :: error
    end function stellar_merge
  end interface
end module stellar
