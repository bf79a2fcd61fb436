! The module gpuirr from a program's side: three bodies, every call once.
! Prints a line for each check (TAP) and stops with 1 if any failed.
#include "../../gpuirr/fortran/gpuirr.f90"

program gpuirr_module
    use, intrinsic :: iso_c_binding
    use gpuirr
    implicit none
    character(kind=c_char), target :: ref(4) = ['r', 'e', 'f', c_null_char], wrong(3) = ['n', 'o', c_null_char]
    type(c_ptr) :: irr = c_null_ptr, list_place
    type(gpuirr_options) :: options
    type(gpuirr_error) :: err
    type(gpuirr_stats) :: stats
    integer(c_int32_t), pointer :: list(:)
    character(kind=c_char), pointer :: letters(:)
    integer(c_int32_t) :: act(2) = [0, 1], nearest(2)
    integer(c_size_t) :: nnb
    real(c_double) :: acc(3, 2), jerk(3, 2), zero(3) = 0
    integer :: done = 0, failed = 0

    options%backend = c_loc(wrong)
    call check(gpuirr_create(irr, 3_c_size_t, options, err) == gpuirr_unavailable, 'unknown backend')
    call check(err%status == gpuirr_unavailable .and. index(words(err%text), "'no'") > 0, words(err%text))
    options%backend = c_loc(ref)
    call check(gpuirr_create(irr, 3_c_size_t, options, err) == gpuirr_ok, 'create')
    ! Mass 1 at the origin, and mass 2 at x = 2, in no list, that moves away with v = 4.
    call check(gpuirr_set_jp(irr, 0_c_size_t, zero, zero, zero, zero, 1d0, 0d0) == gpuirr_ok, 'set 0')
    call check(gpuirr_set_jp(irr, 1_c_size_t, [2d0, 0d0, 0d0], [4d0, 0d0, 0d0], zero, zero, 2d0, 0d0) == gpuirr_ok, 'set 1')
    call check(gpuirr_set_jp(irr, 2_c_size_t, [0d0, 1d0, 0d0], zero, zero, zero, 1d0, 0d0) == gpuirr_ok, 'set 2')
    call check(gpuirr_set_list(irr, 0_c_size_t, 1_c_size_t, [1]) == gpuirr_ok, 'list 0')
    call check(gpuirr_set_list(irr, 1_c_size_t, 2_c_size_t, [0, 2]) == gpuirr_ok, 'list 1')
    call check(gpuirr_set_list(irr, 1_c_size_t, 2_c_size_t, [2, 0]) == gpuirr_bad_argument, 'not ascending')
    call c_f_pointer(gpuirr_last_error(irr), letters, [200])
    call check(index(words(letters), 'ascending') > 0, words(letters))
    call check(gpuirr_firr_vec(irr, 1_c_size_t, act, acc, jerk) == gpuirr_bad_state, 'no time announced')
    list_place = gpuirr_get_list(irr, 1_c_size_t, nnb)
    call c_f_pointer(list_place, list, [nnb])
    call check(nnb == 2 .and. all(list == [0, 2]), 'a list comes back')

    call check(gpuirr_pred_all(irr, 0_c_size_t, 3_c_size_t, 0d0) == gpuirr_ok, 'predict all')
    call check(gpuirr_firr_vec(irr, 2_c_size_t, act, acc, jerk, nearest) == gpuirr_ok, 'forces')
    ! a = m/r^2, da/dt = -2 m v/r^3; powers of two are exact
    call check(all(abs(acc(:, 1) - [0.5d0, 0d0, 0d0]) <= 0), 'acceleration')
    call check(all(abs(jerk(:, 1) - [-2d0, 0d0, 0d0]) <= 0), 'jerk')
    call check(all(nearest == [1, 0]), 'nearest neighbours')
    call check(gpuirr_pred_act(irr, 1_c_size_t, act, 0.5d0) == gpuirr_ok, 'predict some')
    call check(gpuirr_firr_vec(irr, 1_c_size_t, act, acc, jerk) == gpuirr_ok, 'forces without nearest neighbours')
    call check(all(abs(acc(:, 1) - [0.125d0, 0d0, 0d0]) <= 0), 'acceleration when it has moved to x = 4')
    call gpuirr_get_stats(irr, stats)
    call check(stats%calls == 2 .and. stats%bodies == 3 .and. stats%interactions == 4, 'statistics')
    call check(gpuirr_set_jp(irr, 3_c_size_t, zero, zero, zero, zero, 1d0, 0d0) == gpuirr_bad_argument, 'no fourth body')
    call check(gpuirr_reserve(irr, 4_c_size_t) == gpuirr_ok, 'room for a fourth body')
    call check(gpuirr_set_jp(irr, 3_c_size_t, zero, zero, zero, zero, 1d0, 0d0) == gpuirr_ok, 'a fourth body')
    call check(stats%coincident_pairs == 0 .and. stats%seconds_firr >= 0, 'more statistics')
    call gpuirr_free(irr)
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
end program gpuirr_module
