!> Fortran interfaces of GPUNB's legacy calls; fortran/legacy.h says what each does. They are not in gpunb.f90 since a
!! program unit may not see a C function and a Fortran subroutine of the same name (gpunb_send, gpunb_regf).
!!
!! gpunb_legacy        the calls of NBODY6: link gpunb (NA12) or gpunb_nbody6
!! gpunb_legacy_pp     the calls of NBODY6++GPU: link gpunb_nbody6pp
module gpunb_legacy
    implicit none
    public

    interface
        subroutine gpunb_open(nbmax)
            integer, intent(in) :: nbmax
        end subroutine

        subroutine gpunb_close()
        end subroutine

        subroutine gpunb_send(nj, mj, xj, vj)
            integer, intent(in) :: nj
            double precision, intent(in) :: mj(*), xj(3, *), vj(3, *)
        end subroutine

        subroutine gpunb_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nbmax, list)
            integer, intent(in) :: ni, lmax, nbmax
            double precision, intent(in) :: h2(*), dtr(*), xi(3, *), vi(3, *)
            double precision, intent(inout) :: acc(3, *), jrk(3, *), pot(*)
            integer, intent(inout) :: list(lmax, *)
        end subroutine

        subroutine gpupot(n, m, x, pot)
            integer, intent(in) :: n
            double precision, intent(in) :: m(*), x(3, *)
            double precision, intent(inout) :: pot(*)
        end subroutine

        subroutine cxvpred(js, je, time, t0, x0, x0dot, f, fdot, x, xdot, tpred)
            integer, intent(in) :: js, je
            double precision, intent(in) :: time, t0(*), x0(3, *), x0dot(3, *), f(3, *), fdot(3, *)
            double precision, intent(inout) :: x(3, *), xdot(3, *), tpred(*)
        end subroutine

        subroutine cnbint(i, pos, vel, mass, nnb, nblist, f, fdot)
            integer, intent(in) :: i, nnb, nblist(*)
            double precision, intent(in) :: pos(3, *), vel(3, *), mass(*)
            double precision, intent(inout) :: f(3), fdot(3)
        end subroutine

        subroutine wtime(ihour, imin, isec)
            integer, intent(out) :: ihour, imin, isec
        end subroutine

        function dbltim()
            double precision :: dbltim
        end function
    end interface
end module gpunb_legacy

module gpunb_legacy_pp
    implicit none
    public

    interface
        subroutine gpunb_devinit(rank)
            integer, intent(in) :: rank
        end subroutine

        subroutine gpunb_open(nbmax, rank)
            integer, intent(in) :: nbmax, rank
        end subroutine

        subroutine gpunb_close()
        end subroutine

        subroutine gpunb_send(nj, mj, xj, vj)
            integer, intent(in) :: nj
            double precision, intent(in) :: mj(*), xj(3, *), vj(3, *)
        end subroutine

        subroutine gpunb_regf(ni, h2, dtr, xi, vi, acc, jrk, pot, lmax, nbmax, list, m_flag)
            integer, intent(in) :: ni, lmax, nbmax, m_flag
            double precision, intent(in) :: h2(*), dtr(*), xi(3, *), vi(3, *)
            double precision, intent(inout) :: acc(3, *), jrk(3, *), pot(*)
            integer, intent(inout) :: list(lmax, *)
        end subroutine

        subroutine gpunb_profile(rank)
            integer, intent(in) :: rank
        end subroutine

        subroutine gpupot(rank, istart, ni, n, m, x, pot)
            integer, intent(in) :: rank, istart, ni, n
            double precision, intent(in) :: m(*), x(3, *)
            double precision, intent(inout) :: pot(*)
        end subroutine
    end interface
end module gpunb_legacy_pp
