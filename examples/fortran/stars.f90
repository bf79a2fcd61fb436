! A thousand stars of Z = 0.02 that age together: how much of their mass is left, and what they are.
!
!   gfortran $(pkg-config --variable=fortrandir libstellar)/stellar.f90 stars.f90 -o stars \
!       $(pkg-config --libs libstellar)
program stars
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_null_char, c_ptr
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use stellar
  implicit none
  integer, parameter :: n = 1000
  real(real64), parameter :: times(4) = [10, 100, 1000, 12000]
  type(c_ptr) :: model
  type(stellar_options) :: options
  type(stellar_star) :: star(n)
  type(stellar_view) :: view(n)
  type(stellar_events) :: events(n)
  type(stellar_error) :: error
  real(real64) :: born
  integer :: i

  call check(stellar_options_level('A', options, error))
  call check(stellar_options_set(options, 'MDFLAG' // c_null_char, 'lbv' // c_null_char, error))
  call check(stellar_create(0.02_real64, options, model, error))
  do i = 1, n
    call check(stellar_birth(model, int(i, c_int64_t), mass_of((i - 0.5_real64) / n), 0._real64, star(i), error))
  end do
  born = sum(star%mass)
  do i = 1, size(times)
    call check(stellar_evolve_all(model, int(n, c_int64_t), star, times(i), view, events, error))
    print '(f8.0, a, f6.3, a, i0, a)', times(i), ' Myr: ', sum(view%mass) / born, ' of the mass is left, ', &
         count(view%type >= stellar_he_wd), ' remnants'
  end do
  call stellar_free(model)

contains

  ! Salpeter's mass function from 0.5 to 100 solar masses: the mass below which a fraction of the stars is
  pure real(real64) function mass_of(fraction)
    real(real64), intent(in) :: fraction
    real(real64), parameter :: slope = -1.35_real64
    mass_of = (0.5_real64**slope + fraction * (100._real64**slope - 0.5_real64**slope))**(1 / slope)
  end function mass_of

  subroutine check(status)
    integer, intent(in) :: status
    integer :: k
    if (status == stellar_ok) return
    write (error_unit, '(4096a)') (error%text(k), k = 1, index_of_end())
    error stop 1
  end subroutine check

  pure integer function index_of_end()
    index_of_end = findloc(error%text, c_null_char, 1) - 1
  end function index_of_end

end program stars
