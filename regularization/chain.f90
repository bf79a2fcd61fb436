! Fortran interfaces of the chain regularization. Nothing here has code: link libnbody6. chain.h and hierarchy.h say
! what each call does, what it returns, and what the fields are.
!
! type(chain) is the system itself, a value: an assignment copies it. Its arrays begin at 0, as in C, and members are
! known by their identity.

module chain_regularization
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_null_char, &
                                         c_null_funptr, c_null_ptr, c_ptr, c_size_t
  implicit none
  private :: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_null_char, c_null_funptr, c_null_ptr, c_ptr, &
             c_size_t

  ! Status codes of nbc.h that the calls here return.
  integer(c_int), parameter :: chain_ok = 0, chain_bad_argument = 2, chain_non_finite = 4, chain_internal = 11

  integer, parameter :: chain_max = 16, chain_links = chain_max - 1, chain_pairs = chain_max*(chain_max - 1)/2, &
                        chain_vars = 8*chain_links + 8
  integer(c_int32_t), parameter :: chain_method_ks = 0, chain_method_ar = 1, chain_method_auto = 2
  integer(c_int32_t), parameter :: chain_pn1 = 1, chain_pn2 = 2, chain_pn25 = 4
  integer(c_int32_t), parameter :: chain_none = 0, chain_collision = 1, chain_steps = 2

  type, bind(c) :: chain_options
    integer(c_int32_t) :: method = chain_method_auto, pn = 0
    real(c_double) :: c_light = 0, tolerance = 1d-14, slow = 0, slow_time = 0
    integer(c_int64_t) :: max_steps = 0
  end type chain_options

  type, bind(c) :: chain_body
    integer(c_int64_t) :: id = 0
    real(c_double) :: mass = 0, radius = 0, x(3) = 0, v(3) = 0, x_low(3) = 0
  end type chain_body

  type, bind(c) :: chain
    type(chain_options) :: options
    integer(c_int32_t) :: n = 0, method = 0, order(0:chain_max - 1) = 0, column = 0, unused = 0
    integer(c_int64_t) :: id(0:chain_max - 1) = 0
    real(c_double) :: mass(0:chain_max - 1) = 0, radius(0:chain_max - 1) = 0, kappa(0:chain_links - 1) = 0
    real(c_double) :: t = 0, t_low = 0, y(0:chain_vars - 1) = 0, y_low(0:chain_vars - 1) = 0, energy = 0, step = 0
    real(c_double) :: closest_r(0:chain_pairs - 1) = 0, closest_t(0:chain_pairs - 1) = 0
    integer(c_int64_t) :: steps = 0, rejected = 0, evaluations = 0, switches = 0, unreached = 0
    real(c_double) :: worst_error = 0
  end type chain

  ! acceleration: c_funloc of a bind(c) function with the interface chain_acceleration; by_velocity: 1 if it uses v, which
  ! is not present without.
  type, bind(c) :: chain_field
    type(c_funptr) :: acceleration = c_null_funptr
    type(c_ptr) :: context = c_null_ptr
    integer(c_int) :: by_velocity = 0
  end type chain_field

  type, bind(c) :: chain_event
    integer(c_int32_t) :: kind = chain_none
    integer(c_int64_t) :: id(2) = 0
    real(c_double) :: r = 0
  end type chain_event

  type, bind(c) :: chain_group
    integer(c_int32_t) :: n = 0
    integer(c_int64_t) :: id(chain_max) = 0
    real(c_double) :: distance = 0, speed = 0, energy = 0
  end type chain_group

  ! struct nbc_error: the text of the failure, which ends with c_null_char.
  type, bind(c) :: chain_error
    integer(c_int) :: status = 0
    character(kind=c_char) :: text(4096) = c_null_char
  end type chain_error

  abstract interface
    integer(c_int) function chain_acceleration(context, t, n, mass, cm, x, v, acc) bind(c)
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: context
      real(c_double), value :: t
      integer(c_int), value :: n
      real(c_double), intent(in) :: mass(n), cm(3), x(3, n)
      real(c_double), intent(in), optional :: v(3, n)
      real(c_double), intent(inout) :: acc(3, n)
    end function chain_acceleration
  end interface

  interface
    integer(c_int) function chain_method_find(name, method, err) bind(c, name='chain_method_find')
      import :: c_char, c_int, c_int32_t, chain_error
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), intent(out) :: method
      type(chain_error), intent(inout) :: err
    end function chain_method_find

    integer(c_int) function chain_init(c, options, n, body, t, err) bind(c, name='chain_init')
      import :: c_double, c_int, chain, chain_body, chain_error, chain_options
      type(chain), intent(inout) :: c
      type(chain_options), intent(in) :: options
      integer(c_int), value :: n
      type(chain_body), intent(in) :: body(n)
      real(c_double), value :: t
      type(chain_error), intent(inout) :: err
    end function chain_init

    integer(c_int) function chain_advance(c, t_end, field, event, err) bind(c, name='chain_advance')
      import :: c_double, c_int, chain, chain_error, chain_event, chain_field
      type(chain), intent(inout) :: c
      real(c_double), value :: t_end
      type(chain_field), intent(in), optional :: field
      type(chain_event), intent(inout) :: event
      type(chain_error), intent(inout) :: err
    end function chain_advance

    subroutine chain_bodies(c, body) bind(c, name='chain_bodies')
      import :: chain, chain_body
      type(chain), intent(in) :: c
      type(chain_body), intent(inout) :: body(*)
    end subroutine chain_bodies

    integer(c_int) function chain_bodies_at(c, t, field, body, err) bind(c, name='chain_bodies_at')
      import :: c_double, c_int, chain, chain_body, chain_error, chain_field
      type(chain), intent(in) :: c
      real(c_double), value :: t
      type(chain_field), intent(in), optional :: field
      type(chain_body), intent(inout) :: body(*)
      type(chain_error), intent(inout) :: err
    end function chain_bodies_at

    subroutine chain_centre(c, x, v) bind(c, name='chain_centre')
      import :: c_double, chain
      type(chain), intent(in) :: c
      real(c_double), intent(out) :: x(3), v(3)
    end subroutine chain_centre

    subroutine chain_set_centre(c, x, v) bind(c, name='chain_set_centre')
      import :: c_double, chain
      type(chain), intent(inout) :: c
      real(c_double), intent(in) :: x(3), v(3)
    end subroutine chain_set_centre

    subroutine chain_slow_end(c) bind(c, name='chain_slow_end')
      import :: chain
      type(chain), intent(inout) :: c
    end subroutine chain_slow_end

    real(c_double) function chain_energy(c) bind(c, name='chain_energy')
      import :: c_double, chain
      type(chain), intent(in) :: c
    end function chain_energy

    real(c_double) function chain_energy_booked(c) bind(c, name='chain_energy_booked')
      import :: c_double, chain
      type(chain), intent(in) :: c
    end function chain_energy_booked

    real(c_double) function chain_energy_pn(c) bind(c, name='chain_energy_pn')
      import :: c_double, chain
      type(chain), intent(in) :: c
    end function chain_energy_pn

    ! Places a and b count from 0.
    subroutine chain_closest(c, a, b, r, t) bind(c, name='chain_closest')
      import :: c_double, c_int, chain
      type(chain), intent(in) :: c
      integer(c_int), value :: a, b
      real(c_double), intent(out) :: r, t
    end subroutine chain_closest

    integer(c_int) function chain_absorb(c, n, body, err) bind(c, name='chain_absorb')
      import :: c_int, chain, chain_body, chain_error
      type(chain), intent(inout) :: c
      integer(c_int), value :: n
      type(chain_body), intent(in) :: body(n)
      type(chain_error), intent(inout) :: err
    end function chain_absorb

    integer(c_int) function chain_emit(c, n, id, body, err) bind(c, name='chain_emit')
      import :: c_int, c_int64_t, chain, chain_body, chain_error
      type(chain), intent(inout) :: c
      integer(c_int), value :: n
      integer(c_int64_t), intent(in) :: id(n)
      type(chain_body), intent(inout) :: body(n)
      type(chain_error), intent(inout) :: err
    end function chain_emit

    integer(c_int) function chain_merge(c, id_a, id_b, radius, energy_lost, err) bind(c, name='chain_merge')
      import :: c_double, c_int, c_int64_t, chain, chain_error
      type(chain), intent(inout) :: c
      integer(c_int64_t), value :: id_a, id_b
      real(c_double), value :: radius
      real(c_double), intent(inout) :: energy_lost
      type(chain_error), intent(inout) :: err
    end function chain_merge

    integer(c_int) function chain_escaper(c, ratio, r_bound, group) bind(c, name='chain_escaper')
      import :: c_double, c_int, chain, chain_group
      type(chain), intent(in) :: c
      real(c_double), value :: ratio, r_bound
      type(chain_group), intent(out) :: group
    end function chain_escaper

    integer(c_int) function chain_escaper_of(c, most, ratio, r_bound, group) bind(c, name='chain_escaper_of')
      import :: c_double, c_int, chain, chain_group
      type(chain), intent(in) :: c
      integer(c_int), value :: most
      real(c_double), value :: ratio, r_bound
      type(chain_group), intent(out) :: group
    end function chain_escaper_of

    integer(c_size_t) function chain_size() bind(c, name='chain_size')
      import :: c_size_t
    end function chain_size

    ! Inclination in radians.
    real(c_double) function hierarchy_critical_ratio(q, e, inclination) bind(c, name='hierarchy_critical_ratio')
      import :: c_double
      real(c_double), value :: q, e, inclination
    end function hierarchy_critical_ratio
  end interface
end module chain_regularization
