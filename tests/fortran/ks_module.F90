! The modules kepler and ks from a program's side: every call once, with a perturb function written in Fortran.
! Prints a line for each check (TAP) and stops with 1 if any failed.
#include "../../regularization/regularization.f90"

! A body at rest at distance 10 on the x-axis of the centre of mass, its mass is the context.
module ks_tides
    use, intrinsic :: iso_c_binding
    use ks
    implicit none
    type(ks_pair), target :: pair
contains
    integer(c_int) function tide(context, t, t_lo, x, xdot, out) bind(c)
        type(c_ptr), value :: context
        real(c_double), value :: t, t_lo
        real(c_double), intent(in) :: x(3), xdot(3)
        type(ks_perturbation), intent(inout) :: out
        real(c_double), pointer :: mass
        real(c_double) :: dx(3, 1), dv(3, 1)
        call c_f_pointer(context, mass)
        dx(:, 1) = [10d0, 0d0, 0d0]
        dv = 0
        call ks_tide(pair, 1_c_size_t, [mass], dx, dv, x, xdot, out)
        tide = merge(ks_ok, ks_internal, t + t_lo >= 0)
    end function
end module

program ks_module
    use, intrinsic :: iso_c_binding
    use kepler
    use ks
    use ks_tides
    implicit none
    real(c_double), parameter :: pi = 3.14159265358979324d0
    real(c_double) :: x(3, 2), v(3, 2), xr(3), vr(3), xp(3), vp(3), c(0:kepler_stumpff_max), s, periods, cm(3), x2(3, 2), v2(3, 2)
    real(c_double), target :: mass
    type(kepler_elements_t) :: conic
    type(ks_elements_t) :: el
    type(ks_options) :: options
    type(ks_error) :: err
    type(ks_pair) :: copy
    type(ks_path), target :: paths(1)
    type(ks_field), target :: field
    integer :: done = 0, failed = 0
    integer(c_int) :: done_all

    ! Kepler: half a period of a = 1, e = 0.5, from the pericentre to the apocentre
    call kepler_stumpff(pi**2, c)
    call check(abs(c(0) + 1) < 1d-14 .and. abs(c(1)) < 1d-14, 'Stumpff functions at pi**2')
    xr = [0.5d0, 0d0, 0d0]
    vr = [0d0, sqrt(3d0), 0d0]
    call check(kepler_elements(1d0, xr, vr, conic) == kepler_ok, 'elements')
    ! Tolerances here are a few units in the last place of numbers of order one.
    call check(abs(conic%a - 1) < 1d-14 .and. abs(conic%e - 0.5d0) < 1d-14 .and. abs(conic%period - 2*pi) < 1d-13, 'a, e, period')
    call check(kepler_anomaly(1d0, 0.5d0, 0d0, -0.5d0, 5*pi, s, periods) == kepler_ok, 'anomaly')
    call check(abs(abs(s) - pi) < 1d-13 .and. abs(s + 2*pi*periods - 5*pi) < 1d-13, 'two and a half periods')
    call check(kepler_advance(1d0, pi, xr, vr) == kepler_ok, 'advance')
    call check(maxval(abs(xr - [-1.5d0, 0d0, 0d0])) < 1d-14, 'apocentre')
    call check(kepler_advance(-1d0, pi, xr, vr) == kepler_bad_argument, 'negative mass')

    ! The same orbit as a pair of masses 0.25 and 0.75
    x = reshape([0.375d0, 0d0, 0d0, -0.125d0, 0d0, 0d0], [3, 2])
    v = reshape([0d0, 0.75d0*sqrt(3d0), 0d0, 0d0, -0.25d0*sqrt(3d0), 0d0], [3, 2])
    options%eta = 2
    call check(ks_init(pair, options, [0.25d0, 0.75d0], x, v, 0d0, err) == ks_bad_argument, 'eta = 2')
    call check(err%status == ks_bad_argument .and. err%text(1) == 'k', 'a message')
    options%eta = 0.1d0
    call check(ks_init(pair, options, [0.25d0, 0.75d0], x, v, 0d0, err) == ks_ok, 'init')
    call check(ks_step(pair, c_null_funptr, c_null_ptr, err) == ks_bad_state, 'a step before the start')
    call ks_elements(pair, el)
    call check(abs(el%a - 1) < 1d-14 .and. abs(el%e - 0.5d0) < 1d-14 .and. abs(el%r - 0.5d0) < 1d-14, 'elements of the pair')
    call check(abs(ks_time_to_apocentre(pair) - pi) < 1d-13, 'time to the apocentre')
    copy = pair
    call check(ks_unperturbed(copy, 21*pi, err) == ks_ok .and. copy%n_orbit >= 10, 'ten periods and a half at once')
    call ks_relative(copy, xr, vr)
    call check(maxval(abs(xr - [-1.5d0, 0d0, 0d0])) < 1d-12, 'apocentre again')

    ! Perturbed, through a function of this program and through the library's
    mass = 0.3d0
    call check(ks_start(pair, c_funloc(tide), c_loc(mass), err) == ks_ok, 'start')
    call check(pair%gamma > 0 .and. pair%dt > 0 .and. pair%level == 0, 'perturbation and step')
    call check(ks_advance_some(pair, 20d0, 10_c_int64_t, c_funloc(tide), c_loc(mass), done_all, err) == ks_ok, 'ten steps')
    call check(done_all == 0 .and. pair%n_step == 10, 'and more to do')
    call check(ks_advance(pair, 20d0, c_funloc(tide), c_loc(mass), err) == ks_ok, 'advance')
    call check(pair%t <= 20 .and. pair%t + 1.002d0*pair%dt > 20 .and. pair%n_step > 100, 'up to the time')
    call check(ks_predict(pair, 20d0, xp, vp) == ks_ok, 'predict')
    call check(ks_step(pair, c_funloc(tide), c_loc(mass), err) == ks_ok, 'step')
    call check(ks_finish(pair, 20d0, c_funloc(tide), c_loc(mass), err) == ks_ok, 'finish')
    call check(abs(pair%t - 20) <= 0, 'at exactly the time')
    call ks_relative(pair, xr, vr)
    ! gamma is 1e-3; an extrapolation over one step is good to 1e-4 of that
    call check(maxval(abs(xp - xr)) < 1d-7 .and. maxval(abs(vp - vr)) < 1d-6, 'as predicted')
    copy = pair

    call check(ks_init(pair, options, [0.25d0, 0.75d0], x, v, 0d0, err) == ks_ok, 'init again')
    paths(1)%x(1) = 10
    paths(1)%mass = mass
    field = ks_field(pair=c_loc(pair), centre=ks_path(), n=1, paths=c_loc(paths))
    call check(ks_start(pair, c_funloc(ks_perturb_paths), c_loc(field), err) == ks_ok, 'start with arrays')
    call check(ks_advance(pair, 20d0, c_funloc(ks_perturb_paths), c_loc(field), err) == ks_ok, 'advance with arrays')
    call check(ks_step(pair, c_funloc(ks_perturb_paths), c_loc(field), err) == ks_ok, 'step with arrays')
    call check(ks_finish(pair, 20d0, c_funloc(ks_perturb_paths), c_loc(field), err) == ks_ok, 'finish with arrays')
    call check(all(abs(pair%now%u - copy%now%u) <= 0) .and. abs(pair%h - copy%h) <= 0, 'the same bits')
    call check(pair%n_step == copy%n_step .and. pair%n_eval == copy%n_eval .and. pair%level == copy%level, 'the same counts')

    cm = [1d0, 2d0, 3d0]
    call ks_components(pair, cm, cm, xr, vr, x2, v2)
    call check(maxval(abs(0.25d0*x2(:, 1) + 0.75d0*x2(:, 2) - cm)) < 1d-14, 'centre of mass')
    call check(maxval(abs(v2(:, 1) - v2(:, 2) - vr)) < 1d-14, 'relative velocity')
    call ks_set_slowdown(pair, 4d0)
    call check(abs(pair%kappa - 4) <= 0, 'slow-down')
    print '(a,i0)', '1..', done
    if (failed > 0) stop 1
contains
    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        done = done + 1
        if (.not. ok) failed = failed + 1
        print '(a,i0,2a)', merge('    ok ', 'not ok ', ok), done, ' - ', what
    end subroutine
end program ks_module
