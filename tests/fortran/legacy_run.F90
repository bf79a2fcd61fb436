! A program that calls both libraries in the order in which NBODY6 and NBODY6++GPU call them, and sends what these really
! send, faults included, from inside parallel regions. Compiled once for each dialect, with -DDIALECT_NA12,
! -DDIALECT_NBODY6 or -DDIALECT_NBODY6PP; every force is compared with double sums. It is also what the tests of
! linking link (tests/cli/test_legacy.py).
! Prints a line for each check (TAP) and stops with 1 if any failed. With the argument `open` it opens and closes the
! libraries only; with `run` it leaves out what it says of itself on standard error.

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

! Arrays from body 1: components of pairs, from IFIRST on singles, from N+1 to NTOT centres of mass. LIST(1,I) is a count.
module common_block
    implicit none
    integer, parameter :: nmax = 3200, lmax = 170, nimax = 1024, nnbmax = 150
    integer, save :: n, npairs, ifirst, ntot, list(lmax, nmax)
    double precision, save :: body(nmax), x(3, nmax), xdot(3, nmax), x0(3, nmax), x0dot(3, nmax), f(3, nmax), &
        fdot(3, nmax), t0(nmax), tpred(nmax), rs(nmax), stepr(nmax), bodym
contains
    ! A sphere that is denser inside, with two pairs, and a ghost without mass far away.
    subroutine make_cluster
        integer :: i, k, seed_size
        double precision :: u(8), r
        integer, allocatable :: seed(:)
        call random_seed(size=seed_size)
        allocate (seed(seed_size))
        seed = [(4321 + 5*k, k=1, seed_size)]
        call random_seed(put=seed)
        n = 2600
        npairs = 2
        ifirst = 2*npairs + 1
        ntot = n + npairs
        do i = 1, nmax
            call random_number(u)
            r = u(1)/max(norm2(u(2:4) - 0.5d0), 0.1d0)
            x(:, i) = r*(u(2:4) - 0.5d0)
            xdot(:, i) = u(5:7) - 0.5d0
            body(i) = (0.5d0 + u(8))/n
            rs(i) = 0.33d0
            stepr(i) = 2d0**(-6 - mod(i, 3))
        end do
        x(:, 50) = [1d4, 2d4, 3d4]
        xdot(:, 50) = 0
        body(50) = 0
        bodym = 1d0/n
        x0 = x
        x0dot = xdot
        f = 0
        fdot = 0
        t0 = 0
        tpred = -1
        list = 0
    end subroutine

    subroutine predict(i, time, xp, vp)
        integer, intent(in) :: i
        double precision, intent(in) :: time
        double precision, intent(out) :: xp(3), vp(3)
        double precision :: s
        s = time - t0(i)
        xp = x0(:, i) + s*(x0dot(:, i) + s*(f(:, i) + s*fdot(:, i)))
        vp = x0dot(:, i) + 2*s*(f(:, i) + 1.5d0*s*fdot(:, i))
    end subroutine

    ! Force on body i due to one body, and the magnitudes of its terms.
    subroutine add_pair(i, j, time, acc, jerk, scales)
        integer, intent(in) :: i, j
        double precision, intent(in) :: time
        double precision, intent(inout) :: acc(3), jerk(3), scales(2)
        double precision :: xi(3), vi(3), dx(3), dv(3), r2, rv, m_r3
        call predict(i, time, xi, vi)
        call predict(j, time, dx, dv)
        dx = dx - xi
        dv = dv - vi
        r2 = dot_product(dx, dx)
        rv = dot_product(dx, dv)
        m_r3 = body(j)/(r2*sqrt(r2))
        acc = acc + m_r3*dx
        jerk = jerk + m_r3*(dv - 3*rv/r2*dx)
        scales = scales + m_r3*[sqrt(r2), norm2(dv) + 3*abs(rv)/sqrt(r2)]
    end subroutine

    ! The largest differences from sums in double, in units of the sums of the magnitudes, over every `stride`th of the bodies;
    ! not finite counts as huge. all: the force of all bodies; otherwise of those in LIST.
    subroutine differences(nxtlen, nxtlst, stride, all, time, gf, gfd, worst)
        integer, intent(in) :: nxtlen, nxtlst(*), stride
        logical, intent(in) :: all
        double precision, intent(in) :: time, gf(3, *), gfd(3, *)
        double precision, intent(out) :: worst(2)
        double precision :: acc(3), jerk(3), scales(2), off(2)
        integer :: l, k, i
        worst = 0
        do l = 1, nxtlen, stride
            i = nxtlst(l)
            acc = 0
            jerk = 0
            scales = 0
            do k = 2, merge(0, list(1, i), all) + 1
                call add_pair(i, list(k, i), time, acc, jerk, scales)
            end do
            do k = ifirst, merge(ntot, 0, all)
                if (k /= i) call add_pair(i, k, time, acc, jerk, scales)
            end do
            off = [norm2(gf(:, l) - acc), norm2(gfd(:, l) - jerk)]/max(scales, tiny(1d0))
            if (.not. norm2(off) < huge(1d0)) off = huge(1d0)
            worst = max(worst, off)
        end do
    end subroutine
end module common_block

! The calls of the dialect.
module libraries
    use common_block
    implicit none
    integer :: n_itself = 0, n_twice = 0, n_overflows = 0
contains
    subroutine open_libraries
#ifdef DIALECT_NBODY6PP
        call gpunb_open(ntot + 100, 0)
        call irr_simd_open(ntot + 100, lmax, 0)
#else
        call gpunb_open(ntot + 100)
        call gpuirr_open(ntot + 100, lmax)
#endif
    end subroutine

    subroutine close_libraries
        call gpunb_close
#ifdef DIALECT_NBODY6PP
        call irr_simd_close(0)
#else
        call gpuirr_close
#endif
    end subroutine

    subroutine ask_for_profiles
#ifdef DIALECT_NBODY6PP
        call gpunb_profile(0)
        call irr_simd_profile(0)
#endif
    end subroutine

    subroutine set_jp(i)
        integer, intent(in) :: i
#ifdef DIALECT_NBODY6PP
        call irr_simd_set_jp(i, x0(1, i), x0dot(1, i), f(1, i), fdot(1, i), body(i), t0(i))
#else
        call gpuirr_set_jp(i, x0(1, i), x0dot(1, i), f(1, i), fdot(1, i), body(i), t0(i))
#endif
    end subroutine

    subroutine set_list(i, ilist)
        integer, intent(in) :: i, ilist(*)
#ifdef DIALECT_NBODY6PP
        call irr_simd_set_list(i, ilist)
#else
        call gpuirr_set_list(i, ilist)
#endif
    end subroutine

    ! A block of so many; NBODY6 says before whether all are to be predicted.
    subroutine announce(all, nxtlen, nxtlst, time)
        logical, intent(in) :: all
        integer, intent(in) :: nxtlen, nxtlst(*)
        double precision, intent(in) :: time
#ifdef DIALECT_NBODY6PP
        if (all .and. nxtlen + nxtlst(1) + time < 0) stop 2 ! nothing to announce
#else
        if (all) call gpuirr_pred_all(ifirst, ntot, time)
        if (.not. all) call gpuirr_pred_act(nxtlen, nxtlst, time)
#endif
    end subroutine

    subroutine irregular(nxtlen, nxtlst, time, gf, gfd)
        integer, intent(in) :: nxtlen, nxtlst(*)
        double precision, intent(in) :: time
        double precision, intent(out) :: gf(3, *), gfd(3, *)
#ifdef DIALECT_NBODY6PP
        integer :: nearest(nmax)
        call irr_simd_firr_vec(time, nxtlen, nxtlst, gf, gfd, nearest)
#else
        if (time < 0) stop 2
        call gpuirr_firr_vec(nxtlen, nxtlst, gf, gfd)
#endif
    end subroutine

    ! Bodies as they are predicted for the regular force.
    subroutine predict_all(time)
        double precision, intent(in) :: time
#ifdef DIALECT_NBODY6PP
        integer :: i
        do i = ifirst, ntot
            call predict(i, time, x(1, i), xdot(1, i))
        end do
#else
        call cxvpred(ifirst, ntot, time, t0, x0, x0dot, f, fdot, x, xdot, tpred)
#endif
    end subroutine

    ! Regular forces of up to 1024 bodies, and their lists, which are stored raw from inside a parallel region. Where a list
    ! overflows the sphere shrinks, as in the programs, and the whole block is repeated.
    subroutine regular(ni, ireg, acc, jrk)
        integer, intent(in) :: ni, ireg(*)
        double precision, intent(out) :: acc(3, nimax), jrk(3, nimax)
        double precision :: h2(nimax), dtr(nimax), xi(3, nimax), vi(3, nimax), pot(nimax)
        integer :: l, repeats
        integer, save :: listgp(lmax, nimax)
        do repeats = 1, 100
            do l = 1, ni
                h2(l) = rs(ireg(l))**2
#ifndef DIALECT_NA12
                h2(l) = h2(l)/bodym
#endif
                dtr(l) = stepr(ireg(l))
                xi(:, l) = x(:, ireg(l))
                vi(:, l) = xdot(:, ireg(l))
            end do
#ifdef DIALECT_NBODY6PP
            call gpunb_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nnbmax, listgp, 1)
#else
            call gpunb_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nnbmax, listgp)
#endif
            if (all(listgp(1, 1:ni) >= 0)) exit
            n_overflows = n_overflows + 1
            do l = 1, ni
                if (listgp(1, l) >= 0) cycle
#ifdef DIALECT_NBODY6PP
                rs(ireg(l)) = rs(ireg(l))*(0.5d0*nnbmax/(-listgp(1, l)))**(1d0/3)
#else
                rs(ireg(l)) = 0.9d0*rs(ireg(l))
#endif
            end do
        end do
!$omp parallel do num_threads(4) schedule(dynamic, 3)
        do l = 1, ni
            call take_list(ireg(l), listgp(1, l))
            call set_list(ireg(l), list(1, ireg(l)))
        end do
!$omp end parallel do
    end subroutine

    ! From addresses to numbers of bodies; the body itself is dropped.
    subroutine take_list(i, raw)
        integer, intent(in) :: i, raw(lmax)
        integer :: k, nnb
        nnb = 0
        do k = 2, raw(1) + 1
            if (raw(k) + ifirst == i) cycle
            nnb = nnb + 1
            list(nnb + 1, i) = raw(k) + ifirst
        end do
        list(1, i) = nnb
    end subroutine

    ! The list of body i with faults that the programs make: every seventh has the body itself, as after a pair has
    ! formed, and every fifth a body twice, as after a new chain; in order or at the end.
    subroutine spoil(i, spoilt)
        integer, intent(in) :: i
        integer, intent(out) :: spoilt(lmax)
        integer :: nnb, k
        spoilt = list(:, i)
        nnb = spoilt(1)
        if (mod(i, 7) == 0) then
            k = count(spoilt(2:nnb + 1) < i) + 2
            if (mod(i, 2) == 0) k = nnb + 2
            spoilt(k + 1:nnb + 2) = spoilt(k:nnb + 1)
            spoilt(k) = i
            nnb = nnb + 1
!$omp atomic
            n_itself = n_itself + 1
        end if
        if (mod(i, 5) == 0 .and. list(1, i) > 0) then
            k = 2 + mod(i, list(1, i))
            spoilt(nnb + 2) = list(k, i)
            nnb = nnb + 1
!$omp atomic
            n_twice = n_twice + 1
        end if
        spoilt(1) = nnb
    end subroutine

    ! As after a return from a new or ended pair, or an adjust: everything is sent again.
    subroutine refresh(with_faults)
        logical, intent(in) :: with_faults
        integer :: i, spoilt(lmax)
!$omp parallel do num_threads(4) schedule(dynamic, 3) private(spoilt)
        do i = ifirst, ntot
            call set_jp(i)
            spoilt = list(:, i)
            if (with_faults) call spoil(i, spoilt)
            call set_list(i, spoilt)
        end do
!$omp end parallel do
    end subroutine
end module libraries

program legacy_run
    use checks
    use common_block
    use libraries
    implicit none
    character(20) :: argument
    double precision, save :: gf(3, nmax), gfd(3, nmax), acc(3, nmax), jrk(3, nmax)
    integer, save :: nxtlst(nmax)
    call make_cluster
    call get_command_argument(1, argument)
    if (argument == 'open') then
        call open_libraries
        call close_libraries
        stop
    end if
    call before_opening
    call first_polynomials
    call integrate
    call close_libraries        ! does nothing
    call open_libraries         ! a second run in one program
    call refresh(.false.)
    call small_block(0.0625d0, 'opened again')
    call close_libraries
    if (argument /= 'run') call what_it_says
    print '(a,i0)', '1..', done
    if (failed > 0) stop 1
contains
    ! At t = 0 NBODY6++GPU asks for profiles, and both programs for the potential.
    subroutine before_opening
        double precision :: pot(nmax), p, worst
        integer :: i, j, nn
        call ask_for_profiles
        call close_libraries
        nn = ntot - ifirst + 1
#ifdef DIALECT_NBODY6PP
        call gpunb_devinit(0)
        call gpupot(0, 1, nn, nn, body(ifirst), x(1, ifirst), pot)
#else
        call gpupot(nn, body(ifirst), x(1, ifirst), pot)
#endif
        worst = 0
        do i = 1, nn, 97
            p = 0
            do j = 1, nn
                if (j /= i) p = p + body(ifirst + j - 1)/norm2(x(:, ifirst + j - 1) - x(:, ifirst + i - 1))
            end do
            worst = max(worst, abs(pot(i) - p)/p)
        end do
        call check(worst < 1d-10, 'the potential before the library is open')
    end subroutine

    ! FPOLY0: forces without any prediction; the libraries are closed behind it.
    subroutine first_polynomials
        integer :: i
        call open_libraries
        nxtlst(1:ntot - ifirst + 1) = [(i, i=ifirst, ntot)]
!$omp parallel do num_threads(4)
        do i = ifirst, ntot
            call set_jp(i)
        end do
!$omp end parallel do
        call gpunb_send(ntot - ifirst + 1, body(ifirst), x(1, ifirst), xdot(1, ifirst))
        call announce(.true., 1, nxtlst, 0d0)
        call regular_block(ntot - ifirst + 1, 0d0, 'first polynomials')
        call check(n_overflows > 0, 'lists overflowed, and the block was repeated')
        call close_libraries
        f(:, ifirst:ntot) = (acc(:, 1:ntot - ifirst + 1) + gf(:, 1:ntot - ifirst + 1))/2
        fdot(:, ifirst:ntot) = (jrk(:, 1:ntot - ifirst + 1) + gfd(:, 1:ntot - ifirst + 1))/6
    end subroutine

    ! Regular forces in chunks and irregular ones with the new lists: together they are those of all bodies, whatever the
    ! lists. Bounds: two-float positions and float arithmetic, as the legacy libraries promise.
    subroutine regular_block(nxtlen, time, what)
        integer, intent(in) :: nxtlen
        double precision, intent(in) :: time
        character(*), intent(in) :: what
        integer :: first, ni
        double precision :: worst(2)
        do first = 1, nxtlen, nimax
            ni = min(nimax, nxtlen - first + 1)
            call regular(ni, nxtlst(first), acc(1, first), jrk(1, first))
            call irregular(ni, nxtlst(first), time, gf(1, first), gfd(1, first))
        end do
        call differences(nxtlen, nxtlst, 7, .true., time, acc(:, 1:nxtlen) + gf(:, 1:nxtlen), &
            jrk(:, 1:nxtlen) + gfd(:, 1:nxtlen), worst)
        call check(worst(1) < 2d-6, what//': accelerations by all bodies')
        call check(worst(2) < 1d-5, what//': jerks by all bodies')
        call check(any(list(1, nxtlst(1:nxtlen)) > 20), what//': there are lists')
    end subroutine

    ! A block of irregular steps, of which a third moves to the end of its step.
    subroutine small_block(time, what)
        double precision, intent(in) :: time
        character(*), intent(in) :: what
        integer :: i, l, nxtlen
        double precision :: worst(2), xp(3), vp(3)
        nxtlen = 60
        nxtlst(1:nxtlen) = [(ntot + 1 - 43*l, l=1, nxtlen)]
        nxtlst(1) = ntot
        call announce(.false., nxtlen, nxtlst, time)
        call irregular(nxtlen, nxtlst, time, gf, gfd)
        call differences(nxtlen, nxtlst, 1, .false., time, gf, gfd, worst)
        call check(worst(1) < 2d-6, what//': irregular accelerations')
        call check(worst(2) < 1d-5, what//': irregular jerks')
!$omp parallel do num_threads(4) private(i, xp, vp)
        do l = 1, nxtlen, 3
            i = nxtlst(l)
            call predict(i, time, xp, vp)
            x0(:, i) = xp
            x0dot(:, i) = vp
            t0(i) = time
            call set_jp(i)
        end do
!$omp end parallel do
    end subroutine

    ! A block of all bodies: all steps end.
    subroutine large_block(time, what)
        double precision, intent(in) :: time
        character(*), intent(in) :: what
        integer :: i, nxtlen
        double precision :: worst(2)
        nxtlen = ntot - ifirst + 1
        nxtlst(1:nxtlen) = [(i, i=ifirst, ntot)]
        call announce(.true., nxtlen, nxtlst, time)
        call irregular(nxtlen, nxtlst, time, gf, gfd)
        call differences(nxtlen, nxtlst, 7, .false., time, gf, gfd, worst)
        call check(worst(1) < 2d-6, what//': irregular accelerations')
        call check(worst(2) < 1d-5, what//': irregular jerks')
        call predict_all(time)
        call gpunb_send(nxtlen, body(ifirst), x(1, ifirst), xdot(1, ifirst))
        call regular_block(nxtlen, time, what)
        do i = ifirst, ntot, 9     ! lists that are corrected are sent once more
            list(1, i) = max(list(1, i) - 1, 0)
            call set_list(i, list(1, i))
        end do
        x0(:, ifirst:ntot) = x(:, ifirst:ntot)
        x0dot(:, ifirst:ntot) = xdot(:, ifirst:ntot)
        t0(ifirst:ntot) = time
!$omp parallel do num_threads(4)
        do i = ifirst, ntot
            call set_jp(i)
        end do
!$omp end parallel do
    end subroutine

    ! The first two singles become a pair: its centre of mass is a new last body, and takes their place in lists.
    subroutine new_pair
        integer :: i, j, l, k, nnb
        i = ifirst
        j = ifirst + 1
        npairs = npairs + 1
        ifirst = ifirst + 2
        ntot = ntot + 1
        body(ntot) = body(i) + body(j)
        x0(:, ntot) = (body(i)*x0(:, i) + body(j)*x0(:, j))/body(ntot)
        x0dot(:, ntot) = (body(i)*x0dot(:, i) + body(j)*x0dot(:, j))/body(ntot)
        f(:, ntot) = 0
        fdot(:, ntot) = 0
        t0(ntot) = t0(i)
        tpred(ntot) = -1
        list(:, ntot) = list(:, ntot - 1)
        do l = ifirst, ntot
            nnb = 0
            do k = 2, list(1, l) + 1
                if (list(k, l) == i .or. list(k, l) == j .or. list(k, l) == l) cycle
                nnb = nnb + 1
                list(nnb + 1, l) = list(k, l)
            end do
            if (nnb < list(1, l) .and. l /= ntot) then
                nnb = nnb + 1
                list(nnb + 1, l) = ntot
            end if
            list(1, l) = nnb
        end do
    end subroutine

    ! INTGRT: the libraries are opened again, all is sent, and blocks follow. KSPERT and the clock are asked in between.
    subroutine integrate
        call open_libraries
        call refresh(.true.)
        call small_block(0.0078125d0, 'small block')
        call large_block(0.015625d0, 'large block')
        call stress
        call ask_the_host
        call new_pair
        call refresh(.true.)
        call small_block(0.0234375d0, 'a new pair')
        call large_block(0.03125d0, 'block with a new pair')
        call ask_for_profiles
        call close_libraries
    end subroutine

    ! Lists of all lengths come from four threads again and again, memory included; then all are what they were.
    subroutine stress
        integer :: i, round
        double precision :: before(3, nmax), before_d(3, nmax)
        integer :: part(lmax)
        nxtlst(1:ntot - ifirst + 1) = [(i, i=ifirst, ntot)]
        call announce(.true., ntot - ifirst + 1, nxtlst, t0(ifirst))
        call irregular(ntot - ifirst + 1, nxtlst, t0(ifirst), before, before_d)
!$omp parallel num_threads(4) private(round, part)
        do round = 1, 40
!$omp do schedule(dynamic, 1)
            do i = ifirst, ntot
                part = list(:, i)
                part(1) = part(1)*mod(i + 3*round, 7)/6
                call set_list(i, part)
                call set_jp(i)
            end do
!$omp end do
        end do
!$omp do schedule(dynamic, 1)
        do i = ifirst, ntot
            call set_list(i, list(1, i))
        end do
!$omp end do
!$omp end parallel
        call announce(.true., ntot - ifirst + 1, nxtlst, t0(ifirst))
        call irregular(ntot - ifirst + 1, nxtlst, t0(ifirst), gf, gfd)
        i = ntot - ifirst + 1
        call check(all(abs(gf(:, 1:i) - before(:, 1:i)) <= 0) .and. all(abs(gfd(:, 1:i) - before_d(:, 1:i)) <= 0), &
            'lists from several threads, again and again: the same bits')
    end subroutine

    ! Perturbers of the first pair, and the wall clock.
    subroutine ask_the_host
#ifndef DIALECT_NBODY6PP
        double precision :: fp(3), fd(3), fe(3), fde(3), scales(2)
        integer :: k, h, m, s
        fe = 0
        fde = 0
        scales = 0
        do k = 1, 2
            call predict(k, t0(k), x(1, k), xdot(1, k))
        end do
        t0(1) = t0(ifirst)
        x0(:, 1) = x(:, 1)
        x0dot(:, 1) = xdot(:, 1)
        do k = 2, list(1, ifirst) + 1
            call add_pair(1, list(k, ifirst), t0(ifirst), fe, fde, scales)
        end do
        call cnbint(1, x, xdot, body, list(1, ifirst) + 1, list(2, ifirst), fp, fd)
        ! A hundred additions in double.
        call check(norm2(fp - fe) <= 1d-12*scales(1) .and. norm2(fd - fde) <= 1d-12*scales(2), 'perturbers of a pair')
        call wtime(h, m, s)
        call check(h >= 0 .and. m >= 0 .and. s >= 0, 'the wall clock')
#endif
    end subroutine

    ! On standard error: a line of each library at the first open, one that counts what was mended, profiles that were asked
    ! for while the libraries were open, and nothing else.
    subroutine what_it_says
        character(4096) :: program, line
        character(200) :: mended
        integer :: unit, status, n_lines(4)
        call get_command_argument(0, program)
        call execute_command_line(trim(program)//' run > /dev/null 2> '//trim(program)//'.stderr', exitstat=status)
        call check(status == 0, 'it runs')
        write (mended, '(a,i0,a,i0,a)') 'gpuirr: lists were mended: ', n_itself, ' times the body itself was left out, ', &
            n_twice, ' times a second entry'
        n_lines = 0
        open (newunit=unit, file=trim(program)//'.stderr', action='read')
        do
            read (unit, '(a)', iostat=status) line
            if (status /= 0) exit
            if (index(line, 'libgp') == 1 .and. index(line, ': backend ') > 0) then
                n_lines(1) = n_lines(1) + 1
            else if (line == mended) then
                n_lines(2) = n_lines(2) + 1
            else if (index(line, ' rank 0: ') > 0) then
                n_lines(3) = n_lines(3) + 1
            else
                n_lines(4) = n_lines(4) + 1
                print '(2a)', '# ', trim(line)
            end if
        end do
        close (unit, status='delete')
        call check(n_lines(1) == 2, 'a line of each library at its first open')
        call check(n_itself > 500 .and. n_twice > 500 .and. n_lines(2) == 1, trim(mended))
#ifdef DIALECT_NBODY6PP
        call check(n_lines(3) == 2, 'profiles when the libraries are open')
#endif
        call check(n_lines(4) == 0, 'nothing else is said')
    end subroutine
end program legacy_run
