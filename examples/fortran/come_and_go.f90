! A cluster into which a small group falls at t = 1, and from which its most distant star is taken out at t = 2.
!
!   gfortran $(pkg-config --variable=fortrandir libnbody6)/nbody6.f90 come_and_go.f90 -o come_and_go \
!       $(pkg-config --libs libnbody6)
program come_and_go
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use nbody6
  implicit none
  type(nb6_cluster) :: cluster

  call check(nb6_create(cluster))
  call check(nb6_set(cluster, 'N', '300'))
  call check(nb6_set(cluster, 'TCRIT', '3.0'))
  call check(nb6_set(cluster, 'DTADJ', '0.5'))
  call check(nb6_make_model(cluster))
  call report
  call check(nb6_evolve(cluster, nb6_time_of_change(1d0)))
  call report
  call let_a_group_come
  call report
  call check(nb6_evolve(cluster, nb6_time_of_change(2d0)))
  call report
  call let_the_most_distant_go
  call report
  call check(nb6_evolve(cluster, 3d0))
  call report
  call nb6_free(cluster)

contains

  subroutine let_a_group_come
    integer, parameter :: n = 4
    real(real64) :: mass(n), x(3, n), v(3, n)
    mass = 0.01d0
    x = reshape([3.1d0, 0d0, 0d0, 2.9d0, 0d0, 0d0, 3d0, 0.1d0, 0d0, 3d0, 0d0, 0.1d0], [3, n])
    v = 0
    v(1, :) = -0.5d0
    call check(nb6_add_bodies(cluster, mass, x, v))
  end subroutine let_a_group_come

  subroutine let_the_most_distant_go
    real(real64), allocatable :: x(:, :)
    integer(int64), allocatable :: name(:)
    integer(int64) :: n
    n = nb6_count(cluster)
    allocate (x(3, n), name(n))
    call check(nb6_get_bodies(cluster, x=x, name=name))
    call check(nb6_remove_bodies(cluster, [name(maxloc(sum(x**2, dim=1), dim=1))]))
  end subroutine let_the_most_distant_go

  subroutine report
    type(nb6_energy) :: energy
    call check(nb6_get_energy(cluster, energy))
    print '(a, f6.3, a, i0, a, f10.6, a, f12.8)', 't = ', nb6_time(cluster), '  N = ', nb6_count(cluster), &
      '  mass = ', energy%mass, '  E = ', energy%total
  end subroutine report

  subroutine check(status)
    integer, intent(in) :: status
    if (status == NB6_OK) return
    write (error_unit, '(2a)') 'come_and_go: ', nb6_message(cluster)
    error stop 1
  end subroutine check
end program come_and_go
