! The module gpunb from a program's side: softened forces of three bodies on every backend of this machine, and regular
! forces.
! Prints a line for each check (TAP) and stops with 1 if any failed.
#include "../../gpunb/fortran/gpunb.f90"

program gpunb_module
    implicit none
    integer :: done = 0, failed = 0

    call all_backends()
    call one_neighbour()
    print '(a,i0)', '1..', done
    if (failed > 0) stop 1
contains
    subroutine all_backends()
        use, intrinsic :: iso_c_binding
        use gpunb, only: gpunb_backend, gpunb_backend_info
        type(gpunb_backend_info), pointer :: info
        type(c_ptr) :: place
        integer(c_int) :: k
        k = 0
        do
            place = gpunb_backend(k)
            if (.not. c_associated(place)) exit
            call c_f_pointer(place, info)
            if (info%available /= 0) call on_backend(info%name)
            k = k + 1
        end do
    end subroutine

    !> Masses 1 and 4 at distance 3 and a massless body between; a softening of 4 makes that pair's distance 5.
    subroutine on_backend(name)
        use, intrinsic :: iso_c_binding
        use gpunb, only: gpunb_create, gpunb_free, gpunb_options, gpunb_send_positions, gpunb_softened, &
            gpunb_softened_job, nbc_error, string_of, NBC_BAD_STATE, NBC_OK
        type(c_ptr), intent(in) :: name
        type(gpunb_options) :: options
        type(gpunb_softened_job) :: job
        type(nbc_error) :: err
        type(c_ptr) :: handle
        real(c_double), target :: x(3, 3), acc(3, 3), pot(3)
        integer(c_int32_t), target :: self(3) = [0, 1, 2]
        options%backend = name
        x = 0
        x(1, 2) = 3
        x(1, 3) = 1.5d0
        call check(gpunb_create(handle, 3_c_size_t, options, err) == NBC_OK, string_of(name)//': create')
        job = gpunb_softened_job(n_i=3, x=c_loc(x), self=c_loc(self), softening=4, acc=c_loc(acc), pot=c_loc(pot))
        call check(gpunb_softened(handle, job) == NBC_BAD_STATE, 'no sources')
        call check(gpunb_send_positions(handle, 3_c_size_t, [1d0, 4d0, 0d0], x) == NBC_OK, 'positions')
        call check(gpunb_softened(handle, job) == NBC_OK, 'softened forces')
        ! a = m d / 5^3, phi = -m/5
        call check(all(abs(acc(:, 1) - [0.096d0, 0d0, 0d0]) < 1d-7), 'acceleration of the first body')
        call check(all(abs(acc(:, 2) - [-0.024d0, 0d0, 0d0]) < 1d-7), 'acceleration of the second body')
        call check(all(abs(pot(1:2) - [-0.8d0, -0.2d0]) < 1d-6), 'potential without that of the body itself')
        job%self = c_null_ptr
        call check(gpunb_softened(handle, job) == NBC_OK, 'softened forces again')
        call check(all(abs(pot(1:2) - [-1.05d0, -1.2d0]) < 1d-6), 'potential with it')
        job%pot = c_null_ptr
        pot = 7
        call check(gpunb_softened(handle, job) == NBC_OK .and. all(abs(pot - 7) <= 0), 'no potential')
        call gpunb_free(handle)
    end subroutine

    ! The C library with neighbours: one target, one neighbour, one far source.
    subroutine one_neighbour
        use gpunb, only: gpunb_options, nbc_error, NBC_OK, NBC_NON_FINITE, GPUNB_DOUBLE, gpunb_create, gpunb_free, &
            error_text, string_of, gpunb_last_error, gpunb_potential, gpunb_reserve, gpunb_set_jp, gpunb_clear_jp, &
            gpunb_predict, gpunb_send, gpunb_regf
        use, intrinsic :: iso_c_binding
        use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
        character(len=4, kind=c_char), target :: name = 'ref'//c_null_char
        character(len=5, kind=c_char), target :: bad_name = 'none'//c_null_char
        integer(c_int32_t), target :: self(1)
        real(c_double), target :: pot(1)
        type(gpunb_options) :: options
        type(nbc_error) :: err
        type(c_ptr) :: handle
        double precision :: m(3), xs(3, 3), vs(3, 3), acc(3, 1), jerk(3, 1)
        integer(c_int32_t) :: nnb(1), list(2, 1)
        integer(c_size_t) :: j
        options%backend = c_loc(bad_name)
        call check(gpunb_create(handle, 3_c_size_t, options, err) /= NBC_OK, 'handle: unknown backend refused')
        call check(index(error_text(err), 'none') > 0, 'handle: the message names it')
        options%backend = c_loc(name)
        options%precision = GPUNB_DOUBLE
        call check(gpunb_create(handle, 3_c_size_t, options, err) == NBC_OK, 'handle: create')
        m = [1d0, 2d0, 4d0]
        xs = 0
        xs(1, :) = [0d0, 0.5d0, 2d0]
        vs = 0
        vs(2, 3) = 1
        self = 0
        call check(gpunb_send(handle, 3_c_size_t, m, xs, vs) == NBC_OK, 'handle: send')
        call check(gpunb_regf(handle, 1_c_size_t, c_loc(self), [1d0], [0d0], xs, vs, acc, jerk, c_loc(pot), 2_c_size_t, nnb, &
            list) == NBC_OK, 'handle: regf')
        ! Exact in double: 4/2^2, 4/2^3, 4/2.
        call check(same(acc(1, 1), 1d0) .and. same(jerk(2, 1), 0.5d0) .and. same(pot(1), -2d0), &
            'handle: force, derivative, potential')
        call check(nnb(1) == 1 .and. list(1, 1) == 1, 'handle: neighbour')
        ! The same at t = 2, with a gap: source 3 is sent as source 4, and comes there with v = a s + j s^2/2 = 1.
        call check(gpunb_reserve(handle, 5_c_size_t) == NBC_OK, 'handle: reserve')
        do j = 0, 3
            call check(gpunb_set_jp(handle, j, xs(:, min(j, 2_c_size_t) + 1), [0d0, 0d0, 0d0], [0d0, 0d0, 0d0], &
                [0d0, 0d0, 0d0], m(min(j, 2_c_size_t) + 1), 0d0) == NBC_OK, 'handle: predictor')
        end do
        call check(gpunb_set_jp(handle, 4_c_size_t, [2d0, -2d0/3d0, 0d0], [0d0, 0d0, 0d0], [0d0, 0d0, 0d0], &
            [0d0, 0.5d0, 0d0], 4d0, 0d0) == NBC_OK, 'handle: the predictor that moves')
        call check(gpunb_clear_jp(handle, 2_c_size_t) == NBC_OK, 'handle: one leaves')
        call check(gpunb_clear_jp(handle, 3_c_size_t) == NBC_OK, 'handle: and another one')
        call check(gpunb_predict(handle, 5_c_size_t, 2d0) == NBC_OK, 'handle: predict')
        call check(gpunb_regf(handle, 1_c_size_t, c_loc(self), [1d0], [0d0], xs, vs, acc, jerk, c_loc(pot), 2_c_size_t, nnb, &
            list) == NBC_OK, 'handle: regf of predicted sources')
        call check(abs(acc(1, 1) - 1d0) < 1d-14 .and. abs(jerk(2, 1) - 0.5d0) < 1d-14 .and. nnb(1) == 1 .and. &
            list(1, 1) == 1, 'handle: force of predicted sources (some roundings)')
        xs(2, 2) = ieee_value(0d0, ieee_quiet_nan)
        call check(gpunb_send(handle, 3_c_size_t, m, xs, vs) == NBC_NON_FINITE, 'handle: NaN refused')
        call check(index(string_of(gpunb_last_error(handle)), 'source 1') > 0, 'handle: the message names the source')
        call gpunb_free(handle)
    end subroutine

    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        done = done + 1
        if (.not. ok) failed = failed + 1
        print '(a,i0,2a)', merge('    ok ', 'not ok ', ok), done, ' - ', what
    end subroutine

    elemental logical function same(a, b)
        double precision, intent(in) :: a, b
        same = abs(a - b) <= 0
    end function
end program gpunb_module
