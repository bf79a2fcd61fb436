! A cluster of 500 stars to t = 2, its energy, a checkpoint at t = 1, and the second half once more from there: with the
! same bits.
!
!   gfortran $(pkg-config --variable=fortrandir libnbody6)/nbody6.f90 cluster.f90 -o cluster \
!       $(pkg-config --libs libnbody6)
program cluster_example
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use nbody6
  implicit none
  type(nb6_cluster) :: cluster, again
  type(nb6_energy) :: first, now
  real(real64), allocatable :: x(:, :), y(:, :)
  integer :: k

  call check(cluster, nb6_create(cluster))
  call set('N', '500')
  call set('NRAND', '7')
  call set('ETAI', '0.02')
  call set('ETAR', '0.02')
  call set('DTADJ', '0.5')
  call set('TCRIT', '2.0')
  call check(cluster, nb6_make_model(cluster))
  call check(cluster, nb6_get_energy(cluster, first))
  do k = 1, 4
    call check(cluster, nb6_evolve(cluster, 0.5d0*k))
    call check(cluster, nb6_get_energy(cluster, now))
    print '(a, f6.3, a, i0, a, f12.8, a, es10.2)', 't = ', nb6_time(cluster), '  N = ', nb6_count(cluster), '  E = ', &
      now%total, '  dE/E = ', (now%total - first%total)/abs(first%total)
    if (k == 2) call check(cluster, nb6_checkpoint(cluster, 'cluster.h5'))
  end do

  call check(again, nb6_create(again))
  call check(again, nb6_restore(again, 'cluster.h5'))
  call check(again, nb6_evolve(again, 2d0))
  allocate (x(3, nb6_count(cluster)), y(3, nb6_count(again)))
  call check(cluster, nb6_get_bodies(cluster, x=x))
  call check(again, nb6_get_bodies(again, x=y))
  if (any(abs(x - y) > 0)) error stop 'from the checkpoint: DIFFERENT'
  print '(a)', 'from the checkpoint: the same bits'
  call nb6_free(cluster)
  call nb6_free(again)

contains

  ! Any variable of the input, by the name and with the value that it has there.
  subroutine set(name, value)
    character(*), intent(in) :: name, value
    call check(cluster, nb6_set(cluster, name, value))
  end subroutine set

  subroutine check(of, status)
    type(nb6_cluster), intent(in) :: of
    integer, intent(in) :: status
    if (status == NB6_OK) return
    write (error_unit, '(2a)') 'cluster: ', nb6_message(of)
    error stop 1
  end subroutine check
end program cluster_example
