! A model of 300 stars that lose a part of their mass in winds, up to t = 1; then one of them explodes: most of its mass
! goes at once, and what is left is kicked.
!
!   gfortran $(pkg-config --variable=fortrandir libnbody6)/nbody6.f90 explosion.f90 -o explosion \
!       $(pkg-config --libs libnbody6)
program explosion
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use nbody6
  implicit none
  integer, parameter :: winds = 8
  type(nb6_cluster) :: cluster
  integer :: k

  call check(nb6_create(cluster))
  call check(nb6_set(cluster, 'N', '300'))
  call check(nb6_set(cluster, 'TCRIT', '2.0'))
  call check(nb6_set(cluster, 'DTADJ', '0.5'))
  call check(nb6_make_model(cluster))
  call report
  do k = 1, winds
    call check(nb6_evolve(cluster, real(k, real64)/winds))
    call let_winds_blow
  end do
  call report
  call let_one_explode
  call report
  call check(nb6_evolve(cluster, 2d0))
  call report
  call report_field
  call nb6_free(cluster)

contains

  ! All stars lose a hundredth: pairs among them, if there are any, widen.
  subroutine let_winds_blow
    real(real64), allocatable :: mass(:)
    integer(int64), allocatable :: name(:)
    allocate (mass(nb6_count(cluster)), name(nb6_count(cluster)))
    call check(nb6_get_bodies(cluster, mass=mass, name=name))
    call check(nb6_set_masses(cluster, name, 0.99d0*mass, sudden=.false.))
  end subroutine let_winds_blow

  subroutine let_one_explode
    real(real64), allocatable :: mass(:), v(:, :)
    integer(int64), allocatable :: name(:)
    integer(int64) :: n
    integer :: heaviest
    n = nb6_count(cluster)
    allocate (mass(n), v(3, n), name(n))
    call check(nb6_get_bodies(cluster, mass=mass, v=v, name=name))
    heaviest = maxloc(mass, dim=1)
    v(1, heaviest) = v(1, heaviest) + 3
    call check(nb6_set_masses(cluster, name(heaviest:heaviest), 0.2d0*mass(heaviest:heaviest), sudden=.true., &
                              v=v(:, heaviest:heaviest)))
    print '(a, i0, a, f7.4)', 'star ', name(heaviest), ' explodes; it had ', mass(heaviest)
  end subroutine let_one_explode

  subroutine report
    type(nb6_energy) :: energy
    call check(nb6_get_energy(cluster, energy))
    print '(a, f6.3, a, f8.5, a, f12.8)', 't = ', nb6_time(cluster), '  mass = ', energy%mass, '  E = ', energy%total
  end subroutine report

  subroutine report_field
    real(real64), parameter :: x(3, 2) = reshape([0d0, 0d0, 0d0, 2d0, 0d0, 0d0], [3, 2])
    real(real64) :: potential(2), acc(3, 2)
    call check(nb6_get_field(cluster, x, potential=potential, acc=acc))
    print '(a, 2f9.4)', 'potential at the origin and at x = 2: ', potential
    print '(a, 2f9.4)', 'acceleration along x there: ', acc(1, :)
  end subroutine report_field

  subroutine check(status)
    integer, intent(in) :: status
    if (status == NB6_OK) return
    write (error_unit, '(2a)') 'explosion: ', nb6_message(cluster)
    error stop 1
  end subroutine check
end program explosion
