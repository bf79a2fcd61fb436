! The module gpunb from a program's side: softened forces of three bodies, on every backend of this machine.
! Prints a line for each check (TAP) and stops with 1 if any failed.
#include "../../gpunb/gpunb.f90"

program gpunb_module
    implicit none
    integer :: done = 0, failed = 0

    call all_backends()
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

    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        done = done + 1
        if (.not. ok) failed = failed + 1
        print '(a,i0,2a)', merge('    ok ', 'not ok ', ok), done, ' - ', what
    end subroutine
end program gpunb_module
