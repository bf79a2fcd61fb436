! Fortran interfaces of the few-body methods. Nothing here has code: link libnbody6.
!
!   kepler   two-body motion on any conic, kepler.h
!   ks       pairs regularized after Kustaanheimo and Stiefel, ks.h
!
! The headers say what each call does, what it returns, and what may be called by several threads.

module kepler
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  private :: c_double, c_int

  integer(c_int), parameter :: kepler_ok = 0, kepler_bad_argument = 2, kepler_non_finite = 4, kepler_internal = 11
  integer, parameter :: kepler_stumpff_max = 8

  type, bind(c) :: kepler_elements_t
    real(c_double) :: h, a, e, q, period, l, t_pericentre
  end type kepler_elements_t

  interface
    subroutine kepler_stumpff(z, c) bind(c, name='kepler_stumpff')
      import :: c_double, kepler_stumpff_max
      real(c_double), value :: z
      real(c_double), intent(out) :: c(0:kepler_stumpff_max)
    end subroutine kepler_stumpff

    integer(c_int) function kepler_elements(mass, x, v, elements) bind(c, name='kepler_elements')
      import :: c_double, c_int, kepler_elements_t
      real(c_double), value :: mass
      real(c_double), intent(in) :: x(3), v(3)
      type(kepler_elements_t), intent(out) :: elements
    end function kepler_elements

    integer(c_int) function kepler_anomaly(mass, r, sigma, h, dt, s, periods) bind(c, name='kepler_anomaly')
      import :: c_double, c_int
      real(c_double), value :: mass, r, sigma, h, dt
      real(c_double), intent(out) :: s, periods
    end function kepler_anomaly

    integer(c_int) function kepler_advance(mass, dt, x, v) bind(c, name='kepler_advance')
      import :: c_double, c_int
      real(c_double), value :: mass, dt
      real(c_double), intent(inout) :: x(3), v(3)
    end function kepler_advance
  end interface
end module kepler

module ks
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_null_char, c_ptr, c_size_t
  implicit none
  private :: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_null_char, c_ptr, c_size_t

  ! Status codes of nbc.h that the calls here return.
  integer(c_int), parameter :: ks_ok = 0, ks_bad_argument = 2, ks_non_finite = 4, ks_bad_state = 5, ks_internal = 11

  ! struct nbc_error: the text of the failure, which ends with c_null_char.
  type, bind(c) :: ks_error
    integer(c_int) :: status = 0
    character(kind=c_char) :: text(4096) = c_null_char
  end type ks_error

  type, bind(c) :: ks_options
    real(c_double) :: eta = 0.2d0, gamma_slow = 0, kappa_max = 1
  end type ks_options

  type, bind(c) :: ks_perturbation
    real(c_double) :: p(3), pdot(3), turn(3), t_scale, t_near, power(2), kappa
  end type ks_perturbation

  type, bind(c) :: ks_node
    real(c_double) :: u(4), up(4), q(4), qp(4), h, hp, hpp, r, rp, r2, r3
  end type ks_node

  type, bind(c) :: ks_orbit
    real(c_double) :: h, e(3), l(3)
  end type ks_orbit

  ! A pair. Read what you like; write through calls only.
  type, bind(c) :: ks_pair
    real(c_double) :: mass(2), m
    type(ks_options) :: options
    real(c_double) :: t, t_lo, dt, dtau, h, kappa
    type(ks_node) :: now
    real(c_double) :: u_lo(4), up_lo(4), p(3), pdot(3), gamma, gamma_apo, gamma_run, t_scale, t_near, r_max, &
                      power(2), work
    type(ks_orbit) :: mean, drift, begin, sum, last
    real(c_double) :: swing, time, d(6, 4)
    type(ks_node) :: before
    real(c_double) :: dtau_before, phase
    integer(c_int64_t) :: n_step, n_eval, n_orbit
    integer(c_int32_t) :: perturbed, level
  end type ks_pair

  type, bind(c) :: ks_elements_t
    real(c_double) :: a, e, period, r, rdot
  end type ks_elements_t

  type, bind(c) :: ks_path
    real(c_double) :: x(3) = 0, v(3) = 0, acc(3) = 0, jerk(3) = 0, t0 = 0, mass = 0
  end type ks_path

  ! pair: c_loc of a ks_pair; paths: c_loc of an array of n.
  type, bind(c) :: ks_field
    type(c_ptr) :: pair
    type(ks_path) :: centre
    integer(c_size_t) :: n
    type(c_ptr) :: paths
  end type ks_field

  ! Perturbation of a pair: the calls below take c_funloc of a function of this kind as perturb. c_null_funptr: none.
  abstract interface
    integer(c_int) function ks_perturb(context, t, t_lo, x, xdot, out) bind(c)
      import :: c_double, c_int, c_ptr, ks_perturbation
      type(c_ptr), value :: context
      real(c_double), value :: t, t_lo
      real(c_double), intent(in) :: x(3), xdot(3)
      type(ks_perturbation), intent(inout) :: out
    end function ks_perturb
  end interface

  ! In arrays of two bodies the second index is the body.
  interface
    integer(c_int) function ks_init(pair, options, mass, x, v, t, err) bind(c, name='ks_init')
      import :: c_double, c_int, ks_error, ks_options, ks_pair
      type(ks_pair), intent(out) :: pair
      type(ks_options), intent(in) :: options
      real(c_double), intent(in) :: mass(2), x(3, 2), v(3, 2)
      real(c_double), value :: t
      type(ks_error), intent(inout) :: err
    end function ks_init

    integer(c_int) function ks_start(pair, perturb, context, err) bind(c, name='ks_start')
      import :: c_funptr, c_int, c_ptr, ks_error, ks_pair
      type(ks_pair), intent(inout) :: pair
      type(c_funptr), value :: perturb
      type(c_ptr), value :: context
      type(ks_error), intent(inout) :: err
    end function ks_start

    integer(c_int) function ks_step(pair, perturb, context, err) bind(c, name='ks_step')
      import :: c_funptr, c_int, c_ptr, ks_error, ks_pair
      type(ks_pair), intent(inout) :: pair
      type(c_funptr), value :: perturb
      type(c_ptr), value :: context
      type(ks_error), intent(inout) :: err
    end function ks_step

    integer(c_int) function ks_advance(pair, t_end, perturb, context, err) bind(c, name='ks_advance')
      import :: c_double, c_funptr, c_int, c_ptr, ks_error, ks_pair
      type(ks_pair), intent(inout) :: pair
      real(c_double), value :: t_end
      type(c_funptr), value :: perturb
      type(c_ptr), value :: context
      type(ks_error), intent(inout) :: err
    end function ks_advance

    integer(c_int) function ks_advance_some(pair, t_end, max_steps, perturb, context, done, err) &
      bind(c, name='ks_advance_some')
      import :: c_double, c_funptr, c_int, c_int64_t, c_ptr, ks_error, ks_pair
      type(ks_pair), intent(inout) :: pair
      real(c_double), value :: t_end
      integer(c_int64_t), value :: max_steps
      type(c_funptr), value :: perturb
      type(c_ptr), value :: context
      integer(c_int), intent(out) :: done
      type(ks_error), intent(inout) :: err
    end function ks_advance_some

    integer(c_int) function ks_finish(pair, t_end, perturb, context, err) bind(c, name='ks_finish')
      import :: c_double, c_funptr, c_int, c_ptr, ks_error, ks_pair
      type(ks_pair), intent(inout) :: pair
      real(c_double), value :: t_end
      type(c_funptr), value :: perturb
      type(c_ptr), value :: context
      type(ks_error), intent(inout) :: err
    end function ks_finish

    integer(c_int) function ks_unperturbed(pair, t_end, err) bind(c, name='ks_unperturbed')
      import :: c_double, c_int, ks_error, ks_pair
      type(ks_pair), intent(inout) :: pair
      real(c_double), value :: t_end
      type(ks_error), intent(inout) :: err
    end function ks_unperturbed

    integer(c_int) function ks_shift_time(pair, shift) bind(c, name='ks_shift_time')
      import :: c_double, c_int, ks_pair
      type(ks_pair), intent(inout) :: pair
      real(c_double), value :: shift
    end function ks_shift_time

    integer(c_int) function ks_predict(pair, t, x, v) bind(c, name='ks_predict')
      import :: c_double, c_int, ks_pair
      type(ks_pair), intent(in) :: pair
      real(c_double), value :: t
      real(c_double), intent(inout) :: x(3), v(3)
    end function ks_predict

    subroutine ks_components(pair, x_cm, v_cm, x, v, x_out, v_out) bind(c, name='ks_components')
      import :: c_double, ks_pair
      type(ks_pair), intent(in) :: pair
      real(c_double), intent(in) :: x_cm(3), v_cm(3), x(3), v(3)
      real(c_double), intent(out) :: x_out(3, 2), v_out(3, 2)
    end subroutine ks_components

    subroutine ks_relative(pair, x, v) bind(c, name='ks_relative')
      import :: c_double, ks_pair
      type(ks_pair), intent(in) :: pair
      real(c_double), intent(out) :: x(3), v(3)
    end subroutine ks_relative

    subroutine ks_elements(pair, elements) bind(c, name='ks_elements')
      import :: ks_elements_t, ks_pair
      type(ks_pair), intent(in) :: pair
      type(ks_elements_t), intent(out) :: elements
    end subroutine ks_elements

    real(c_double) function ks_time_to_apocentre(pair) bind(c, name='ks_time_to_apocentre')
      import :: c_double, ks_pair
      type(ks_pair), intent(in) :: pair
    end function ks_time_to_apocentre

    subroutine ks_set_slowdown(pair, kappa) bind(c, name='ks_set_slowdown')
      import :: c_double, ks_pair
      type(ks_pair), intent(inout) :: pair
      real(c_double), value :: kappa
    end subroutine ks_set_slowdown

    ! dx, dv: perturbers relative to the centre of mass
    subroutine ks_tide(pair, n, m, dx, dv, x, xdot, out) bind(c, name='ks_tide')
      import :: c_double, c_size_t, ks_pair, ks_perturbation
      type(ks_pair), intent(in) :: pair
      integer(c_size_t), value :: n
      real(c_double), intent(in) :: m(*), dx(3, *), dv(3, *), x(3), xdot(3)
      type(ks_perturbation), intent(inout) :: out
    end subroutine ks_tide

    ! A ks_perturb function whose context is c_loc of a ks_field
    integer(c_int) function ks_perturb_paths(context, t, t_lo, x, xdot, out) bind(c, name='ks_perturb_paths')
      import :: c_double, c_int, c_ptr, ks_perturbation
      type(c_ptr), value :: context
      real(c_double), value :: t, t_lo
      real(c_double), intent(in) :: x(3), xdot(3)
      type(ks_perturbation), intent(inout) :: out
    end function ks_perturb_paths
  end interface
end module ks
