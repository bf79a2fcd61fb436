! The module chain_regularization from a program's side: a triple with and without a field, and its members.
! Prints a line for each check (TAP) and stops with 1 if any failed.
#include "../../regularization/chain.f90"

module pull
    use, intrinsic :: iso_c_binding
    implicit none
contains
    ! A constant acceleration, the same for all: it moves the centre of mass only.
    integer(c_int) function constant(context, t, n, mass, cm, x, v, acc) bind(c)
        type(c_ptr), value :: context
        real(c_double), value :: t
        integer(c_int), value :: n
        real(c_double), intent(in) :: mass(n), cm(3), x(3, n)
        real(c_double), intent(in), optional :: v(3, n)
        real(c_double), intent(inout) :: acc(3, n)
        real(c_double), pointer :: strength
        call c_f_pointer(context, strength)
        acc = 0
        acc(3, :) = strength
        constant = merge(0, 4, t >= 0 .and. all(mass > 0) .and. all(abs(cm) < 1d9) .and. all(abs(x) < 1d9) .and. .not. present(v))
    end function

    ! Coriolis force of a frame that turns about z: it does no work.
    integer(c_int) function coriolis(context, t, n, mass, cm, x, v, acc) bind(c)
        type(c_ptr), value :: context
        real(c_double), value :: t
        integer(c_int), value :: n
        real(c_double), intent(in) :: mass(n), cm(3), x(3, n)
        real(c_double), intent(in), optional :: v(3, n)
        real(c_double), intent(inout) :: acc(3, n)
        real(c_double), pointer :: strength
        call c_f_pointer(context, strength)
        coriolis = merge(0, 4, t >= 0 .and. all(mass > 0) .and. all(abs(cm) < 1d9) .and. all(abs(x) < 1d9) .and. present(v))
        acc = 0
        if (coriolis /= 0) return
        acc(1, :) = 2*strength*v(2, :)
        acc(2, :) = -2*strength*v(1, :)
    end function
end module pull

program chain_module
    use, intrinsic :: iso_c_binding
    use chain_regularization
    use pull
    implicit none
    type(chain) :: c, copy
    type(chain_options) :: options
    type(chain_body) :: body(3), now(3), gone(1)
    type(chain_event) :: event
    type(chain_error) :: err
    type(chain_field) :: field
    type(chain_group) :: group
    real(c_double), target :: strength = 0.25d0
    real(c_double) :: x(3), v(3), r, t, lost
    integer :: i, done = 0, failed = 0

    call check(chain_size() == c_sizeof(c), 'the type has the size of the struct')
    call check(chain_method_find('none'//c_null_char, options%method, err) == chain_bad_argument, 'unknown method')
    call check(index(words(err%text), "'none'") > 0, words(err%text))
    call check(chain_method_find('ar'//c_null_char, options%method, err) == chain_ok, 'method by name')
    call check(options%method == chain_method_ar, 'its number')

    ! The Pythagorean problem.
    body(1) = chain_body(id=3, mass=3, x=[1d0, 3d0, 0d0])
    body(2) = chain_body(id=4, mass=4, x=[-2d0, -1d0, 0d0])
    body(3) = chain_body(id=5, mass=5, x=[1d0, -1d0, 0d0])
    do i = 0, 1
        options%method = merge(chain_method_ks, chain_method_ar, i == 0)
        call check(chain_init(c, options, 3, body, 0d0, err) == chain_ok, 'init')
        call check(abs(chain_energy(c) + 769d0/60) < 1d-13, 'energy')
        copy = c
        call check(chain_advance(c, 10d0, event=event, err=err) == chain_ok, 'advance')
        call check(event%kind == chain_none .and. abs(c%t - 10) <= 0, 'to the end')
        call chain_bodies(c, now)
        ! Twelve digits of the reference and a hundred steps of 1e-14.
        call check(maxval(abs(now(1)%x - [0.778480410138d0, 0.141392300290d0, 0d0])) < 1d-10, 'where it should be')
        call check(all(now%id == [3, 4, 5]), 'identities')
        call chain_closest(c, 1, 2, r, t)
        call check(r < 0.1d0 .and. t > 0 .and. t < 10, 'closest approach')
        call check(chain_bodies_at(copy, 10d0, body=now, err=err) == chain_ok, 'a copy at another time')
        call check(abs(copy%t) <= 0, 'stays where it is')
    end do

    field%acceleration = c_funloc(constant)
    field%context = c_loc(strength)
    c = copy
    field%acceleration = c_funloc(coriolis)
    field%by_velocity = 1
    call check(chain_advance(c, 4d0, field, event, err) == chain_ok, 'advance in a field of velocities')
    ! Ten steps of 1e-14.
    call check(abs(chain_energy(c) + 769d0/60) < 1d-11, 'which does no work')
    call chain_bodies(c, now)
    call check(maxval(abs(now%x(1))) > 0.1d0, 'but acts')
    field%acceleration = c_funloc(constant)
    field%by_velocity = 0
    c = copy
    call check(chain_advance(c, 4d0, field, event, err) == chain_ok, 'advance in a field')
    call chain_centre(c, x, v)
    ! s = g t^2/2 and v = g t
    call check(abs(x(3) - 2) < 1d-12 .and. abs(v(3) - 1) < 1d-12, 'the centre of mass falls')
    call check(abs(chain_energy(c) - chain_energy_booked(c)) < 1d-11, 'energy is booked')
    call check(chain_escaper(c, 20d0, 1d9, group) == 0, 'nobody escapes')
    call check(chain_escaper_of(c, 1, 20d0, 1d9, group) == 0, 'not alone either')
    call check(chain_emit(c, 1, [4_c_int64_t], gone, err) == chain_ok .and. c%n == 2, 'one leaves')
    call check(gone(1)%id == 4 .and. abs(gone(1)%mass - 4) <= 0, 'the right one')
    call check(chain_absorb(c, 1, gone, err) == chain_ok .and. c%n == 3, 'and comes back')
    call check(chain_merge(c, 3_c_int64_t, 4_c_int64_t, 0d0, lost, err) == chain_ok .and. c%n == 2, 'two merge')
    call chain_set_centre(c, [0d0, 0d0, 0d0], [0d0, 0d0, 0d0])
    call chain_slow_end(c)
    call check(abs(hierarchy_critical_ratio(0d0, 0d0, 0d0) - 2.8d0) < 1d-14, 'hierarchy')
    call check(abs(chain_energy_pn(c) - chain_energy(c)) <= 0, 'no post-Newtonian terms')
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

    function words(letters) result(text)
        character(kind=c_char), intent(in) :: letters(:)
        character(:), allocatable :: text
        integer :: k
        text = ''
        do k = 1, size(letters)
            if (letters(k) == c_null_char) exit
            text = text//letters(k)
        end do
    end function
end program chain_module
