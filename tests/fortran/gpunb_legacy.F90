! The legacy regular-force calls, made as the legacy integrators make them: compiled once for each dialect, with
! -DDIALECT_NA12, -DDIALECT_NBODY6 or -DDIALECT_NBODY6PP, and checked against double sums in Fortran.
! Prints one line for each check (TAP) and stops with 1 if any failed.
#include "../../gpunb/fortran/gpunb_legacy.f90"

module checks
    implicit none
    integer, parameter :: mark = -77777   ! where nothing may be written
    integer :: done = 0, failed = 0
contains
    elemental logical function same(a, b)
        double precision, intent(in) :: a, b
        same = abs(a - b) <= 0
    end function

    elemental logical function kept(a)
        double precision, intent(in) :: a
        kept = same(a, dble(mark))
    end function

    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        done = done + 1
        if (.not. ok) failed = failed + 1
        print '(a,i0,2a)', merge('    ok ', 'not ok ', ok), done, ' - ', what
    end subroutine
end module checks

! Bodies as NBODY6 keeps them: arrays from body 1, of which IFIRST..NTOT enter the library.
module cluster
    implicit none
    integer, parameter :: nmax = 4000, ntot = 3001, ifirst = 5, nimax = 2048, lmax = 160
    double precision, save :: body(nmax), x(3, nmax), xdot(3, nmax), rs(nmax), stepr(nmax), bodym
contains
    ! A Plummer-like sphere with masses over a factor of 1000 and a few ghosts without mass.
    subroutine make_cluster
        integer :: i, k, seed_size
        double precision :: u(6), r, c, p
        integer, allocatable :: seed(:)
        call random_seed(size=seed_size)
        allocate (seed(seed_size))
        seed = 20240501
        call random_seed(put=seed)
        do i = 1, ntot
            call random_number(u)
            r = 0.6d0/sqrt(max(u(1), 1d-4)**(-2d0/3d0)*1.02d0 - 1d0)
            c = 2*u(2) - 1
            p = 6.283185307179586d0*u(3)
            x(:, i) = r*[sqrt(1 - c*c)*cos(p), sqrt(1 - c*c)*sin(p), c]
            do k = 1, 3
                xdot(k, i) = u(3 + k) - 0.5d0
            end do
            body(i) = 10d0**(-3*u(6))
            if (mod(i, 500) == 0) body(i) = 0
            rs(i) = 0.2d0*sqrt(1 + r*r)
            stepr(i) = 2d0**(-5 - mod(i, 4))
        end do
        bodym = sum(body(ifirst:ntot))/(ntot - ifirst + 1)
    end subroutine

    ! Regular force on body i by the definition. weight: 1 if the neighbour test has m_j. near: a body so close to the edge
    ! of the sphere that float arithmetic may decide otherwise.
    subroutine direct(i, h2, weight, f, fd, pot, nnb, list, near, fscale, fdscale)
        integer, intent(in) :: i, weight
        double precision, intent(in) :: h2
        double precision, intent(out) :: f(3), fd(3), pot, fscale, fdscale
        integer, intent(out) :: nnb, list(ntot)
        logical, intent(out) :: near
        double precision :: dx(3), dv(3), r2, rmin2, limit
        integer :: j
        f = 0
        fd = 0
        pot = 0
        nnb = 0
        near = .false.
        fscale = 0
        fdscale = 0
        do j = ifirst, ntot
            dx = x(:, j) - x(:, i)
            dv = xdot(:, j) - xdot(:, i)
            r2 = dot_product(dx, dx)
            rmin2 = min(r2, sum((dx + stepr(i)*dv)**2))
            limit = h2
            if (weight == 1) limit = body(j)*h2
            if (abs(rmin2 - limit) < 1d-5*(limit + r2) .and. j /= i) near = .true.
            if (rmin2 < limit) then
                nnb = nnb + 1
                list(nnb) = j - ifirst
            else if (r2 > 0) then
                f = f + body(j)*dx/(r2*sqrt(r2))
                fd = fd + body(j)*(dv - 3*dot_product(dx, dv)*dx/r2)/(r2*sqrt(r2))
                pot = pot + body(j)/sqrt(r2)
                fscale = fscale + body(j)/r2
                fdscale = fdscale + 4*body(j)*sqrt(dot_product(dv, dv))/(r2*sqrt(r2))
            end if
        end do
    end subroutine
end module cluster

program gpunb_legacy_test
    use checks
    use cluster
#ifdef DIALECT_NBODY6PP
    use gpunb_legacy_pp
#else
    use gpunb_legacy
#endif
    implicit none
    integer :: weight
    character(20) :: fault
    call make_cluster
    call get_command_argument(1, fault)
    if (fault /= '') call commit(trim(fault))
#ifdef DIALECT_NBODY6PP
    call gpunb_devinit(0)
    call test_potential
    do weight = 0, 1
        call make_cluster
        call test_blocks(weight, again=.false.)
        call test_blocks(weight, again=.true.)
    end do
#else
    weight = 0
#ifdef DIALECT_NBODY6
    weight = 1
#endif
    call test_potential          ! before the library is open, as at time zero
    call test_blocks(weight, again=.false.)
    call test_blocks(weight, again=.true.)
    call test_predictor
    call test_cnbint
    call test_clock
#endif
    call test_room
    call test_stops
    print '(a,i0)', '1..', done
    if (failed > 0) stop 1

contains

    ! Each fault ends the program with a message on standard error: tried in a process of its own.
    subroutine test_stops
        character(*), parameter :: faults(8) = [character(20) :: 'closed', 'negative', 'nan-source', 'nan-target', 'unsent', &
            'nan-potential', 'nan-sphere', 'too-far']
        character(*), parameter :: words(8) = [character(40) :: 'gpunb_send: the library is not open', 'ni = -1', &
            'x\[1\] of source 4 ', 'v_i\[2\] of target 0 ', 'call gpunb_send first', 'mass of body 2 ', 'r_nb2 of target 6 ', &
            'x\[0\] of source 0 ']
        character(1000) :: self
        integer :: k, stopped, said
        call get_command_argument(0, self)
        do k = 1, size(faults)
            call execute_command_line(trim(self)//' '//trim(faults(k))//' > /dev/null 2>&1', exitstat=stopped)
            ! One line beside the one at open.
            call execute_command_line('test "`NBC_QUIET=1 '//trim(self)//' '//trim(faults(k))//" 2>&1 >/dev/null | " &
                //"sed -n '1s/.*"//trim(words(k))//".*/said/p;2s/.*/more/p'`"//'" = said', exitstat=said)
            call check(stopped /= 0 .and. stopped < 99, 'stops: '//trim(faults(k)))
            call check(said == 0, 'the message is one line and has: '//trim(words(k)))
        end do
    end subroutine

    ! Commit a fault; ends with 99 if the library goes on.
    subroutine commit(fault)
        use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
        character(*), intent(in) :: fault
        double precision :: h2(20), dtr(20), acc(3, 20), jrk(3, 20), pot(20), nan
        integer :: list(lmax, 20), ni
        nan = ieee_value(0d0, ieee_quiet_nan)
        h2 = 1
        dtr = 0
        ni = 20
        if (fault == 'nan-potential') then
            body(3) = nan
#ifdef DIALECT_NBODY6PP
            call gpupot(0, 1, 20, 20, body, x, pot)
#else
            call gpupot(20, body, x, pot)
#endif
        end if
        if (fault /= 'closed') then
#ifdef DIALECT_NBODY6PP
            call gpunb_open(20, 0)
#else
            call gpunb_open(20)
#endif
        end if
        if (fault == 'nan-source') x(2, 5) = nan
        if (fault == 'too-far') x(1, 1) = 1d16
        if (fault == 'nan-sphere') h2(7) = nan
        if (fault /= 'unsent') call gpunb_send(20, body, x, xdot)
        if (fault == 'nan-target') xdot(3, 1) = nan
        if (fault == 'negative') ni = -1
        call call_regf(ni, h2, dtr, x, xdot, acc, jrk, pot, 100, list, 0)
        call exit(99)
    end subroutine

    ! As many sources as there are when more pairs have formed than the program had foreseen, and more when it opens the
    ! library again.
    subroutine test_room
        integer, parameter :: ni = 40, room(3) = [10, 300, 3]
        double precision :: h2(ni), dtr(ni), acc(3, ni), jrk(3, ni), pot(ni), f(3, ni), fd(3, ni), p(ni)
        integer, allocatable :: list(:, :)
        integer :: k
        allocate (list(lmax, ni))
        h2 = 0
        dtr = 0
        call open_library
        call gpunb_send(2000, body(ifirst), x(1, ifirst), xdot(1, ifirst))
        call call_regf(ni, h2, dtr, x(1, ifirst), xdot(1, ifirst), f, fd, p, 100, list, 0)
        call gpunb_close
        do k = 1, size(room)
#ifdef DIALECT_NBODY6PP
            call gpunb_open(room(k), 0)
#else
            call gpunb_open(room(k))
#endif
            if (k == 3) call open_library
            call gpunb_send(2000, body(ifirst), x(1, ifirst), xdot(1, ifirst))
            call call_regf(ni, h2, dtr, x(1, ifirst), xdot(1, ifirst), acc, jrk, pot, 100, list, 0)
            call check(all(same(acc, f)) .and. all(same(jrk, fd)) .and. all(same(pot, p)), 'more sources than room')
            call gpunb_close
        end do
    end subroutine

    subroutine open_library
#ifdef DIALECT_NBODY6PP
        call gpunb_open(ntot + 100, 0)
#else
        call gpunb_open(ntot + 100)
#endif
    end subroutine

    subroutine call_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, nbmax, list, weight)
        integer, intent(in) :: ni, nbmax, weight
        double precision, intent(in) :: h2(*), dtr(*), xi(3, *), vi(3, *)
        double precision, intent(inout) :: acc(3, *), jrk(3, *), pot(*)
        integer, intent(inout) :: list(lmax, *)
#ifdef DIALECT_NBODY6PP
        call gpunb_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nbmax, list, weight)
#else
        if (weight < 0) return
        call gpunb_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nbmax, list)
#endif
    end subroutine

    ! All bodies in blocks of up to 2048 targets, of which the last is odd; a block with overflows is repeated with smaller
    ! spheres until there are none.
    subroutine test_blocks(weight, again)
        integer, intent(in) :: weight
        logical, intent(in) :: again
        integer, parameter :: nbmax = 100
        double precision :: h2(nimax + 1), dtr(nimax + 1), xi(3, nimax + 1), vi(3, nimax + 1)
        double precision :: acc(3, nimax + 1), jrk(3, nimax + 1), pot(nimax + 1)
        integer, allocatable :: list(:, :)
        integer :: first, ni, l, i, retries
        logical :: marked, untouched, overflowed
        allocate (list(lmax, nimax + 1))
        marked = .true.
        untouched = .true.
        overflowed = .false.
        call open_library
        call open_library
        call gpunb_send(ntot - ifirst + 1, body(ifirst), x(1, ifirst), xdot(1, ifirst))
        do first = ifirst, ntot, nimax
            ni = min(nimax, ntot - first + 1)
            do retries = 0, 200
                list = mark
                acc = mark
                jrk = mark
                pot = mark
                do l = 1, ni
                    i = first + l - 1
                    h2(l) = rs(i)**2
                    if (weight == 1) h2(l) = h2(l)/bodym
                    dtr(l) = stepr(i)
                    xi(:, l) = x(:, i)
                    vi(:, l) = xdot(:, i)
                end do
                call call_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, nbmax, list, weight)
                if (any(list(nbmax + 2:, :ni) /= mark) .or. any(list(:, ni + 1:) /= mark)) untouched = .false.
                if (.not. (all(kept(acc(:, ni + 1:))) .and. all(kept(jrk(:, ni + 1:))) .and. all(kept(pot(ni + 1:))))) &
                    untouched = .false.
                if (all(list(1, :ni) >= 0)) exit
                do l = 1, ni
                    if (list(1, l) >= 0) cycle
                    overflowed = .true.
#ifdef DIALECT_NBODY6PP
                    if (list(1, l) >= -nbmax) marked = .false.
#else
                    if (list(1, l) /= -1) marked = .false.
#endif
                    rs(first + l - 1) = 0.9d0*rs(first + l - 1)
                end do
            end do
            call compare_block(weight, first, ni, h2, acc, jrk, pot, list)
        end do
#ifdef DIALECT_NBODY6PP
        call gpunb_profile(0)
#endif
        call gpunb_close
        call check(untouched, 'nothing past ni targets and nbmax neighbours is written')
        call check(marked, 'overflows are reported as this dialect does')
        call check(overflowed .neqv. again, 'lists overflow in the first pass, whose smaller spheres fit the second')
    end subroutine

    ! Tolerances: of the sums of the magnitudes of the pair forces, which float arithmetic with two-float differences keeps to
    ! 3e-7 (acceleration, potential) and, velocities being rounded to float, 1e-5 (jerk).
    subroutine compare_block(weight, first, ni, h2, acc, jrk, pot, list)
        integer, intent(in) :: weight, first, ni, list(lmax, *)
        double precision, intent(in) :: h2(*), acc(3, *), jrk(3, *), pot(*)
        double precision :: f(3), fd(3), p, fscale, fdscale, worst(3)
        integer :: l, nnb, wrong, skipped
        integer, allocatable :: expected(:)
        logical :: near
        character(60) :: text
        allocate (expected(ntot))
        worst = 0
        wrong = 0
        skipped = 0
        do l = 1, ni
            call direct(first + l - 1, h2(l), weight, f, fd, p, nnb, expected, near, fscale, fdscale)
            if (near) then
                skipped = skipped + 1
                cycle
            end if
            if (list(1, l) /= nnb) then
                wrong = wrong + 1
            else if (any(list(2:nnb + 1, l) /= expected(:nnb))) then
                wrong = wrong + 1
            end if
            worst(1) = max(worst(1), norm2(acc(:, l) - f)/fscale)
            worst(2) = max(worst(2), norm2(jrk(:, l) - fd)/fdscale)
            worst(3) = max(worst(3), abs(pot(l) - p)/p)
        end do
        write (text, '(a,i0,a,i0)') ' of targets ', first, ' to ', first + ni - 1
        call check(wrong == 0, 'neighbour lists'//trim(text)//' are the expected ones, ascending, with the target')
        call check(skipped < ni/4, 'few lists'//trim(text)//' depend on rounding')
        call check(worst(1) < 3d-7, 'accelerations'//trim(text))
        call check(worst(2) < 1d-5, 'derivatives'//trim(text))
        call check(worst(3) < 1d-6, 'potentials of the far part'//trim(text))
    end subroutine

    ! Positive sign; 1e-10 is what the energy check of the legacy codes needs (1e-8) with room to spare.
    subroutine test_potential
        double precision, allocatable :: pot(:)
        double precision :: p, dx(3), worst
        integer :: n, i, j
        allocate (pot(nmax))
        n = ntot - ifirst + 1
        pot = mark
#ifdef DIALECT_NBODY6PP
        call gpupot(0, 101, n - 200, n, body(ifirst), x(1, ifirst), pot(101))
        call check(all(kept(pot(:100))), 'gpupot: nothing before the bodies asked for')
        call check(all(kept(pot(n - 99:))), 'gpupot: nothing after the bodies asked for')
#else
        call gpupot(n, body(ifirst), x(1, ifirst), pot)
        call check(all(kept(pot(n + 1:))), 'gpupot: nothing after the bodies asked for')
#endif
        worst = 0
        do i = 101, n - 100, 7
            p = 0
            do j = 1, n
                if (j == i) cycle
                dx = x(:, ifirst + j - 1) - x(:, ifirst + i - 1)
                p = p + body(ifirst + j - 1)/norm2(dx)
            end do
            worst = max(worst, abs(pot(i) - p)/p)
        end do
        call check(worst < 1d-10, 'gpupot: potentials are +sum m/r within 1e-10')
    end subroutine

#ifndef DIALECT_NBODY6PP
    ! Bodies 5 to 100 to time 1.25, apart from those that are there already; nothing else is touched.
    subroutine test_predictor
        double precision :: t0(101), x0(3, 101), x0dot(3, 101), f(3, 101), fdot(3, 101), xp(3, 101), vp(3, 101), tp(101), s
        double precision :: worst, xe(3), ve(3)
        integer :: j
        call random_number(t0)
        call random_number(x0)
        call random_number(x0dot)
        call random_number(f)
        call random_number(fdot)
        xp = mark
        vp = mark
        tp = 0
        tp(9) = 1.25d0
        call cxvpred(5, 100, 1.25d0, t0, x0, x0dot, f, fdot, xp, vp, tp)
        call check(all(kept(xp(:, :4))) .and. all(kept(xp(:, 101))) .and. all(kept(xp(:, 9))), &
            'cxvpred: only bodies js..je that are not there yet')
        worst = 0
        do j = 5, 100
            if (j == 9) cycle
            s = 1.25d0 - t0(j)
            xe = x0(:, j) + x0dot(:, j)*s + f(:, j)*s**2 + fdot(:, j)*s**3
            ve = x0dot(:, j) + 2*f(:, j)*s + 3*fdot(:, j)*s**2
            worst = max(worst, norm2(xp(:, j) - xe) + norm2(vp(:, j) - ve))
        end do
        ! Sums of four terms of order one in double.
        call check(worst < 1d-14, 'cxvpred: positions and velocities')
        call check(all(same(tp(5:100), 1.25d0)) .and. same(tp(4), 0d0) .and. same(tp(101), 0d0), 'cxvpred: times of prediction')
    end subroutine

    ! The count given is that of the list position of the last perturber: one more than there are.
    subroutine test_cnbint
        integer :: list(200), k, nnb
        double precision :: f(3), fd(3), fe(3), fde(3), dx(3), dv(3), r2
        fe = 0
        fde = 0
        nnb = 0
        do k = 10, 500, 5
            nnb = nnb + 1
            list(nnb) = k
            dx = x(:, k) - x(:, 2)
            dv = xdot(:, k) - xdot(:, 2)
            r2 = dot_product(dx, dx)
            fe = fe + body(k)*dx/(r2*sqrt(r2))
            fde = fde + body(k)*(dv - 3*dot_product(dx, dv)*dx/r2)/(r2*sqrt(r2))
        end do
        list(nnb + 1) = -1      ! not to be read
        f = mark
        fd = mark
        call cnbint(2, x, xdot, body, nnb + 1, list, f, fd)
        ! A hundred additions in double.
        call check(norm2(f - fe) < 1d-12*norm2(fe), 'cnbint: force')
        call check(norm2(fd - fde) < 1d-12*norm2(fde), 'cnbint: derivative')
        list(8:nnb + 2) = list(6:nnb)
        list(6:8) = [2, list(8), list(8)]       ! the body itself, and a body twice
        call cnbint(2, x, xdot, body, nnb + 3, list, fe, fde)
        call check(all(same(f, fe)) .and. all(same(fd, fde)), 'cnbint: the body itself and a second entry are left out')
    end subroutine

    subroutine test_clock
        integer :: h, m, s
        double precision :: now
        call wtime(h, m, s)
        now = dbltim()
        call check(h >= 0 .and. m >= 0 .and. m < 60 .and. s >= 0 .and. s < 60, 'wtime: hours, minutes, seconds')
        call check(now >= 0 .and. now >= 3600d0*h + 60d0*m + s, 'dbltim: agrees with wtime')
    end subroutine
#endif
end program gpunb_legacy_test
