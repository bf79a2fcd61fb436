! The legacy irregular-force calls, made as the legacy integrators make them: compiled once for each dialect, with
! -DDIALECT_NBODY6 or -DDIALECT_NBODY6PP, and compared with double sums in Fortran.
! Prints a line for each check (TAP) and stops with 1 if any failed. With an argument: makes the mistake of that name.
#ifdef DIALECT_NBODY6PP
#define LIB_SET_JP irr_simd_set_jp
#define LIB_SET_LIST irr_simd_set_list
#else
#define LIB_SET_JP gpuirr_set_jp
#define LIB_SET_LIST gpuirr_set_list
#endif

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

! Bodies as NBODY6 keeps them: arrays from body 1, of which IFIRST..NTOT enter the library; LIST(1,I) is a count.
module cluster
    implicit none
    integer, parameter :: nmax = 1200, ntot = 901, ifirst = 5, lmax = 121
    double precision, save :: body(nmax), x0(3, nmax), x0dot(3, nmax), f(3, nmax), fdot(3, nmax), t0(nmax)
    integer, save :: list(lmax, nmax)
contains
    subroutine make_cluster
        integer :: i, k, seed_size
        double precision :: u(12)
        integer, allocatable :: seed(:)
        call random_seed(size=seed_size)
        allocate (seed(seed_size))
        seed = [(1234 + 7*k, k=1, seed_size)]
        call random_seed(put=seed)
        do i = ifirst, ntot
            call random_number(u)
            u = 2*u - 1
            x0(:, i) = u(1:3)
            x0dot(:, i) = u(4:6)
            f(:, i) = u(7:9)/2
            fdot(:, i) = u(10:12)/6
            body(i) = (1 + 0.5d0*u(1))/ntot
            t0(i) = mod(i, 8)/64d0
            call make_list(i, mod(7*i, lmax))
        end do
        body(ifirst + 3) = 0    ! a ghost
    end subroutine

    ! nnb ascending numbers around a wandering start; behind them numbers that must not be read.
    subroutine make_list(i, nnb)
        integer, intent(in) :: i, nnb
        integer :: k, j
        list(:, i) = -77777
        list(1, i) = nnb
        j = ifirst - 1 + mod(13*i, 100)
        do k = 1, nnb
            j = j + 1 + mod(i + k*k, 6)
            if (j == i) j = j + 1
            list(k + 1, i) = j
        end do
    end subroutine

    subroutine predict(i, time, x, v)
        integer, intent(in) :: i
        double precision, intent(in) :: time
        double precision, intent(out) :: x(3), v(3)
        double precision :: s
        s = time - t0(i)
        x = x0(:, i) + s*(x0dot(:, i) + s*(f(:, i) + s*fdot(:, i)))
        v = x0dot(:, i) + 2*s*(f(:, i) + 1.5d0*s*fdot(:, i))
    end subroutine

    ! Sums over LIST and the sums of the magnitudes of their terms.
    subroutine direct_sum(i, time, acc, jerk, acc_scale, jerk_scale, nearest)
        integer, intent(in) :: i
        double precision, intent(in) :: time
        double precision, intent(out) :: acc(3), jerk(3), acc_scale, jerk_scale
        integer, intent(out) :: nearest
        double precision :: xi(3), vi(3), dx(3), dv(3), r2, rv, r2_min, m_r3
        integer :: k, j
        acc = 0
        jerk = 0
        acc_scale = 0
        jerk_scale = 0
        nearest = 0
        r2_min = huge(1d0)
        call predict(i, time, xi, vi)
        do k = 2, list(1, i) + 1
            j = list(k, i)
            call predict(j, time, dx, dv)
            dx = dx - xi
            dv = dv - vi
            r2 = dot_product(dx, dx)
            rv = dot_product(dx, dv)
            if (r2 < r2_min) nearest = j
            r2_min = min(r2, r2_min)
            if (r2 <= 0) cycle
            m_r3 = body(j)/(r2*sqrt(r2))
            acc = acc + m_r3*dx
            jerk = jerk + m_r3*(dv - 3*rv/r2*dx)
            acc_scale = acc_scale + body(j)/r2
            jerk_scale = jerk_scale + m_r3*(norm2(dv) + 3*abs(rv)/sqrt(r2))
        end do
    end subroutine
end module cluster

program gpuirr_legacy
    use checks
    use cluster
    implicit none
    character(20) :: mistake
    call get_command_argument(1, mistake)
    call make_cluster
    if (mistake /= '') then
        call make_mistake
        stop    ! not reached: the library ends the program
    end if
    call close_library      ! does nothing
#ifdef DIALECT_NBODY6PP
    call irr_simd_profile(0)    ! the program asks at t = 0
#endif
    call open_library(ntot + 100)
    call store_all
    call all_bodies_at_one_time
    call one_block
    call changed_lists
    call mended_lists
    call ghosts_far_away
    call coincident_pair
    call open_twice
    call close_library
    call close_library      ! does nothing
    call open_library(ntot + 200)
    call store_all
    call all_bodies_at_one_time
    call close_library
    call mistakes_end_the_program
    print '(a,i0)', '1..', done
    if (failed > 0) stop 1
contains
    subroutine open_library(nn)
        integer, intent(in) :: nn
#ifdef DIALECT_NBODY6PP
        call irr_simd_open(nn, lmax, 0)
#else
        call gpuirr_open(nn, lmax)
#endif
    end subroutine

    subroutine close_library
#ifdef DIALECT_NBODY6PP
        call irr_simd_close(0)
#else
        call gpuirr_close
#endif
    end subroutine

    subroutine store_all
        integer :: i
!$omp parallel do
        do i = ifirst, ntot
            call LIB_SET_JP(i, x0(1, i), x0dot(1, i), f(1, i), fdot(1, i), body(i), t0(i))
            call LIB_SET_LIST(i, list(1, i))
        end do
!$omp end parallel do
    end subroutine

    ! Forces of a block; NBODY6 announces the time first, for all bodies or for the block.
    subroutine forces(all, nxtlen, nxtlst, time, gf, gfd, near)
        logical, intent(in) :: all
        integer, intent(in) :: nxtlen, nxtlst(*)
        double precision, intent(in) :: time
        double precision, intent(out) :: gf(3, *), gfd(3, *)
        integer, intent(out) :: near(*)
#ifdef DIALECT_NBODY6PP
        ! The library chooses how to predict.
        if (all .or. nxtlen > 0) call irr_simd_firr_vec(time, nxtlen, nxtlst, gf, gfd, near)
#else
        near(1:nxtlen) = 0
        if (all) call gpuirr_pred_all(ifirst, ntot, time)
        if (.not. all) call gpuirr_pred_act(nxtlen, nxtlst, time)
        call gpuirr_firr_vec(nxtlen, nxtlst, gf, gfd)
#endif
    end subroutine

    ! Forces against double sums. Bounds: two-float positions and float arithmetic, as the legacy libraries promise.
    subroutine compare(nxtlen, nxtlst, time, gf, gfd, near, what)
        integer, intent(in) :: nxtlen, nxtlst(:), near(:)
        double precision, intent(in) :: time, gf(:, :), gfd(:, :)
        character(*), intent(in) :: what
        double precision :: acc(3), jerk(3), acc_scale, jerk_scale, worst_acc, worst_jerk
        integer :: l, nearest
        logical :: right
        worst_acc = 0
        worst_jerk = 0
        right = .true.
        do l = 1, nxtlen
            call direct_sum(nxtlst(l), time, acc, jerk, acc_scale, jerk_scale, nearest)
            worst_acc = max(worst_acc, maxval(abs(gf(:, l) - acc))/max(acc_scale, tiny(1d0)))
            worst_jerk = max(worst_jerk, maxval(abs(gfd(:, l) - jerk))/max(jerk_scale, tiny(1d0)))
            right = right .and. all(abs(gf(:, l)) < huge(1d0)) .and. all(abs(gfd(:, l)) < huge(1d0))
#ifdef DIALECT_NBODY6PP
            right = right .and. near(l) == nearest
#endif
        end do
        call check(worst_acc < 2d-6, what//': acceleration')
        call check(worst_jerk < 1d-5, what//': jerk')
        call check(right .and. size(near) >= nxtlen, what//': finite, nearest neighbours')
    end subroutine

    subroutine all_bodies_at_one_time
        integer :: nxtlst(ntot), near(ntot), i, n
        double precision :: gf(3, ntot), gfd(3, ntot), again(3, ntot), againd(3, ntot), time
        n = ntot - ifirst + 1
        nxtlst(1:n) = [(i, i=ifirst, ntot)]
        time = 0.25d0
        call forces(.true., n, nxtlst, time, gf, gfd, near)
        call compare(n, nxtlst, time, gf, gfd, near, 'all bodies')
        call forces(.false., n, nxtlst, time, again, againd, near)
        call check(.not. any(differs(gf(:, 1:n), again(:, 1:n)) .or. differs(gfd(:, 1:n), againd(:, 1:n))), &
                   'both predictions give the same bits')
#ifndef DIALECT_NBODY6PP
        do i = 1, n
            call gpuirr_firr(nxtlst(i), again(1, i), againd(1, i))
        end do
        call check(.not. any(differs(gf(:, 1:n), again(:, 1:n)) .or. differs(gfd(:, 1:n), againd(:, 1:n))), &
                   'one body at a time gives the same bits')
#endif
    end subroutine

    elemental logical function differs(a, b)
        double precision, intent(in) :: a, b
        differs = .not. abs(a - b) <= 0
    end function

    ! A small block: force, corrected bodies go back, next block.
    subroutine one_block
        integer, parameter :: nxtlen = 20
        integer :: nxtlst(nxtlen), near(nxtlen), l, i
        double precision :: gf(3, nxtlen), gfd(3, nxtlen), time
        nxtlst = [(ifirst + 41*l, l=1, nxtlen)]
        time = 0.125d0
        call forces(.false., nxtlen, nxtlst, time, gf, gfd, near)
        call compare(nxtlen, nxtlst, time, gf, gfd, near, 'block')
!$omp parallel do private(i)
        do l = 1, nxtlen
            i = nxtlst(l)
            x0(:, i) = x0(:, i) + 0.125d0*(time - t0(i))
            f(:, i) = gf(:, l)/2
            fdot(:, i) = gfd(:, l)/6
            t0(i) = time
            call LIB_SET_JP(i, x0(1, i), x0dot(1, i), f(1, i), fdot(1, i), body(i), t0(i))
        end do
!$omp end parallel do
        time = 0.140625d0
        call forces(.false., nxtlen, nxtlst, time, gf, gfd, near)
        call compare(nxtlen, nxtlst, time, gf, gfd, near, 'next block')
    end subroutine

    ! The body itself in its list, at each place, and second entries: the forces are those of the list without them.
    subroutine mended_lists
        integer, parameter :: nnb = 40
        integer :: nxtlst(1), near(2), faulty(lmax), place, i
        double precision :: gf(3, 1), gfd(3, 1), again(3, 1), againd(3, 1), time
        i = ifirst + 60
        nxtlst = i
        time = 0.5d0
        call make_list(i, nnb)
        call LIB_SET_LIST(i, list(1, i))
        call forces(.false., 1, nxtlst, time, gf, gfd, near)
        do place = 2, nnb + 2, 19
            faulty(1) = nnb + 2
            faulty(2:place - 1) = list(2:place - 1, i)
            faulty(place) = i
            faulty(place + 1:nnb + 2) = list(place:nnb + 1, i)
            faulty(nnb + 3) = list(place/2 + 1, i)
            call LIB_SET_LIST(i, faulty(1))
            call forces(.false., 1, nxtlst, time, again, againd, near)
            call check(.not. any(differs(gf, again) .or. differs(gfd, againd)), 'a mended list')
        end do
        faulty(1:3) = [2, i, i]
        call LIB_SET_LIST(i, faulty(1))
        call forces(.false., 1, nxtlst, time, gf, gfd, near)
        call check(.not. any(differs(gf, 0d0) .or. differs(gfd, 0d0)), 'a list of nobody but the body itself')
        faulty(1:3) = [2, i + 1, i + 1]
        list(1:2, i) = [1, i + 1]
        call LIB_SET_LIST(i, faulty(1))
        call forces(.false., 1, nxtlst, time, gf, gfd, near)
        call compare(1, nxtlst, time, gf, gfd, near, 'one neighbour named twice')
    end subroutine

    ! Ghosts: no mass, far away, and a time of their last step that never comes; nothing overflows.
    subroutine ghosts_far_away
        integer :: nxtlst(2), near(2), k
        double precision :: gf(3, 2), gfd(3, 2), time
        nxtlst = [ifirst + 70, ifirst + 71]
        time = 0.5d0
        do k = 3, 15, 3
            x0(:, nxtlst(2)) = 10d0**k
            x0dot(:, nxtlst(2)) = 0
            f(:, nxtlst(2)) = 0
            fdot(:, nxtlst(2)) = 0
            t0(nxtlst(2)) = 1d10
            body(nxtlst(2)) = 0
            list(1:3, nxtlst(1)) = [2, nxtlst(2), nxtlst(2) + 1]
            list(1:2, nxtlst(2)) = [1, nxtlst(1)]
            call store_pair(nxtlst)
            call forces(.false., 2, nxtlst, time, gf, gfd, near)
            call compare(2, nxtlst, time, gf, gfd, near, 'a ghost far away')
        end do
    end subroutine

    ! Regular members get new lists: none, full, back again, and in another order.
    subroutine changed_lists
        integer :: nxtlst(2), near(2), stored(lmax), backwards(lmax), k, nnb
        double precision :: gf(3, 2), gfd(3, 2), again(3, 2), againd(3, 2), time
        nxtlst = [ifirst + 10, ifirst + 20]
        time = 0.5d0
        call make_list(nxtlst(1), 0)
        call make_list(nxtlst(2), lmax - 1)
        call LIB_SET_LIST(nxtlst(1), list(1, nxtlst(1)))
        call LIB_SET_LIST(nxtlst(2), list(1, nxtlst(2)))
        gf = 7
        gfd = 7
        call forces(.true., 2, nxtlst, time, gf, gfd, near)
        call compare(2, nxtlst, time, gf, gfd, near, 'new lists')
        call check(.not. any(differs(gf(:, 1), 0d0) .or. differs(gfd(:, 1), 0d0)), 'no neighbours, no force')
#ifdef DIALECT_NBODY6PP
        call check(near(1) == 0, 'no nearest neighbour of none')
        stored = list(:, nxtlst(2))
#else
        stored = -1
        call gpuirr_get_list(nxtlst(2), stored)
        call check(all(stored(1:lmax) == list(1:lmax, nxtlst(2))), 'a list comes back')
#endif
        nnb = stored(1)
        backwards(1) = nnb
        backwards(2:nnb + 1) = [(stored(k), k=nnb + 1, 2, -1)]
        call LIB_SET_LIST(nxtlst(2), backwards(1))
        call forces(.true., 2, nxtlst, time, again, againd, near)
        call check(.not. any(differs(gf, again) .or. differs(gfd, againd)), 'order does not matter')
    end subroutine

    ! Two bodies at one place: the legacy library gives NaN. Then very close: still no NaN, and the right force.
    subroutine coincident_pair
        integer :: nxtlst(2), near(2), k
        double precision :: gf(3, 2), gfd(3, 2), time, apart
        nxtlst = [ifirst + 30, ifirst + 31]
        list(1:2, nxtlst(1)) = [1, nxtlst(2)]
        list(1:2, nxtlst(2)) = [1, nxtlst(1)]
        time = 0.625d0
        t0(nxtlst) = time
        do k = 0, 3
            apart = merge(0d0, 1d-14*100d0**k, k == 0)
            x0(:, nxtlst(1)) = [0.3d0, 0.4d0, 0.5d0]
            x0(:, nxtlst(2)) = x0(:, nxtlst(1)) + apart
            call store_pair(nxtlst)
            call forces(.false., 2, nxtlst, time, gf, gfd, near)
            if (k == 0) call check(.not. any(differs(gf, 0d0) .or. differs(gfd, 0d0)), 'coincident: no force')
            if (k > 0) call compare(2, nxtlst, time, gf, gfd, near, 'close pair')
        end do
    end subroutine

    subroutine store_pair(pair)
        integer, intent(in) :: pair(2)
        integer :: l, i
        do l = 1, 2
            i = pair(l)
            call LIB_SET_JP(i, x0(1, i), x0dot(1, i), f(1, i), fdot(1, i), body(i), t0(i))
            call LIB_SET_LIST(i, list(1, i))
        end do
    end subroutine

    ! Opening what is open keeps what is stored, and makes room. So many pairs may have formed that there are more bodies
    ! than were said.
    subroutine open_twice
        integer :: nxtlst(1), near(1)
        double precision :: gf(3, 1), gfd(3, 1), time
        nxtlst = nmax
        x0(:, nmax) = x0(:, ifirst) + 0.1d0
        time = 0.75d0
        list(1:4, nmax) = [3, ifirst, ifirst + 1, ifirst + 2]
        call LIB_SET_JP(nmax, x0(1, nmax), x0dot(1, nmax), f(1, nmax), fdot(1, nmax), body(nmax), t0(nmax))
        call LIB_SET_LIST(nmax, list(1, nmax))
        call forces(.false., 1, nxtlst, time, gf, gfd, near)
        call compare(1, nxtlst, time, gf, gfd, near, 'a body beyond those that were said')
        call open_library(ntot)
        nxtlst = ifirst + 100
        time = 0.75d0
        call forces(.false., 1, nxtlst, time, gf, gfd, near)
        call compare(1, nxtlst, time, gf, gfd, near, 'opened twice')
        call open_library(5*nmax)
        call LIB_SET_JP(5*nmax, x0(1, ifirst), x0dot(1, ifirst), f(1, ifirst), fdot(1, ifirst), body(ifirst), t0(ifirst))
        nxtlst = ifirst + 100
        time = 0.75d0
        call forces(.false., 1, nxtlst, time, gf, gfd, near)
        call compare(1, nxtlst, time, gf, gfd, near, 'opened with more room')
    end subroutine

    ! The child process of mistakes_end_the_program.
    subroutine make_mistake
        integer :: nxtlst(1), near(1), i
        double precision :: gf(3, 1), gfd(3, 1), zero
        zero = 0
        i = ifirst + 50
        if (mistake /= 'not_open') call open_library(ntot + 100)
        if (mistake /= 'not_open') call store_all
        select case (mistake)
        case ('nan')
            x0(2, i) = zero/zero
            call store_all
        case ('count')
            list(1, i) = lmax
        case ('negative')
            list(1, i) = -3
        case ('zero')
            list(1:3, i) = [2, 0, i + 1]
        case ('beyond')
            list(1:2, i) = [1, 9999]
        end select
        if (mistake /= 'nobody' .and. mistake /= 'not_stored' .and. mistake /= 'not_open') &
            call LIB_SET_LIST(i, list(1, i))
        nxtlst = merge(9998, i, mistake == 'nobody')
        if (mistake == 'not_stored') nxtlst = ntot + 50
        list(1:2, ntot + 50) = [1, ntot + 51]
        if (mistake == 'not_stored') call LIB_SET_LIST(nxtlst(1), list(1, ntot + 50))
        call forces(.false., 1, nxtlst, merge(zero/zero, 0.5d0, mistake == 'nan_time'), gf, gfd, near)
    end subroutine

    ! One line on stderr, beside the one at open, that names the body, and exit code 1.
    subroutine mistakes_end_the_program
        character(20), parameter :: name(9) = [character(20) :: 'nan', 'count', 'negative', 'zero', 'beyond', 'nobody', &
                                               'not_stored', 'not_open', 'nan_time']
        character(40), parameter :: says(9) = [character(40) :: 'body 55: x[1] is ', 'body 55 has 121 neighbours', &
            'body 55 has -3 neighbours', 'body 55: neighbour 0 is no body', 'body 55: neighbour 9999 is no body', &
            'no body 9998', 'the force on body 951', 'is not open', 'the time is ']
        character(4096) :: program, line, second
        integer :: k, code, unit, first_status, second_status
        call get_command_argument(0, program)
        do k = 1, size(name)
            call execute_command_line('NBC_QUIET=1 '//trim(program)//' '//trim(name(k))//' 2> '//trim(program)//'.stderr', &
                exitstat=code)
            open (newunit=unit, file=trim(program)//'.stderr', action='read')
            read (unit, '(a)', iostat=first_status) line
            read (unit, '(a)', iostat=second_status) second
            close (unit, status='delete')
            call check(code == 1 .and. first_status == 0 .and. second_status /= 0, &
                       'mistake '//trim(name(k))//': exit code 1 after one line')
            call check(index(line, trim(says(k))) > 0, trim(line))
        end do
    end subroutine
end program gpuirr_legacy
