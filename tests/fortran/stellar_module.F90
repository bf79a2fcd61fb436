! The module stellar from a program's side: a star of five solar masses as C has it in
! tests/conformance/test_stellar_numbers.c. Prints a line for each check (TAP) and stops with 1 if any failed.
#include "../../stellar/stellar.f90"

program stellar_module
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_null_char, c_ptr, c_size_t, c_sizeof
  use stellar
  implicit none
  type(c_ptr) :: model
  type(stellar_options) :: options
  type(stellar_star) :: star, many(3)
  type(stellar_view) :: view, views(3)
  type(stellar_events) :: events, happened(3)
  type(stellar_error) :: error
  integer :: i, checks, failed

  checks = 0
  failed = 0

  call expect(c_sizeof(options) == 8 * 4 + 12 * 8 .and. c_sizeof(star) == 11 * 8, 'sizes of options and stars')
  call expect(c_sizeof(view) == 11 * 8 .and. c_sizeof(events) == 8 + 16 * (16 + 7 * 8), 'sizes of views and events')
  call expect(stellar_options_level('A', options, error) == stellar_ok, 'level A')
  call expect(options%nsflag == 1 .and. is(options%hewind, 0.5d0) .and. is(options%wdkmax, 6d0) .and. &
       options%nrand == 1, 'defaults')
  call expect(stellar_options_set(options, 'NSFLAG' // c_null_char, 'slow' // c_null_char, error) == &
       stellar_bad_input, 'a word that is none')
  call expect(stellar_create(0.02d0, options, model, error) == stellar_ok, 'a model')
  call expect(stellar_birth(model, 1_c_int64_t, 5d0, 0d0, star, error) == stellar_ok, 'a star')
  call expect(stellar_evolve(model, star, 115d0, view, events, error) == stellar_ok, 'its life')
  call expect(view%type == stellar_cheb .and. events%n == 3 .and. events%event(3)%type_after == stellar_cheb, &
       'its phases')
  call expect(abs(events%event(1)%time_myr - 104.016d0) < 1d-3 .and. view%ask_again_myr > 115, 'times')
  call expect(stellar_set_mass(model, star, 116d0, 4.5d0, view, events, error) == stellar_ok, 'another mass')
  call expect(is(view%mass, 4.5d0) .and. is(view%time_myr, 116d0), 'its mass')
  do i = 1, 3
    call expect(stellar_birth(model, int(i, c_int64_t), 5d0 * i, 0d0, many(i), error) == stellar_ok, 'stars')
  end do
  call expect(stellar_evolve_all(model, 3_c_int64_t, many, 200d0, views, happened, error) == stellar_ok, 'their lives')
  call expect(views(1)%type == stellar_co_wd .and. views(2)%type == stellar_ns .and. views(3)%type == stellar_ns, &
       'ends')
  call expect(sum(happened(3)%event(happened(3)%n)%kick_kms**2) > 0, 'a kick')
  call expect(stellar_merge(model, many(1), model, many(2), 210d0, 0.5d0, star, view, events, error) == stellar_ok, &
       'two stars become one')
  call expect(view%type == stellar_ns .and. star%name == 1 .and. &
       abs(view%mass - views(1)%mass - views(2)%mass) < 1d-9, 'their product')
  call expect(stellar_birth_helium(model, 9_c_int64_t, 0.1d0, 0d0, star, error) == stellar_bad_argument, 'too light')
  call stellar_free(model)
  print '(a, i0)', '1..', checks
  if (failed > 0) error stop 1

contains

  ! The same number, which is given and not computed.
  pure logical function is(a, b)
    real(8), intent(in) :: a, b
    is = abs(a - b) <= 0
  end function is

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    checks = checks + 1
    if (.not. holds) failed = failed + 1
    print '(a, i0, 2a)', trim(merge('ok     ', 'not ok ', holds)) // ' ', checks, ' - ', what
  end subroutine expect
end program stellar_module
