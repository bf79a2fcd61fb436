! The module nbody6 from a program's side: a small cluster is made, evolved, checkpointed and resumed.
! Prints a line for each check (TAP) and stops with 1 if any failed.
module checks
    implicit none
    integer :: done = 0, failed = 0
contains
    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        done = done + 1
        if (.not. ok) failed = failed + 1
        print '(a,i0,2a)', merge('    ok ', 'not ok ', ok), done, ' - ', what
    end subroutine
end module checks

program nbody6_module
    use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use checks
    use nbody6
    implicit none
    integer, parameter :: n = 60
    real(real64) :: mass(n), x(3, n), v(3, n)
    integer(int64) :: names(n)
    type(nb6_cluster) :: cluster, other
    character(:), allocatable :: path
    character(4096) :: program_path
    integer :: k

    call get_command_argument(0, program_path)
    path = trim(program_path)//'.ckpt.h5'
    names = [(1000_int64 - 7*k, k=1, n)]
    call make_stars
    call without_stars
    call refused_stars
    call stars_and_energy
    call model_and_changes
    call momentum_of_all_stars
    call evolve_and_resume
    call copies
    call nb6_free(cluster)
    call nb6_free(cluster)      ! does nothing
    call nb6_free(other)
    call check_progress(cluster, 0, 0d0, 'nothing is left')
    print '(a,i0)', '1..', done
    if (failed > 0) stop 1
contains
    ! A homogeneous sphere in virial equilibrium, masses over a factor of 3.
    subroutine make_stars
        integer :: i, seed_size
        integer, allocatable :: seed(:)
        real(real64) :: u(3), kinetic, potential
        call random_seed(size=seed_size)
        allocate (seed(seed_size))
        seed = [(4321 + 11*i, i=1, seed_size)]
        call random_seed(put=seed)
        do i = 1, n
            u = 2
            do while (norm2(u) > 1)
                call random_number(u)
                u = 2*u - 1
            end do
            x(:, i) = 1.2d0*u
            call random_number(u)
            v(:, i) = u - 0.5d0
            mass(i) = (1 + 0.5d0*u(1))/n
        end do
        call energies(kinetic, potential)
        v = v*sqrt(-0.5d0*potential/kinetic)
    end subroutine

    subroutine energies(kinetic, potential)
        real(real64), intent(out) :: kinetic, potential
        integer :: i, j
        kinetic = 0
        potential = 0
        do i = 1, n
            kinetic = kinetic + 0.5d0*mass(i)*dot_product(v(:, i), v(:, i))
            do j = 1, i - 1
                potential = potential - mass(i)*mass(j)/norm2(x(:, i) - x(:, j))
            end do
        end do
    end subroutine

    subroutine expect(status, wanted, words, what)
        integer, intent(in) :: status, wanted
        character(*), intent(in) :: words, what
        character(:), allocatable :: message
        message = nb6_message(cluster)
        call check(status == wanted .and. index(message, words) > 0, what//': '//message)
    end subroutine

    subroutine succeed(status, what)
        integer, intent(in) :: status
        character(*), intent(in) :: what
        if (status == NB6_OK) call check(.true., what)
        if (status /= NB6_OK) call check(.false., what//': '//nb6_message(cluster))
    end subroutine

    subroutine check_progress(which, count, time, what)
        type(nb6_cluster), intent(in) :: which
        integer, intent(in) :: count
        real(real64), intent(in) :: time
        character(*), intent(in) :: what
        call check(nb6_count(which) == count, what//': stars')
        call check(abs(nb6_time(which) - time) <= 0, what//': time')
    end subroutine

    subroutine without_stars
        real(real64) :: none(0)
        call expect(nb6_evolve(cluster, 1d0), NB6_BAD_STATE, 'nb6_create', 'not created')
        call succeed(nb6_create(cluster), 'create')
        call expect(nb6_evolve(cluster, 1d0), NB6_BAD_STATE, 'nb6_set_bodies', 'evolve without stars')
        call expect(nb6_get_bodies(cluster, mass=none), NB6_BAD_STATE, 'nb6_set_bodies', 'get without stars')
        call check(nb6_count(cluster) == 0, 'no stars')
        call succeed(nb6_set(cluster, 'ETAI', '0.01'), 'set ETAI')
        call succeed(nb6_set(cluster, 'ETAR', '0.01  '), 'set ETAR')
        call succeed(nb6_set(cluster, 'QE', '1.0'), 'set QE')
        call expect(nb6_set(cluster, 'NOTHING', '1'), NB6_BAD_INPUT, 'NOTHING', 'unknown variable')
        call expect(nb6_set(cluster, 'ETAI', 'much'), NB6_BAD_INPUT, 'ETAI', 'text for a number')
        call expect(nb6_restore(cluster, path//'.missing'), NB6_FILE, 'missing', 'no such checkpoint')
    end subroutine

    subroutine refused_stars
        real(real64) :: kept(3)
        call expect(nb6_set_bodies(cluster, mass(1:n - 1), x, v), NB6_BAD_ARGUMENT, 'x(3,59)', 'sizes differ')
        call expect(nb6_set_bodies(cluster, mass, x, v, names(2:)), NB6_BAD_ARGUMENT, 'name(60)', 'names differ')
        kept = x(:, 7)
        x(:, 7) = x(:, 9)
        call expect(nb6_set_bodies(cluster, mass, x, v), NB6_BAD_INPUT, 'same place', 'two stars at one place')
        x(2, 7) = ieee_value(x(2, 7), ieee_quiet_nan)
        call expect(nb6_set_bodies(cluster, mass, x, v), NB6_NON_FINITE, 'star 7', 'NaN')
        x(:, 7) = kept
    end subroutine

    ! The potential of the library is good to 1e-10.
    subroutine stars_and_energy
        type(nb6_energy) :: e
        real(real64) :: kinetic, potential, m(n), y(3, n), w(3, n)
        integer(int64) :: id(n)
        call succeed(nb6_set_bodies(cluster, mass, x, v, names), 'set bodies after the failures')
        call check_progress(cluster, n, 0d0, 'count and time')
        call expect(nb6_set(cluster, 'ETAI', '0.01'), NB6_BAD_STATE, 'already', 'set after the stars')
        call expect(nb6_set_bodies(cluster, mass, x, v), NB6_BAD_STATE, 'already', 'stars twice')
        call succeed(nb6_get_bodies(cluster, m, y, w, id), 'get bodies')
        call check(same(m, mass) .and. same([y], [x]) .and. same([w], [v]) .and. all(id == names), 'as they were set')
        call expect(nb6_get_bodies(cluster, mass=m(2:)), NB6_BAD_ARGUMENT, 'mass(60)', 'arrays too small')
        call succeed(nb6_get_energy(cluster, e), 'energy')
        call energies(kinetic, potential)
        call check(abs(e%kinetic - kinetic) < 1d-12 .and. abs(e%potential - potential) < 1d-10*abs(potential), &
                   'energies of a double sum')
        call check(abs(e%total - e%kinetic - e%potential) < 1d-15 .and. abs(e%tidal) <= 0 .and. &
                   abs(e%mass - sum(mass)) < 1d-14, 'total energy and mass')
        call check(maxval(abs(e%centre_x - matmul(x, mass)/sum(mass))) < 1d-14 .and. &
                   maxval(abs(e%centre_v - matmul(v, mass)/sum(mass))) < 1d-14, 'centre of mass')
    end subroutine

    logical function same(a, b)
        real(real64), intent(in) :: a(:), b(:)
        same = all(abs(a - b) <= 0)
    end function

    ! Stars of a model, then others beside them, and some of these taken out again.
    subroutine model_and_changes
        type(nb6_cluster) :: made
        integer(int64) :: id(42)
        real(real64) :: m(42)
        call check(nb6_create(made) == NB6_OK, 'a cluster for a model')
        call check(nb6_set(made, 'N', '40') == NB6_OK, 'its number of stars')
        call check(nb6_make_model(made) == NB6_OK, 'model '//nb6_message(made))
        call check(nb6_count(made) == 40, 'its stars')
        call check(nb6_make_model(made) == NB6_BAD_STATE, 'a model where stars are')
        call check(nb6_evolve(made, 0.1d0) == NB6_OK, 'evolve the model')
        call check(same([nb6_time_of_change(0.1d0)], [1639d0/16384]), 'a time at which stars cost least')
        call check(nb6_add_bodies(made, mass(:2), x(:, :3), v(:, :2)) == NB6_BAD_ARGUMENT, 'shapes of new stars')
        call check(nb6_add_bodies(made, mass(:2), x(:, :2), v(:, :2)) == NB6_OK, 'add stars '//nb6_message(made))
        call check(nb6_get_bodies(made, mass=m, name=id) == NB6_OK, 'the stars with those')
        call check(all(id(41:) == [41_int64, 42_int64]) .and. same(m(41:), mass(:2)), 'names and masses that came')
        call check(nb6_remove_bodies(made, id(40:41)) == NB6_OK, 'remove stars')
        call check(nb6_count(made) == 40, 'stars that are left')
        call check(nb6_remove_bodies(made, id(40:41)) == NB6_BAD_INPUT, 'who has gone')
        call check(nb6_evolve(made, 0.25d0) == NB6_OK, 'evolve with the others')
        call change_masses(made)
        call nb6_free(made)
    end subroutine

    ! Slowly, and suddenly with a kick; the field of all stars, summed here as well.
    subroutine change_masses(made)
        type(nb6_cluster), intent(inout) :: made
        integer(int64) :: id(40)
        real(real64) :: m(40), y(3, 40), w(3, 40), potential(2), acc(3, 2), galaxy(2), points(3, 2), far(40)
        integer :: k
        call check(nb6_get_bodies(made, mass=m, v=w, name=id) == NB6_OK, 'stars before a change of masses')
        m(1:2) = 0.5d0*m(1:2)
        w(:, 2) = 0.1d0
        call check(nb6_set_masses(made, id(1:1), m(1:1), sudden=.false.) == NB6_OK, 'a wind '//nb6_message(made))
        call check(nb6_set_masses(made, id(2:2), m(2:2), sudden=.true., v=w(:, 2:2)) == NB6_OK, &
                   'a kick '//nb6_message(made))
        call check(nb6_set_masses(made, id(1:2), m(1:2), sudden=.false., v=w(:, 1:2)) == NB6_BAD_ARGUMENT, &
                   'a slow kick')
        call check(nb6_set_masses(made, id(1:2), m(1:3), sudden=.true.) == NB6_BAD_ARGUMENT, 'shapes of masses')
        call check(nb6_set_masses(made, id(1:1), [-1d0], sudden=.true.) == NB6_BAD_INPUT, 'a negative mass')
        points = reshape([0.1d0, 0.2d0, 0.3d0, 3d0, 0d0, 0d0], [3, 2])
        call check(nb6_get_field(made, points, potential, acc, galaxy) == NB6_OK, 'the field '//nb6_message(made))
        call check(nb6_get_field(made, points, potential(1:1)) == NB6_BAD_ARGUMENT, 'shapes of the field')
        call check(nb6_get_bodies(made, mass=far, x=y, v=w) == NB6_OK, 'stars after it')
        call check(same(far, m) .and. same(w(:, 2), [0.1d0, 0.1d0, 0.1d0]), 'masses and a velocity as set')
        do k = 1, 2
            far = sqrt((y(1, :) - points(1, k))**2 + (y(2, :) - points(2, k))**2 + (y(3, :) - points(3, k))**2)
            call check(abs(potential(k) + sum(m/far)) < 1d-12, 'the potential of all stars')
            call check(all(abs(acc(:, k) - matmul(y - spread(points(:, k), 2, 40), m/far**3)) < 1d-12), 'their force')
        end do
        call check(same(galaxy, [0d0, 0d0]), 'no galaxy')
        call check(nb6_evolve(made, 0.3d0) == NB6_OK, 'evolve with other masses')
    end subroutine

    ! Binaries and triples of the model are regularized from the start, the inner pairs of triples frozen. Their stars
    ! are a part of the angular momentum: binaries of a = 0.02 have some 0.01 to 0.1 of it, and the places of their
    ! stars are known to 1e-12 of that.
    subroutine momentum_of_all_stars
        type(nb6_cluster) :: made
        type(nb6_energy) :: e
        real(real64), allocatable :: m(:), y(:, :), w(:, :)
        real(real64) :: term(3), all(3), sizes
        integer :: i, k, stars
        call check(nb6_create(made) == NB6_OK, 'a cluster with binaries')
        call set_all(made, [character(8) :: 'N', 'NRAND', 'NBIN0', 'NHI0', 'KZ(8)', 'KZ(18)', 'SEMI0', 'RANGE', 'QE'], &
                     [character(8) :: '24', '5', '12', '2', '1', '2', '0.02', '1', '1'])
        call check(nb6_make_model(made) == NB6_OK, 'a model with binaries '//nb6_message(made))
        do k = 0, 2
            call check(nb6_evolve(made, 0.125d0*k) == NB6_OK, 'evolve binaries '//nb6_message(made))
            call check(nb6_get_energy(made, e) == NB6_OK, 'their energy')
            stars = int(nb6_count(made))
            call check(stars > 24, 'their stars')
            allocate (m(stars), y(3, stars), w(3, stars))
            call check(nb6_get_bodies(made, mass=m, x=y, v=w) == NB6_OK, 'their places')
            all = 0
            sizes = 0
            do i = 1, stars
                term = m(i)*[y(2, i)*w(3, i) - y(3, i)*w(2, i), y(3, i)*w(1, i) - y(1, i)*w(3, i), &
                             y(1, i)*w(2, i) - y(2, i)*w(1, i)]
                all = all + term
                sizes = sizes + norm2(term)
            end do
            call check(maxval(abs(e%angular_momentum - all)) < 1d-10*sizes, 'angular momentum of all stars')
            deallocate (m, y, w)
        end do
        call nb6_free(made)
    end subroutine

    subroutine set_all(which, names, values)
        type(nb6_cluster), intent(inout) :: which
        character(*), intent(in) :: names(:), values(:)
        integer :: i
        do i = 1, size(names)
            call check(nb6_set(which, trim(names(i)), trim(values(i))) == NB6_OK, 'set '//trim(names(i)))
        end do
    end subroutine

    subroutine evolve_and_resume
        type(nb6_energy) :: before, after
        real(real64) :: y(3, n), w(3, n), y2(3, n), w2(3, n)
        integer :: unit
        call succeed(nb6_get_energy(cluster, before), 'energy at the start')
        call succeed(nb6_evolve(cluster, 0.375d0), 'evolve')
        call check_progress(cluster, n, 0.375d0, 'time reached')
        call check(.not. nb6_stopped(cluster), 'nobody asked for an early end')
        call expect(nb6_evolve(cluster, 0.25d0), NB6_BAD_ARGUMENT, 'before', 'evolve backwards')
        call succeed(nb6_checkpoint(cluster, path), 'checkpoint')
        call succeed(nb6_create(other), 'create another')
        call check(nb6_restore(other, path) == NB6_OK, 'restore '//nb6_message(other))
        call check_progress(other, n, 0.375d0, 'restored count and time')
        call succeed(nb6_evolve(cluster, 0.75d0), 'evolve on')
        call check(nb6_evolve(other, 0.75d0) == NB6_OK, 'evolve the restored one')
        call succeed(nb6_get_bodies(cluster, x=y, v=w), 'get positions and velocities only')
        call check(nb6_get_bodies(other, x=y2, v=w2) == NB6_OK, 'get those of the restored one')
        call check(same([y], [y2]) .and. same([w], [w2]), 'the restored one continues bit for bit')
        call check(.not. same([y], [x]), 'the stars have moved')
        call succeed(nb6_get_energy(cluster, after), 'energy at the end')
        ! Hermite with eta = 0.01 loses 1e-6 in a run of ten times the length (N = 1024)
        call check(abs(after%total - before%total) < 1d-5*abs(before%total), 'energy is conserved')
        open (newunit=unit, file=path)
        close (unit, status='delete')
    end subroutine

    ! Copies are one cluster: after one of them is freed the others are refused, also when new clusters have come.
    subroutine copies
        type(nb6_cluster) :: first, second, fresh
        call check(nb6_create(first) == NB6_OK, 'a cluster to be copied')
        call check(nb6_set(first, 'N', '20') == NB6_OK, 'its number of stars')
        call check(nb6_make_model(first) == NB6_OK, 'its stars')
        second = first
        call check(nb6_count(second) == 20, 'a copy has its stars')
        call nb6_free(first)
        call check(nb6_create(fresh) == NB6_OK, 'another one')
        call check(nb6_set(fresh, 'N', '30') == NB6_OK, 'its number of stars')
        call check(nb6_make_model(fresh) == NB6_OK, 'its stars, perhaps at the same place')
        call check_progress(second, 0, 0d0, 'nothing is left of the copy')
        call check(nb6_evolve(second, 1d0) == NB6_BAD_STATE, 'evolve what was freed')
        call check(index(nb6_message(second), 'freed') > 0, 'and why not')
        call check(nb6_set(second, 'N', '20') == NB6_BAD_STATE, 'set what was freed')
        call check(nb6_make_model(second) == NB6_BAD_STATE, 'a model for what was freed')
        call check(nb6_set_bodies(second, mass, x, v) == NB6_BAD_STATE, 'stars for what was freed')
        call check(nb6_checkpoint(second, path) == NB6_BAD_STATE, 'a checkpoint of what was freed')
        call check(.not. nb6_stopped(second), 'nothing has stopped')
        call nb6_free(second)
        call check(nb6_count(fresh) == 30, 'freed twice, the other one stays')
        call nb6_free(fresh)
    end subroutine
end program nbody6_module
